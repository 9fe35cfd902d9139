/** What a credential may do in a workspace; each includes the one before. */
export const levels = ['read', 'write', 'admin'] as const;
export type Level = (typeof levels)[number];

export type OrganizationRole = 'architect' | 'sovereign';

/**
 * Who is asking. Made by the gateway from a credential, handed to subgraphs (signed when they are remote), never rebuilt by them.
 * `access` is everything it can reach: workspace id → level. An API key reaches its own workspace, an admin key every
 * workspace of its vault, a user those where they have a role.
 */
export interface Principal {
  readonly kind: 'api_key' | 'user';
  readonly credentialId: string;
  readonly userId: string | null;
  readonly organizationId: string;
  readonly organizationRole: OrganizationRole | null;
  readonly vaultId: string;
  /** Where it works when the request names no workspace. */
  readonly workspaceId: string;
  readonly access: Readonly<Record<string, Level>>;
  /** Until when a code from the user's authenticator counts, in ms since 1970 (a principal travels as JSON); null: none was given. */
  readonly steppedUpUntilMs: number | null;
}

/** "Architect or higher": every organization role includes it. */
export const isArchitect = (principal: Principal): boolean => principal.organizationRole !== null;

export const includes = (held: Level, asked: Level): boolean => levels.indexOf(held) >= levels.indexOf(asked);

/** The workspaces in which the principal holds at least this level. */
export const workspacesWith = (principal: Principal, level: Level): string[] =>
  Object.keys(principal.access).filter((id) => includes(principal.access[id]!, level));
