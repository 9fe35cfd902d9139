import type { Principal } from '#platform/principal.ts';

/** Who a credential belongs to, and until when it counts. */
export interface Known {
  readonly principal: Principal;
  readonly expiresAt: Date | null;
}

/** One kind of credential: told by its form, looked up in the database. */
export interface CredentialStrategy {
  matches(token: string): boolean;
  /** Undefined for what is unknown or revoked. */
  lookUp(token: string): Promise<Known | undefined>;
  /**
   * Whether an answer may be used again for a few seconds: what changes is notified, but on another connection than the answer
   * travels by. A credential that must follow its own changes at once (a session that just stepped up) is looked up every time.
   */
  readonly isCached: boolean;
}
