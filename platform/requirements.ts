import { DomainError } from './errors.ts';
import type { Principal } from './principal.ts';
import { includes, workspacesWith } from './principal.ts';
import type { Level } from './principal.ts';

/**
 * The words an operation can require. Permission belongs to the operation: REST, GraphQL, sockets and jobs all pass it.
 * Each returns why the principal is refused, or null.
 */
export const requirements = {
  public: () => null,
  authenticated: () => null,
  vaultRead: (principal: Principal) => lacks(principal, 'read'),
  vaultWrite: (principal: Principal) => lacks(principal, 'write'),
  /** An admin key, a workspace Admin or Owner, or an Architect. */
  vaultAdmin: (principal: Principal) => (isArchitect(principal) ? null : lacks(principal, 'admin')),
} satisfies Record<string, (principal: Principal) => string | null>;

export type Requirement = keyof typeof requirements;

const isArchitect = (principal: Principal): boolean => principal.organizationRole !== null;

function lacks(principal: Principal, level: Level): string | null {
  return workspacesWith(principal, level).length > 0 ? null : `This needs ${level} permission; the credential has less.`;
}

export function authorize(requirement: Requirement, principal: Principal | null): void {
  if (requirement === 'public') return;
  if (principal === null) {
    throw new DomainError('unauthenticated', 'This needs a credential: send it as Authorization: Bearer <key>.');
  }
  const refusal = requirements[requirement](principal);
  if (refusal !== null) throw new DomainError('permission_denied', refusal);
}

/**
 * The one place that turns a request's workspace into a scope: the named one or the principal's own.
 * Out of reach is 403 (decisions 8), like too low a level there.
 */
export function workspaceScope(principal: Principal, named: string | null | undefined, level: Level): string {
  const workspaceId = named ?? principal.workspaceId;
  const held = principal.access[workspaceId];
  if (held === undefined) throw new DomainError('permission_denied', `The credential does not reach workspace '${workspaceId.slice(0, 100)}'.`);
  if (!includes(held, level)) throw new DomainError('permission_denied', `This needs ${level} permission in workspace '${workspaceId}'.`);
  return workspaceId;
}
