import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EntityClass } from '@mikro-orm/core';
import pg from 'pg';
import { pino } from 'pino';
import { inject } from 'vitest';
import type { Database } from '#platform/database/database.ts';
import { openDatabase } from '#platform/database/database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A data folder. */
    readonly emptyDatabase: string;
  }
}

const server = process.env['DATABASE_URL'] ?? null;

/** A database of its own, gone after `close`: on DATABASE_URL's server if it is set, else embedded in a new folder. */
export async function openTestDatabase(entities: EntityClass[] = []): Promise<Database> {
  const dataDir = await mkdtemp(join(tmpdir(), 'quadrivium-'));
  if (server === null) await cp(inject('emptyDatabase'), dataDir, { recursive: true });
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  if (server !== null) await administer(`create database ${name}`);
  const url = server === null ? null : Object.assign(new URL(server), { pathname: `/${name}` }).href;
  const database = await openDatabase({ url, dataDir, entities, poolMax: 4, logger: pino({ level: 'warn' }) });
  return {
    ...database,
    async close() {
      await database.close();
      if (server !== null) await administer(`drop database ${name} with (force)`);
      await rm(dataDir, { recursive: true });
    },
  };
}

async function administer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: server! });
  await client.connect();
  await client.query(statement);
  await client.end();
}
