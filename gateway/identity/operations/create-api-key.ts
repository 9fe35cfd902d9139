import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { query } from '#platform/database/query.ts';
import { DomainError } from '#platform/errors.ts';
import { newId } from '#platform/ids.ts';
import { command } from '#platform/operation.ts';
import type { Principal } from '#platform/principal.ts';
import { workspacesWith } from '#platform/principal.ts';
import { workspaceScope } from '#platform/requirements.ts';
import { digestOf, newToken, prefixOf } from '../tokens.ts';
import { ApiKeyLevel } from '../entities/api-key.ts';

/** What creation answers: the only time that the key itself is seen. */
export interface ApiKeyReceipt {
  readonly id: string;
  readonly name: string;
  readonly level: ApiKeyLevel;
  readonly workspaceId: string;
  readonly serviceAccount: boolean;
  readonly prefix: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly key: string;
}

export const createApiKey = command({
  name: 'createApiKey',
  requires: 'vaultAdmin',
  input: z.strictObject({
    name: z.string().trim().min(1, 'must not be blank').max(200),
    level: z.enum(ApiKeyLevel),
    workspaceId: z.string().nullish(),
    serviceAccount: z.boolean().nullish(),
    expiresAt: z.date().nullish(),
  }),
  run: async (ctx: Context, input): Promise<ApiKeyReceipt> => {
    const principal = ctx.principal!;
    const now = ctx.clock.now();
    const workspaceId = principal.organizationRole === null ? workspaceScope(principal, input.workspaceId, 'admin') : (input.workspaceId ?? principal.workspaceId);
    const [workspace] = await query<{ vault_id: string; vault_workspaces: string[] }>(ctx.em, workspaceOfOrganization, [workspaceId, principal.organizationId]);
    if (!workspace) throw new DomainError('permission_denied', `The credential does not reach workspace '${workspaceId.slice(0, 100)}'.`);
    refuseEscalation(principal, input.level, workspace.vault_workspaces);

    const token = newToken('qk');
    const row = {
      id: newId('apiKey'),
      workspaceId,
      name: input.name,
      level: input.level,
      serviceAccount: input.serviceAccount ?? false,
      prefix: prefixOf(token),
      createdAt: now.toISOString(),
      expiresAt: input.expiresAt?.toISOString() ?? null,
    };
    await query(ctx.em, insertApiKey, [
      row.id, principal.organizationId, workspace.vault_id, workspaceId, row.name, row.level, row.serviceAccount, row.prefix,
      digestOf(token), principal.userId ?? principal.credentialId, now, input.expiresAt ?? null,
    ]);
    return { ...row, key: token };
  },
});

/** An admin key reaches every workspace of its vault: only who is admin in all of them may make one. */
function refuseEscalation(principal: Principal, level: ApiKeyLevel, vaultWorkspaces: readonly string[]): void {
  const held = new Set(workspacesWith(principal, 'admin'));
  if (level === ApiKeyLevel.ADMIN && principal.organizationRole === null && !vaultWorkspaces.every((id) => held.has(id))) {
    throw new DomainError('permission_denied', 'An admin key reaches every workspace of the vault; you are not admin in all of them.');
  }
}

const workspaceOfOrganization = `
  select vault_id, array(select other.id from identity.workspace other where other.vault_id = workspace.vault_id) as vault_workspaces
    from identity.workspace where id = $1 and organization_id = $2`;

export const insertApiKey = `
  insert into identity.api_key (id, organization_id, vault_id, workspace_id, name, level, service_account, prefix, digest, created_by, created_at, expires_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`;
