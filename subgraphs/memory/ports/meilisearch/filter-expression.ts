import type { RetrieveFilter } from '../../queries/filter.ts';

/**
 * The filter of every search: the workspace, always, and what else narrows it. All of these conditions must hold; each is
 * parsed alone, so that none can reach into another. What they let through is a superset: Meilisearch compares texts
 * without case and knows none of more than 468 bytes, so those and empty ones are left to the database, which has the last word.
 */
export function filterExpression(workspaceId: string, { category, department, tags, createdAfter, createdBefore }: RetrieveFilter): string[] {
  return [
    `workspace_id = ${quoted(workspaceId)}`,
    ...[category].filter(isNarrowing).map((value) => `category = ${quoted(value)}`),
    ...[department].filter(isNarrowing).map((value) => `department = ${quoted(value)}`),
    ...tags.filter(isNarrowing).map((value) => `tags = ${quoted(value)}`),
    ...(createdAfter === null ? [] : [`created_at > ${createdAfter.getTime()}`]),
    ...(createdBefore === null ? [] : [`created_at < ${createdBefore.getTime()}`]),
  ];
}

/** Within double quotes Meilisearch's parser gives a meaning to these two characters only. */
export const quoted = (value: string): string => `"${value.replace(/[\\"]/g, '\\$&')}"`;

const valueBytesMax = 468;
const isNarrowing = (value: string | null): value is string => value !== null && value.trim() !== '' && Buffer.byteLength(value) <= valueBytesMax;
