import type { Context } from '../context.ts';

/** A recorded event on its way to webhooks. */
export interface RecordedEvent {
  readonly id: number;
  readonly type: string;
  readonly organizationId: string;
  readonly vaultId: string | null;
  readonly workspaceId: string | null;
  readonly subjectIds: readonly string[];
  readonly createdAt: Date;
}

/**
 * How a slice shows what its events are about: for each event, each subject as its GET shows it over REST, in the same
 * order. It looks only where the event says that it happened, so that no subject of another tenant is ever seen; a subject
 * that is gone is `{ id, deleted_at }`. However many there are, it asks the database a fixed number of times.
 */
export interface EventRenderer<Ports = unknown> {
  readonly types: readonly string[];
  render(ctx: Context<Ports>, events: readonly RecordedEvent[]): Promise<readonly (readonly object[])[]>;
}
