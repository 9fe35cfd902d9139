import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/core';
import { query } from '#platform/database/query.ts';
import type { Ranked } from '../fusion.ts';

export interface Ranking {
  /** Words to highlight. */
  readonly terms: readonly string[];
  readonly results: readonly Ranked[];
}

/** Per result: seq and score in 8 bytes each, start and end in 4. */
const resultBytes = 24;

/** Keeps a ranking for its cursors; asking the same again while nothing changed keeps it once. Answers the name it is kept by. */
export async function keepRanking(em: EntityManager, workspaceId: string, ranking: Ranking, expiresAt: Date): Promise<string> {
  const bytes = encode(ranking);
  const digest = createHash('sha256').update(`${workspaceId}\n`).update(bytes).digest();
  await query(
    em,
    `insert into memory.ranking as kept (digest, results, expires_at) values ($1, $2, $3)
         on conflict (digest) do update set expires_at = excluded.expires_at where kept.expires_at < excluded.expires_at`,
    [digest, bytes, expiresAt],
  );
  return digest.toString('base64url');
}

export async function loadRanking(em: EntityManager, digest: string): Promise<Ranking | null> {
  const [row] = await query<{ results: Buffer }>(em, 'select results from memory.ranking where digest = $1', [Buffer.from(digest, 'base64url')]);
  return row ? decode(row.results) : null;
}

function encode({ terms, results }: Ranking): Buffer {
  const words = Buffer.from(JSON.stringify(terms));
  const bytes = Buffer.alloc(4 + words.length + results.length * resultBytes);
  bytes.writeUInt32LE(words.length, 0);
  words.copy(bytes, 4);
  results.forEach(({ seq, score, start, end }, index) => {
    const at = 4 + words.length + index * resultBytes;
    bytes.writeDoubleLE(seq, at);
    bytes.writeDoubleLE(score, at + 8);
    bytes.writeUInt32LE(start, at + 16);
    bytes.writeUInt32LE(end, at + 20);
  });
  return bytes;
}

function decode(bytes: Buffer): Ranking {
  const first = 4 + bytes.readUInt32LE(0);
  const terms = JSON.parse(bytes.subarray(4, first).toString('utf8')) as string[];
  const results = Array.from({ length: (bytes.length - first) / resultBytes }, (_, index) => {
    const at = first + index * resultBytes;
    return { seq: bytes.readDoubleLE(at), score: bytes.readDoubleLE(at + 8), start: bytes.readUInt32LE(at + 16), end: bytes.readUInt32LE(at + 20) };
  });
  return { terms, results };
}
