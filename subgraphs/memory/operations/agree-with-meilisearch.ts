import type { EntityManager } from '@mikro-orm/core';
import type { MeilisearchKeywordIndex } from '../ports/meilisearch-keyword-index.ts';
import { pendingContents } from '../queries/pending-contents.ts';
import { filterablesOf, rowVersions } from '../queries/searchable-objects.ts';

/**
 * Writes to Meilisearch what of these objects may be found, and removes the rest of them. Answers those that changed
 * meanwhile: another worker may have written the newer state before this one wrote the older, so they must be done again.
 */
export async function agreeWithMeilisearch(em: EntityManager, index: MeilisearchKeywordIndex, ids: readonly string[]): Promise<string[]> {
  const before = await rowVersions(em, ids);
  const missing = new Set(ids);
  for await (const contents of pendingContents(em, ids)) {
    const found = contents.map(({ id }) => id);
    const filterables = await filterablesOf(em, found);
    await index.replace(found, contents.flatMap((content) => ({ ...content, ...filterables.get(content.id)! })));
    for (const id of found) missing.delete(id);
  }
  if (missing.size > 0) await index.replace([...missing], []);
  const after = await rowVersions(em, ids);
  return ids.filter((id) => before.get(id) !== after.get(id));
}
