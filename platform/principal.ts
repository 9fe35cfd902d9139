/** What a credential may do in a workspace; each includes the one before. */
export const levels = ['read', 'write', 'admin'] as const;
export type Level = (typeof levels)[number];

export type OrganizationRole = 'architect' | 'sovereign';

/** What an OAuth client can be allowed to do for a user (decisions 3). */
export const scopes = ['memory.read', 'memory.write', 'marketplace.manage', 'learn', 'learn.manage', 'growth'] as const;
export type Scope = (typeof scopes)[number];

/** The organization's plan sets its rate limits. */
export const plans = ['free', 'pro', 'team', 'business', 'enterprise', 'sovereign'] as const;
export type Plan = (typeof plans)[number];

/**
 * Who is asking. Made by the gateway from a credential, handed to subgraphs (signed when they are remote), never rebuilt by them.
 * `access` is everything it can reach: workspace id → level. An API key reaches its own workspace, an admin key every
 * workspace of its vault, a user those where they have a role, as far as the scopes of an OAuth token allow.
 */
export interface Principal {
  readonly kind: 'api_key' | 'session' | 'oauth' | 'publisher';
  readonly credentialId: string;
  /** Null for API keys: they act for a workspace, not for a person. */
  readonly userId: string | null;
  readonly publisherId: string | null;
  readonly organizationId: string;
  readonly plan: Plan;
  readonly organizationRole: OrganizationRole | null;
  readonly vaultId: string;
  /** Where it works when the request names no workspace. */
  readonly workspaceId: string;
  readonly access: Readonly<Record<string, Level>>;
  /** Of an OAuth token; null: the credential is not limited to scopes. */
  readonly scopes: readonly Scope[] | null;
  /** An API key with rate limits of its own. */
  readonly isServiceAccount: boolean;
  /** Until when a code from the user's authenticator counts, in ms since 1970 (a principal travels as JSON); null: none was given. */
  readonly steppedUpUntilMs: number | null;
}

/** Whether the credential was allowed this; all but OAuth tokens are. */
export const isGranted = (principal: Principal, scope: Scope): boolean => principal.scopes === null || principal.scopes.includes(scope);

/** "Architect or higher": every organization role includes it. */
export const isArchitect = (principal: Principal): boolean => principal.organizationRole !== null;

export const includes = (held: Level, asked: Level): boolean => levels.indexOf(held) >= levels.indexOf(asked);

/** The workspaces in which the principal holds at least this level. */
export const workspacesWith = (principal: Principal, level: Level): string[] =>
  Object.keys(principal.access).filter((id) => includes(principal.access[id]!, level));
