import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/core';
import { errors, Provider } from 'oidc-provider';
import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider';
import { auditEntry, recordAudit } from '#platform/audit/record-audit.ts';
import { query } from '#platform/database/query.ts';
import { transaction } from '#platform/database/transaction.ts';
import { currentCall } from './current-call.ts';
import { revokeGrant } from './grants.ts';

/** Where oidc-provider keeps its things. A model is what it calls the kind of a thing: `RefreshToken`, `Grant`, `Client` … */
export const recordsOf: AdapterFactory = (model) => (model === 'Session' ? noSession : records(model));

/** Every authorization is signed for anew: nobody stays signed in at these pages, so there is nothing to steal or to sign out of. */
const noSession: Adapter = {
  upsert: async () => {},
  find: async () => undefined,
  findByUid: async () => undefined,
  findByUserCode: async () => undefined,
  consume: async () => {},
  destroy: async () => {},
  revokeByGrantId: async () => {},
};

const records = (model: string): Adapter => {
  const keyOf = (id: string): string => (model === 'Client' || model === 'Grant' ? id : digestOf(id));
  return {
    upsert: (id, payload, expiresInSeconds) => {
      const saved = { model, key: keyOf(id), payload, expiresInSeconds };
      return model === 'Client' ? register(saved) : save(currentCall().em, saved);
    },
    find: async (id) => {
      // No text of PostgreSQL holds a NUL.
      if (id.includes('\0')) return undefined;
      const { em, clock } = currentCall();
      const [row] = await query<{ payload: AdapterPayload; consumed_at: Date | null }>(em, findRecord, [model, keyOf(id), clock.now()]);
      return row && { ...row.payload, ...(model !== 'Client' && { jti: id }), ...(row.consumed_at && { consumed: true }) };
    },
    consume: (id) => consume(model, keyOf(id)),
    destroy: async (id) => {
      const { em } = currentCall();
      // The library ends a grant where the client asks for it, and wherever a code or a refresh token was used before.
      if (model === 'Grant') await transaction(em, (own) => revokeGrant(own, id, Provider.ctx?.oidc.route === 'revocation' ? 'revokeOauthGrant' : 'reuseOauthToken'));
      else await query(em, 'delete from identity.oauth_record where model = $1 and id = $2', [model, keyOf(id)]);
    },
    revokeByGrantId: async (grantId) => {
      await query(currentCall().em, 'delete from identity.oauth_record where model = $1 and grant_id = $2', [model, grantId]);
    },
    // Of sessions, which are not kept, and of devices, which have no flow here.
    findByUid: async () => undefined,
    findByUserCode: async () => undefined,
  };
};

interface Saved {
  readonly model: string;
  readonly key: string;
  readonly payload: AdapterPayload;
  readonly expiresInSeconds: number | undefined;
}

/** Of a secret its digest. A grant lives as long as the youngest of what comes from it: an access token at the end of its refresh token included. */
async function save(em: EntityManager, { model, key, payload: { jti: _jti, ...payload }, expiresInSeconds }: Saved): Promise<void> {
  const { clock, config } = currentCall();
  const kept = { ...payload, ...(payload.client_secret !== undefined && { client_secret: digestOf(payload.client_secret) }) };
  const after = (seconds: number): Date => new Date(clock.now().getTime() + seconds * 1000);
  await query(em, saveRecord, [model, key, payload.grantId ?? null, JSON.stringify(kept), expiresInSeconds === undefined ? null : after(expiresInSeconds)]);
  if (payload.grantId !== undefined && expiresInSeconds !== undefined) {
    await query(em, extendGrant, [payload.grantId, after(expiresInSeconds + config.oauthAccessTtlSeconds)]);
  }
}

function register(client: Saved): Promise<void> {
  const ctx = currentCall();
  return transaction(ctx.em, async (em) => {
    await save(em, client);
    await recordAudit(em, [auditEntry(ctx, { operation: 'registerOauthClient', subjectIds: [client.key] })], ctx.clock.now());
  });
}

/**
 * oidc-provider looks whether a code or a refresh token was used before, then marks it. Of two that come at once, both find it
 * unused; the one that marks it second is the thief or the robbed, nobody knows which, so the grant ends (RFC 9700, 4.14.2).
 */
async function consume(model: string, key: string): Promise<void> {
  const { em, clock } = currentCall();
  const [row] = await query<{ grant_id: string; is_first: boolean }>(em, consumeRecord, [model, key, clock.now()]);
  if (row?.is_first) return;
  if (row) await transaction(em, (own) => revokeGrant(own, row.grant_id, 'reuseOauthToken'));
  throw new errors.InvalidGrant({ detail: 'used twice at the same time' });
}

export const digestOf = (id: string): string => createHash('sha256').update(id).digest('base64url');

const findRecord = `
  select payload, consumed_at from identity.oauth_record where model = $1 and id = $2 and (expires_at is null or expires_at > $3)`;

const saveRecord = `
  insert into identity.oauth_record (model, id, grant_id, payload, expires_at) values ($1, $2, $3, $4, $5)
  on conflict (model, id) do update set payload = excluded.payload, expires_at = excluded.expires_at`;

const extendGrant = `
  update identity.oauth_record set expires_at = greatest(expires_at, $2) where model = 'Grant' and id = $1`;

const consumeRecord = `
  with used as (update identity.oauth_record set consumed_at = $3 where model = $1 and id = $2 and consumed_at is null returning id)
  select grant_id, exists (select from used) as is_first from identity.oauth_record where model = $1 and id = $2`;
