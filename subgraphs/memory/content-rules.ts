import { z } from 'zod';

/** 1 MB by decisions 8. */
export const contentBytesMax = 1_048_576;
export const batchSizeMax = 100;
const metadataBytesMax = 65_536;
const metadataDepthMax = 32;

/** Text that PostgreSQL can keep and UTF-8 can carry: no NUL, no lone surrogates. */
const isKeepable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

export const content = z.string().superRefine((text, check) => {
  if (text.trim() === '') check.addIssue({ code: 'custom', message: 'must not be blank' });
  else if (!isKeepable(text)) check.addIssue({ code: 'custom', message: 'must be well-formed Unicode without NUL characters' });
  else if (Buffer.byteLength(text) > contentBytesMax) {
    check.addIssue({ code: 'custom', message: `must be at most ${contentBytesMax} bytes of UTF-8`, params: { code: 'payload_too_large' } });
  }
});

/** A caller's own object, checked but never rebuilt. */
export const metadata = z.custom<Record<string, unknown>>(isPlainObject, 'must be an object').superRefine((value, check) => {
  for (const fault of metadataFaults(value)) check.addIssue({ code: 'custom', ...fault });
});

const unkeepableMessage = `must be plain JSON: well-formed Unicode without NUL, finite numbers, no __proto__, at most ${metadataDepthMax} levels`;

/** A JSON Merge Patch for metadata; what it leads to is judged after the merge. */
export const metadataPatch = z
  .custom<Record<string, unknown> | null>((value) => value === null || isPlainObject(value), 'must be an object or null')
  .superRefine((value, check) => {
    const path = unkeepablePath(value, 0);
    if (path !== null) check.addIssue({ code: 'custom', path, message: unkeepableMessage });
  });

export function metadataFaults(value: Readonly<Record<string, unknown>>): { path: string[]; message: string }[] {
  const faults = (['category', 'department', 'source'] as const)
    .filter((key) => value[key] !== undefined && typeof value[key] !== 'string')
    .map((key) => ({ path: [key as string], message: 'must be a string' }));
  const { tags } = value;
  if (tags !== undefined && !(Array.isArray(tags) && tags.every((tag) => typeof tag === 'string'))) faults.push({ path: ['tags'], message: 'must be an array of strings' });
  const unkeepable = unkeepablePath(value, 0);
  if (unkeepable !== null) faults.push({ path: unkeepable, message: unkeepableMessage });
  else if (Buffer.byteLength(JSON.stringify(value)) > metadataBytesMax) faults.push({ path: [], message: `must be at most ${metadataBytesMax} bytes as JSON` });
  return faults;
}

/** Where something stands that jsonb would refuse or change, or null. */
function unkeepablePath(value: unknown, depth: number): string[] | null {
  if (typeof value === 'string') return isKeepable(value) ? null : [];
  if (typeof value === 'number') return Number.isFinite(value) ? null : [];
  if (value === null || typeof value !== 'object') return null;
  if (depth >= metadataDepthMax) return [];
  for (const key of Object.keys(value)) {
    if (!isKeepable(key) || key === '__proto__') return [];
    const inner = unkeepablePath((value as Record<string, unknown>)[key], depth + 1);
    if (inner !== null) return [key, ...inner];
  }
  return null;
}

function isPlainObject(value: unknown): boolean {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** What a client may store; each element of a batch has the same shape. */
export const storeInput = z.strictObject({
  content,
  metadata: metadata.nullish(),
  workspaceId: z.string().nullish(),
  ttlSeconds: z.number().int('must be a whole number').min(1, 'must be 1 or more').max(2_147_483_647).nullish(),
  idempotencyKey: z.string().regex(/^[\x20-\x7e]{1,255}$/, 'must be 1 to 255 printable ASCII characters').nullish(),
});
export type StoreInput = z.output<typeof storeInput>;
