import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Platform } from '../context.ts';
import type { Database } from '../database/database.ts';
import { archiveEnd } from './archive.ts';

type Signer = Pick<Platform, 'secrets'>;

/** The address says who may have the archive, and until when: whoever holds it. */
export const downloadToken = ({ secrets }: Signer, exportId: string, expiresAt: Date): string =>
  createHmac('sha256', secrets.download).update(`${exportId}\n${expiresAt.getTime()}`).digest('base64url');

export interface Archive {
  readonly byteSize: number;
  readonly bytes: AsyncIterable<Buffer>;
}

/** The archive behind an address, or null: unknown, forged and expired look the same. */
export async function openArchive({ secrets, clock }: Pick<Platform, 'secrets' | 'clock'>, database: Database, exportId: string, token: string): Promise<Archive | null> {
  const [found] = await database.execute<{ expires_at: Date; bytes: number }>(
    `select expires_at, (select coalesce(sum(octet_length(bytes)), 0) from platform.export_chunk where export_id = id)::bigint as bytes
       from platform.export where id = $1 and expires_at > $2`,
    [exportId, clock.now()],
  );
  if (!found) return null;
  const [given, expected] = [Buffer.from(token), Buffer.from(downloadToken({ secrets }, exportId, found.expires_at))];
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
  return { byteSize: found.bytes + archiveEnd.length, bytes: chunksOf(database, exportId) };
}

/** One chunk in memory at a time, however slow the reader. */
async function* chunksOf(database: Database, exportId: string): AsyncIterable<Buffer> {
  const next = `select area, number, bytes from platform.export_chunk where export_id = $1 and (area, number) > ($2, $3) order by area, number limit 1`;
  let [area, number] = ['', 0];
  for (;;) {
    const [chunk] = await database.execute<{ area: string; number: number; bytes: Buffer }>(next, [exportId, area, number]);
    if (!chunk) break;
    yield chunk.bytes;
    ({ area, number } = chunk);
  }
  yield archiveEnd;
}
