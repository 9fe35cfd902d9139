export enum WebhookState {
  ENABLED = 'enabled',
  DISABLED = 'disabled',
}

/** What a webhook hears of: everything of the organization, or what happens in one vault or workspace. */
export enum WebhookScope {
  ORGANIZATION = 'organization',
  VAULT = 'vault',
  WORKSPACE = 'workspace',
}

export enum DisabledReason {
  /** Somebody who manages it did so. */
  OWNER = 'owner',
  /** The receiver answered 410. */
  GONE = 'gone',
  /** Nothing but failures for WEBHOOK_DISABLE_SECONDS. */
  FAILING = 'failing',
}

/** Pending until it is delivered or the schedule is used up; pending again when somebody wants it delivered once more. */
export enum DeliveryState {
  PENDING = 'pending',
  DELIVERED = 'delivered',
  FAILED = 'failed',
}

/** A webhook as whoever manages it sees it: plain data, so that a receipt can hold it. */
export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly description: string | null;
  readonly events: readonly string[];
  readonly scope: WebhookScope;
  readonly state: WebhookState;
  readonly disabledReason: DisabledReason | null;
  readonly failingSince: string | null;
  readonly createdAt: string;
}

export interface Delivery {
  readonly id: string;
  /** The `webhook-id` header. */
  readonly messageId: string;
  readonly type: string;
  readonly state: DeliveryState;
  /** Since it was last asked for. */
  readonly attempts: number;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly responseMs: number | null;
  readonly createdAt: string;
  readonly nextAttemptAt: string | null;
  readonly deliveredAt: string | null;
}
