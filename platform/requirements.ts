import type { Clock } from './clock.ts';
import { DomainError } from './errors.ts';
import type { Principal } from './principal.ts';
import { includes, isArchitect, isGranted, workspacesWith } from './principal.ts';
import type { Level, Scope } from './principal.ts';

/**
 * The words an operation can require. Permission belongs to the operation: REST, GraphQL, sockets and jobs all pass it.
 * Each returns the refusal, or null.
 */
export const requirements = {
  public: () => null,
  authenticated: () => null,
  vaultRead: (principal: Principal) => lacks(principal, 'read'),
  vaultWrite: (principal: Principal) => lacks(principal, 'write'),
  /** An admin key, a workspace Admin or Owner, or an Architect. Keys and webhooks outlive an OAuth token, so no scope reaches them. */
  vaultAdmin: (principal: Principal) => unscoped(principal) ?? (isArchitect(principal) ? null : lacks(principal, 'admin')),
  /** An Architect or an admin key. */
  organizationAdmin: (principal: Principal) =>
    unscoped(principal) ??
    (isArchitect(principal) || (principal.kind === 'api_key' && workspacesWith(principal, 'admin').length > 0)
      ? null
      : denied('This needs the role Architect or Sovereign in the organization, or an admin key.')),
  /** The session of an Architect or a Sovereign. */
  architect: (principal: Principal) => unscoped(principal) ?? lacksRole(principal),
  /** A user's own session: what concerns signing in is never delegated. */
  session: (principal: Principal) => (principal.kind === 'session' ? null : denied('This needs a session token: sign in with POST /auth/sessions.')),
  /** An Architect or a Sovereign, for the installs of the organization. */
  marketplaceManager: (principal: Principal) => lacksScope(principal, 'marketplace.manage') ?? lacksRole(principal),
  /** Any user, for their own learning. */
  learner: (principal: Principal) =>
    principal.userId === null || principal.kind === 'publisher' ? denied('Learning belongs to a person: this needs a signed-in user.') : lacksScope(principal, 'learn'),
  /** A signed-in Architect, Sovereign, workspace Admin or Owner who gave a fresh code (decisions 3). */
  growthAdmin: (principal: Principal, clock: Clock) => {
    if (principal.kind !== 'session' && principal.kind !== 'oauth') return denied('Growth tracks need a signed-in user; an API key does not reach them.');
    if (!isGranted(principal, 'growth')) return lacksScope(principal, 'growth');
    // An OAuth token has the scope only while its user has such a role.
    if (principal.kind !== 'oauth' && !isArchitect(principal) && workspacesWith(principal, 'admin').length === 0) {
      return denied('Growth tracks need the role Architect or Sovereign in the organization, or Owner or Admin in a workspace.');
    }
    if ((principal.steppedUpUntilMs ?? 0) > clock.now().getTime()) return null;
    return new DomainError('totp_required', 'This needs a fresh code from your authenticator: send it to POST /auth/sessions/totp as { "code": "…" }.');
  },
} satisfies Record<string, (principal: Principal, clock: Clock) => DomainError | null>;

export type Requirement = keyof typeof requirements;

const denied = (message: string): DomainError => new DomainError('permission_denied', message);

const lacksRole = (principal: Principal): DomainError | null =>
  isArchitect(principal) ? null : denied('This needs the role Architect or Sovereign in the organization.');

const lacksScope = (principal: Principal, scope: Scope): DomainError | null =>
  isGranted(principal, scope) ? null : denied(`The token was not granted the scope ${scope}.`);

const unscoped = (principal: Principal): DomainError | null => (principal.scopes === null ? null : denied('An OAuth token does not reach this, whatever its scopes.'));

function lacks(principal: Principal, level: Level): DomainError | null {
  return workspacesWith(principal, level).length > 0 ? null : denied(`This needs ${level} permission; the credential has less.`);
}

export function authorize(requirement: Requirement, principal: Principal | null, clock: Clock): void {
  if (requirement === 'public') return;
  if (principal === null) {
    throw new DomainError('unauthenticated', 'This needs a credential: send it as Authorization: Bearer <key>.');
  }
  const refusal = requirements[requirement](principal, clock);
  if (refusal !== null) throw refusal;
}

/**
 * The one place that turns a request's workspace into a scope: the named one or the principal's own.
 * Out of reach is 403 (decisions 8), like too low a level there.
 */
export function workspaceScope(principal: Principal, named: string | null | undefined, level: Level): string {
  const workspaceId = named ?? principal.workspaceId;
  const held = principal.access[workspaceId];
  if (held === undefined) throw denied(`The credential does not reach workspace '${workspaceId.slice(0, 100)}'.`);
  if (!includes(held, level)) throw denied(`This needs ${level} permission in workspace '${workspaceId}'.`);
  return workspaceId;
}
