import { expect } from 'vitest';
import { z } from 'zod';
import type { Answer } from './actors.ts';

/** The shapes of the contract, strict: a field more or less is a failure. */

export const IsoUtc = z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/, 'an ISO 8601 UTC timestamp');
const MemoryId = z.string().regex(/^mem_[A-Za-z0-9_-]+$/);
const ProcessingStatus = z.enum(['pending', 'completed']);
const Metadata = z.record(z.string(), z.unknown());
const Count = z.int().min(0);

export const StoreReceipt = z.strictObject({
  id: MemoryId,
  status: z.literal('stored'),
  vault_id: z.string().min(1),
  workspace_id: z.string().min(1),
  created_at: IsoUtc,
  content_hash: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  byte_size: z.int().min(1),
  metadata: Metadata,
  processing: z.strictObject({ embedding_status: ProcessingStatus, entity_extraction_status: ProcessingStatus }),
});
export type StoreReceipt = z.output<typeof StoreReceipt>;

export const MemoryObject = z.strictObject({
  id: MemoryId,
  content: z.string(),
  status: z.enum(['stored', 'archived']),
  vault_id: z.string().min(1),
  workspace_id: z.string().min(1),
  created_at: IsoUtc,
  updated_at: IsoUtc.nullable(),
  metadata: Metadata,
  processing: z.strictObject({
    embedding_status: ProcessingStatus,
    entity_extraction_status: ProcessingStatus,
    entities: z.array(z.string()).optional(),
  }),
});
export type MemoryObject = z.output<typeof MemoryObject>;

export const DeleteReceipt = z.strictObject({ id: MemoryId, status: z.literal('deleted'), deleted_at: IsoUtc });

const BatchResult = z.union([
  z.strictObject({ id: MemoryId, status: z.literal('stored') }),
  z.strictObject({ index: Count, status: z.literal('failed'), error: z.looseObject({ code: z.string(), message: z.string().min(1) }) }),
]);
export const BatchReceipt = z.strictObject({ stored: Count, failed: Count, results: z.array(BatchResult) });

export const RetrieveItem = z.strictObject({
  id: MemoryId,
  content: z.string(),
  relevance_score: z.number().min(0).max(1),
  metadata: Metadata,
  created_at: IsoUtc,
  highlights: z.array(z.string()),
});
export const RetrieveAnswer = z.strictObject({
  query: z.string(),
  mode: z.enum(['semantic', 'keyword', 'hybrid']),
  results: z.array(RetrieveItem),
  total: Count,
  has_more: z.boolean(),
  next_cursor: z.string().nullable(),
  took_ms: Count,
  // Not in interface §2.1, but decisions §5 gives them to every list.
  approximate_total: Count.optional(),
  prev_cursor: z.string().nullable().optional(),
});
export type RetrieveAnswer = z.output<typeof RetrieveAnswer>;

const envelope = { next_cursor: z.string().nullish(), prev_cursor: z.string().nullable(), has_more: z.boolean(), approximate_total: Count };
export const MemoryPage = z.strictObject({ results: z.array(z.looseObject({ id: MemoryId, created_at: IsoUtc })), ...envelope });
export type MemoryPage = z.output<typeof MemoryPage>;

export const MemoryStats = z.strictObject({ stored: Count, archived: Count, deleted: Count, purged: Count, bytes: Count });
export type MemoryStats = z.output<typeof MemoryStats>;

const apiKey = {
  id: z.string().min(1),
  name: z.string(),
  level: z.enum(['read-only', 'read-write', 'admin']),
  workspace_id: z.string().min(1),
  prefix: z.string().min(1),
  created_at: IsoUtc,
  expires_at: IsoUtc.nullable(),
};
export const NewApiKey = z.strictObject({ ...apiKey, key: z.string().regex(/^qk_[A-Za-z0-9_-]{43}$/) });
export const ApiKeyPage = z.strictObject({ data: z.array(z.looseObject(apiKey)), ...envelope });

export const ExportJob = z.strictObject({ id: z.string().min(1), state: z.enum(['queued', 'running', 'succeeded', 'failed']) });
export const ExportStatus = z.strictObject({
  ...ExportJob.shape,
  progress: z.number(),
  download_url: z.string().min(1).nullish(),
  expires_at: IsoUtc.nullable(),
});

export const ErrorContent = z.strictObject({
  code: z.string(),
  message: z.string().min(1),
  request_id: z.string().min(1),
  status: z.int(),
  details: z.array(z.strictObject({ path: z.string(), message: z.string().min(1) })).optional(),
  existing_id: MemoryId.optional(),
});
export type ErrorContent = z.output<typeof ErrorContent>;
export const ErrorBody = z.strictObject({ error: ErrorContent });

export function expectBody<T extends z.ZodType>(answer: Answer, status: number, shape: T): z.output<T> {
  expect(answer.status, answer.text.slice(0, 2000)).toBe(status);
  return expectShape(answer.body, shape);
}

export function expectShape<T extends z.ZodType>(value: unknown, shape: T): z.output<T> {
  const result = shape.safeParse(value);
  if (result.success) return result.data;
  return expect.fail(`${z.prettifyError(result.error)}\nin ${JSON.stringify(value)?.slice(0, 2000)}`);
}

/** The standard error body, complete, with the request id of the header. */
export function expectError(answer: Answer, status: number, code: string): ErrorContent {
  const { error } = expectBody(answer, status, ErrorBody);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/);
  expect(error).toMatchObject({ code, status });
  expect(error.request_id).toBe(answer.headers.get('x-request-id'));
  return error;
}

/** 429 is the one refusal that is a problem (RFC 9457) and not the standard error. */
export const Problem = z.strictObject({
  type: z.url(),
  title: z.string().min(1),
  status: z.literal(429),
  detail: z.string().min(1),
  scope: z.enum(['token', 'org', 'endpoint']),
  code: z.literal('rate_limit_exceeded'),
  request_id: z.string(),
});
export type Problem = z.output<typeof Problem>;

export function expectLimited(answer: Answer): Problem {
  const problem = expectBody(answer, 429, Problem);
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json\b/);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(problem.request_id).toBe(answer.headers.get('x-request-id'));
  return problem;
}

/** Bad input: 400 that names the path at fault. Which of the two codes it is, the specification leaves open. */
export function expectInvalid(answer: Answer, path?: string): ErrorContent {
  const { error } = expectBody(answer, 400, ErrorBody);
  expect(['validation_error', 'invalid_parameter']).toContain(error.code);
  expect(error.status).toBe(400);
  expect(error.request_id).toBe(answer.headers.get('x-request-id'));
  if (path === undefined) return error;
  const namesPath = error.details?.some((detail) => detail.path.includes(path)) ?? error.message.includes(path);
  expect(namesPath, `'${path}' is named in ${answer.text}`).toBe(true);
  return error;
}
