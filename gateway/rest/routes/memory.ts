import { z } from 'zod';
import {
  BatchStoreMemoryDocument,
  DeleteMemoryDocument,
  GetMemoryDocument,
  GetMemoryStatsDocument,
  GetRelatedMemoriesDocument,
  ListMemoriesDocument,
  RestoreMemoryDocument,
  RetrieveMemoriesDocument,
  StoreMemoryDocument,
  UpdateMemoryDocument,
} from '#schema/generated/documents.ts';
import type { GetMemoryQuery, UpdateMemoryMutation } from '#schema/generated/documents.ts';
import { camelize, present } from '../present.ts';
import { route } from '../route.ts';
import { dateTime, decimal, integer, page, pageQuery, pageVariables, presentPage, resultsPage, timestamp, word } from '../shapes.ts';

/** A content of 1 MiB may need six times that as JSON. */
const storeBytesMax = 7 * 1_048_576;
const batchBytesMax = 128 * 1_048_576;

const metadata = z.custom<Record<string, unknown>>((value) => typeof value === 'object' && value !== null && !Array.isArray(value), 'must be an object').meta({
  type: 'object',
  description: 'Any keys. category, department, source (strings) and tags (array of strings) can be filtered on.',
});

const storeBody = z.strictObject({
  content: z.string().describe('At most 1,048,576 bytes of UTF-8; not blank.'),
  metadata: metadata.optional(),
  workspace_id: z.string().optional().describe("By default the credential's own workspace."),
  ttl_seconds: z.int('must be a whole number').min(1, 'must be 1 or more').max(2_147_483_647).optional().describe('Archive it by itself after so many seconds.'),
  idempotency_key: z.string().optional().describe('Stands for the Idempotency-Key header, and counts before it.'),
});

const pendingProcessing = z.object({ embedding_status: z.enum(['pending', 'completed']), entity_extraction_status: z.enum(['pending', 'completed']) });
const processing = pendingProcessing.extend({ entities: z.array(z.string()).optional().describe('present once extraction has completed') });

const stored = z.object({
  id: z.string(),
  status: z.enum(['stored', 'archived', 'deleted']),
  vault_id: z.string(),
  workspace_id: z.string(),
  created_at: timestamp,
  content_hash: z.string().describe('sha256: and the hex digest'),
  byte_size: z.int(),
  metadata,
  processing: pendingProcessing,
});

const object = z.object({
  id: z.string(),
  content: z.string(),
  vault_id: z.string(),
  workspace_id: z.string(),
  status: z.enum(['stored', 'archived', 'deleted']),
  created_at: timestamp,
  updated_at: timestamp.nullable(),
  metadata,
  processing,
});

const changed = object.extend({ content_hash: z.string(), byte_size: z.int() });

const result = z.object({
  id: z.string(),
  content: z.string(),
  relevance_score: z.number().describe('0 to 1; comparable within a mode, falling with rank'),
  metadata,
  created_at: timestamp,
  highlights: z.array(z.string()).describe("passages of the object's own text, HTML-escaped, matched words in <em>"),
});

const batchError = z.object({ code: z.string(), message: z.string(), existing_id: z.string().optional() });

type Processing = Partial<GetMemoryQuery['memory']['processing']> & Omit<GetMemoryQuery['memory']['processing'], 'entities'>;

const presentProcessing = ({ embeddingStatus, entityExtractionStatus, entities }: Processing) => ({
  embedding_status: word(embeddingStatus),
  entity_extraction_status: word(entityExtractionStatus),
  ...(entities && { entities }),
});

const presentObject = ({ vault, workspace, status, processing: progress, ...rest }: GetMemoryQuery['memory']) => ({
  ...present({ ...rest, vaultId: vault.id, workspaceId: workspace.id }),
  updated_at: rest.updatedAt ?? null,
  status: word(status),
  processing: presentProcessing(progress),
});

const presentChanged = ({ status, processing: progress, ...rest }: UpdateMemoryMutation['updateMemory']) => ({
  ...present(rest),
  updated_at: rest.updatedAt ?? null,
  status: word(status),
  processing: presentProcessing(progress),
});

/** An element of a batch as the graph spells it. Whatever else it may be, the operation names what is wrong. */
const elementOf = (element: unknown): unknown => (element !== null && typeof element === 'object' && !Array.isArray(element) ? camelize(element) : element);

const common = { area: 'base', tag: 'Memory', entrance: 'credential' } as const;

export const memoryRoutes = [
  route({
    ...common,
    method: 'POST',
    path: '/v1/memory/store',
    summary: 'Store one object',
    document: StoreMemoryDocument,
    body: storeBody,
    bodyBytesMax: storeBytesMax,
    variables: ({ body }) => ({ input: camelize(body) }),
    status: 201,
    answer: stored,
    present: ({ storeMemory: { status, processing: progress, ...rest } }) => ({ ...present(rest), status: word(status), processing: presentProcessing(progress) }),
  }),
  route({
    ...common,
    method: 'POST',
    path: '/v1/memory/batch',
    summary: 'Store up to 100 objects; what is invalid or a duplicate is reported, all others are stored together',
    document: BatchStoreMemoryDocument,
    body: z.strictObject({ memories: z.array(z.unknown()).meta({ items: { $ref: '#/components/schemas/StoreMemory' }, minItems: 1, maxItems: 100 }) }),
    bodyBytesMax: batchBytesMax,
    variables: ({ body }) => ({ memories: body.memories.map(elementOf) }),
    status: ({ batchStoreMemory: { stored: count } }) => (count > 0 ? 201 : 400),
    answer: z.object({
      stored: z.int(),
      failed: z.int(),
      results: z.array(z.union([z.object({ id: z.string(), status: z.literal('stored') }), z.object({ index: z.int(), status: z.literal('failed'), error: batchError })])),
      error: z.object({ code: z.string(), message: z.string(), request_id: z.string(), status: z.int() }).optional().describe('only when nothing was stored'),
    }),
    present: ({ batchStoreMemory: { stored: count, failed, results } }, { requestId }) => ({
      stored: count,
      failed,
      results: results.map(({ index, id, error }) =>
        error
          ? { index, status: 'failed' as const, error: { code: error.code, message: error.message, ...(error.existingId && { existing_id: error.existingId }) } }
          : { id: id!, status: 'stored' as const },
      ),
      ...(count === 0 && { error: { code: 'validation_error', message: 'None of the objects could be stored; see results.', request_id: requestId, status: 400 } }),
    }),
  }),
  route({
    ...common,
    method: 'GET',
    path: '/v1/memory/retrieve',
    summary: 'Search by meaning, by words, or by both',
    document: RetrieveMemoriesDocument,
    query: z.strictObject({
      q: z.string().optional().describe('A question in natural language; needed unless keyword is given.'),
      keyword: z.string().optional().describe('Words, tolerant of typos; "quoted" words must stand together.'),
      limit: integer({ min: 1, max: 100 }).optional().describe('By default 10.'),
      cursor: z.string().min(1).optional(),
      category: z.string().optional(),
      tags: z.string().optional().describe('Comma-separated; all of them.'),
      department: z.string().optional(),
      created_after: dateTime.optional().describe('Exclusive.'),
      created_before: dateTime.optional().describe('Exclusive.'),
      workspace_id: z.string().optional(),
      min_relevance: decimal.pipe(z.number().min(0, 'must be 0 to 1').max(1, 'must be 0 to 1')).optional().describe('0 to 1.'),
      mode: z.enum(['semantic', 'keyword', 'hybrid'], 'must be semantic, keyword or hybrid').optional(),
    }),
    variables: ({ query: { mode, tags, ...rest } }) => ({
      input: {
        ...camelize(rest),
        ...(mode && { mode: mode.toUpperCase() as Uppercase<typeof mode> }),
        ...(tags !== undefined && { tags: tags.split(',').map((tag) => tag.trim()).filter((tag) => tag !== '') }),
      },
    }),
    status: 200,
    answer: z.object({
      query: z.string(),
      mode: z.enum(['semantic', 'keyword', 'hybrid']),
      results: z.array(result),
      total: z.int(),
      has_more: z.boolean(),
      next_cursor: z.string().nullable(),
      took_ms: z.int(),
    }),
    present: ({ retrieveMemories: { mode, nextCursor, ...rest } }) => ({ ...present(rest), mode: word(mode), next_cursor: nextCursor ?? null }),
  }),
  route({
    ...common,
    method: 'GET',
    path: '/v1/memory',
    summary: 'List objects, newest first',
    document: ListMemoriesDocument,
    query: pageQuery,
    variables: ({ query }) => pageVariables(query),
    status: 200,
    answer: resultsPage(object),
    present: ({ memories }) => ({ results: memories.edges.map(({ node }) => presentObject(node)), ...presentPage(memories) }),
  }),
  route({
    ...common,
    method: 'GET',
    path: '/v1/memory/stats',
    summary: 'Count the objects of a workspace',
    document: GetMemoryStatsDocument,
    query: z.strictObject({ workspace_id: z.string().optional() }),
    variables: ({ query }) => ({ workspaceId: query.workspace_id ?? null }),
    status: 200,
    answer: z.object({ stored: z.int(), archived: z.int(), deleted: z.int(), purged: z.int(), bytes: z.int() }),
    present: ({ memoryStats }) => memoryStats,
  }),
  route({
    ...common,
    method: 'GET',
    path: '/v1/memory/:id',
    summary: 'Get one object',
    document: GetMemoryDocument,
    variables: ({ params }) => ({ id: params.id! }),
    status: 200,
    answer: object,
    present: ({ memory }) => presentObject(memory),
  }),
  route({
    ...common,
    method: 'PATCH',
    path: '/v1/memory/:id',
    summary: 'Change content, or metadata by JSON Merge Patch (RFC 7396)',
    document: UpdateMemoryDocument,
    body: z.strictObject({ content: z.string().optional(), metadata: metadata.nullable().optional() }),
    bodyBytesMax: storeBytesMax,
    variables: ({ params, body }) => ({ input: { id: params.id!, ...body } }),
    status: 200,
    answer: changed,
    present: ({ updateMemory }) => presentChanged(updateMemory),
  }),
  route({
    ...common,
    method: 'DELETE',
    path: '/v1/memory/:id',
    summary: 'Delete an object: out of search at once, removed for good after the retention period',
    document: DeleteMemoryDocument,
    variables: ({ params }) => ({ id: params.id! }),
    status: 200,
    answer: z.object({ id: z.string(), status: z.literal('deleted'), deleted_at: timestamp }),
    present: ({ deleteMemory: { status: _status, ...rest } }) => ({ ...present(rest), status: 'deleted' as const }),
  }),
  route({
    ...common,
    method: 'POST',
    path: '/v1/memory/:id/restore',
    summary: 'Bring an archived object back',
    document: RestoreMemoryDocument,
    variables: ({ params }) => ({ id: params.id! }),
    status: 200,
    answer: changed,
    present: ({ restoreMemory }) => presentChanged(restoreMemory),
  }),
  route({
    ...common,
    method: 'GET',
    path: '/v1/memory/:id/related',
    summary: 'The objects nearest in meaning to one',
    document: GetRelatedMemoriesDocument,
    query: z.strictObject({ limit: integer({ min: 1, max: 100 }).optional().describe('By default 10.') }),
    variables: ({ params, query }) => ({ id: params.id!, limit: query.limit ?? null }),
    status: 200,
    answer: page(result),
    // The nearest are one page; there is nothing behind it.
    present: ({ relatedMemories }) => ({
      data: relatedMemories.map((related) => present(related)),
      next_cursor: null,
      prev_cursor: null,
      has_more: false,
      approximate_total: relatedMemories.length,
    }),
  }),
];
