import { createHash } from 'node:crypto';
import Fastify from 'fastify';
import { pino } from 'pino';
import { systemClock } from '#platform/clock.ts';
import { readConfig } from '#platform/config.ts';
import { openDatabase } from '#platform/database/database.ts';
import { query } from '#platform/database/query.ts';
import { newId } from '#platform/ids.ts';

// The baseline: Fastify, one statement, nothing between. It runs on a ground that the product has prepared, so that tables,
// indexes and rows are the same, and with the product's own statements (subgraphs/memory/queries), which stand here again
// because a bench may not reach into a slice.
const findObject = `
  select object.id, object.seq, organization_id, vault_id, workspace_id, content, content_hash, byte_size, metadata, status,
         created_at, updated_at, archived_at, deleted_at, expires_at, processing.entities
    from memory.object left join memory.processing on processing.object_id = object.id and processing.seq = object.seq where object.id = any($1) and workspace_id = any($2) and status <> 'deleted'`;
const insertObjects = `
  insert into memory.object (id, organization_id, vault_id, workspace_id, content, content_hash, byte_size, metadata, created_at, expires_at)
  select id, "organizationId", "vaultId", "workspaceId", content, decode("contentDigest", 'hex'), "byteSize", metadata, "createdAt", "expiresAt"
    from jsonb_to_recordset($1::jsonb) as row(id text, "organizationId" text, "vaultId" text, "workspaceId" text, content text,
         "contentDigest" text, "byteSize" int, metadata jsonb, "createdAt" timestamptz, "expiresAt" timestamptz)
      on conflict (workspace_id, content_hash) where status = 'stored' do nothing
  returning id`;

interface Row {
  readonly id: string;
  readonly content: string;
  readonly vault_id: string;
  readonly workspace_id: string;
  readonly status: string;
  readonly created_at: Date;
  readonly updated_at: Date | null;
  readonly metadata: object;
  readonly entities: string[] | null;
}

const config = readConfig(process.env);
const logger = pino({ level: config.logLevel });
const { orm } = await openDatabase({ url: config.databaseUrl, dataDir: config.dataDir, entities: [], poolMax: config.databasePoolMax, logger });
const [home] = await query<{ id: string; vault_id: string; organization_id: string }>(orm.em.fork(), 'select id, vault_id, organization_id from identity.workspace order by id limit $1', [1]);
const owner = { organizationId: home!.organization_id, vaultId: home!.vault_id, workspaceId: home!.id };
const workspaces = await query<{ id: string }>(orm.em.fork(), 'select id from identity.workspace where vault_id = $1', [home!.vault_id]);
const reach = workspaces.map(({ id }) => id);

const http = Fastify({ bodyLimit: 16 * 1_048_576 });
http.get('/readyz', async () => 'ready');
http.get('/metrics', async () => {
  const { user, system } = process.cpuUsage();
  return `process_cpu_seconds_total ${(user + system) / 1e6}\n`;
});
http.get<{ Params: { id: string } }>('/v1/memory/:id', async (request) => {
  const [row] = await query<Row>(orm.em.fork(), findObject, [[request.params.id], reach]);
  const { id, content, vault_id, workspace_id, status, created_at, updated_at, metadata, entities } = row!;
  const state = entities === null ? 'pending' : 'completed';
  return { id, content, vault_id, workspace_id, status, created_at, updated_at, metadata, processing: { embedding_status: state, entity_extraction_status: state, ...(entities && { entities }) } };
});
http.post<{ Body: { memories: { content: string; metadata: object }[] } }>('/v1/memory/batch', async (request, reply) => {
  const createdAt = systemClock.now();
  const rows = request.body.memories.map(({ content, metadata }) => ({
    ...owner,
    id: newId('memory'),
    content,
    metadata,
    contentDigest: createHash('sha256').update(content, 'utf8').digest('hex'),
    byteSize: Buffer.byteLength(content),
    createdAt,
    expiresAt: null,
  }));
  const inserted = await query<{ id: string }>(orm.em.fork(), insertObjects, [JSON.stringify(rows)]);
  return reply.code(201).send({ stored: inserted.length, failed: rows.length - inserted.length, results: inserted });
});
await http.listen({ host: '127.0.0.1', port: config.port });
// The database is a copy that nobody opens again.
process.on('SIGTERM', () => process.exit());
