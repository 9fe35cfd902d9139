import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/core';
import { query } from './database/query.ts';
import type { ErrorCode } from './errors.ts';
import { DomainError, isKept } from './errors.ts';
import { seal, unseal } from './secrets.ts';

/** A caller's promise that equal keys mean one request. `fingerprint` is a digest of method, path and body. */
export interface IdempotencyKey {
  readonly key: string;
  readonly fingerprint: string;
}

/** What happened the first time: the operation's value, or the refusal it decided on. */
type Receipt = { value: unknown } | { error: { code: ErrorCode; message: string; fields: Record<string, unknown> } };

/** Digest of what a request asks, for telling a repeat from another request under the same key. */
export const fingerprint = (request: unknown): string => createHash('sha256').update(JSON.stringify(request)).digest('hex');

export interface Claim extends IdempotencyKey {
  readonly organizationId: string;
}

/** Keys are kept as digests: the receipt is encrypted under the key itself, which the database must not reveal. */
const digest = ({ organizationId, key }: Pick<Claim, 'organizationId' | 'key'>): Buffer => createHash('sha256').update(`${organizationId}\n${key}`).digest();

/**
 * Looks the claims up, inside the transaction that will store their receipts. Answers the outcome of each that ran before,
 * and undefined for those that are free. The advisory locks are held until commit: a repeat on another process meanwhile
 * is told `idempotency_in_progress` instead of waiting.
 */
export async function findReceipts(em: EntityManager, claims: readonly Claim[], notBefore: Date): Promise<(Outcome | undefined)[]> {
  const digests = claims.map((claim) => digest(claim).toString('hex'));
  const rows = await query<{ digest: string; locked: boolean; fingerprint: string | null; receipt: Buffer | null }>(
    em,
    `select asked.digest, pg_try_advisory_xact_lock(hashtextextended(asked.digest, 0)) as locked, kept.fingerprint, kept.receipt
       from unnest($1::text[]) as asked(digest)
       left join platform.idempotency kept on kept.digest = decode(asked.digest, 'hex') and kept.created_at > $2::timestamptz`,
    [digests, notBefore],
  );
  const byDigest = new Map(rows.map((row) => [row.digest, row]));
  return claims.map((claim, index) => {
    const row = byDigest.get(digests[index]!)!;
    if (!row.locked) return { replayed: false, result: inProgress() };
    if (row.receipt === null) return undefined;
    if (row.fingerprint !== claim.fingerprint) return { replayed: false, result: reused() };
    return { replayed: true, result: unsealReceipt(row.receipt, claim) };
  });
}

/** Whether a request under this key has its receipt; of whichever request, which is judged where the receipt is read. */
export async function hasReceipt(em: EntityManager, { organizationId, key }: Pick<Claim, 'organizationId' | 'key'>, notBefore: Date): Promise<boolean> {
  const rows = await query(em, 'select from platform.idempotency where digest = $1 and created_at > $2', [digest({ organizationId, key }), notBefore]);
  return rows.length > 0;
}

/** `result` is a value, or the error to answer with. */
export interface Outcome {
  readonly replayed: boolean;
  readonly result: unknown;
}

export async function keepReceipts(em: EntityManager, kept: readonly { claim: Claim; requestId: string; result: unknown }[], now: Date): Promise<void> {
  const rows = kept.flatMap(({ claim, requestId, result }) => {
    const receipt = receiptOf(result, requestId);
    return receipt === null ? [] : [{ digest: digest(claim), fingerprint: claim.fingerprint, receipt: seal(JSON.stringify(receipt), claim.key, claim.organizationId) }];
  });
  if (rows.length === 0) return;
  await query(
    em,
    `insert into platform.idempotency as kept (digest, fingerprint, receipt, created_at)
     select decode(digest, 'hex'), fingerprint, decode(receipt, 'base64'), $2::timestamptz from jsonb_to_recordset($1::jsonb) as row(digest text, fingerprint text, receipt text)
     on conflict (digest) do update set fingerprint = excluded.fingerprint, receipt = excluded.receipt, created_at = excluded.created_at`,
    [JSON.stringify(rows.map((row) => ({ digest: row.digest.toString('hex'), fingerprint: row.fingerprint, receipt: row.receipt.toString('base64') }))), now],
  );
}

export const inProgress = (): DomainError =>
  new DomainError('idempotency_in_progress', 'A request with this Idempotency-Key is still running; repeat it shortly.', { retry_after_seconds: 1 });

const reused = (): DomainError =>
  new DomainError('idempotency_key_reused', 'This Idempotency-Key was used for another request; use a new key for a new request.');

function receiptOf(result: unknown, requestId: string): Receipt | null {
  if (!(result instanceof Error)) return { value: result };
  // A kept error is replayed with the request id of its first answer.
  return isKept(result) ? { error: { code: result.code, message: result.message, fields: { ...result.fields, request_id: requestId } } } : null;
}

function unsealReceipt(sealed: Buffer, claim: Claim): unknown {
  const receipt = JSON.parse(unseal(sealed, claim.key, claim.organizationId)) as Receipt;
  return 'value' in receipt ? receipt.value : new DomainError(receipt.error.code, receipt.error.message, receipt.error.fields);
}
