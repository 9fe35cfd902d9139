import type { LiveField } from '#platform/subgraph/subgraph.ts';
import type { EventRenderer } from '#platform/webhooks/event-renderer.ts';
import { MemoryStatus, processingOf } from './entities/memory-object.ts';
import { toldObjects } from './queries/told-objects.ts';
import type { ToldObject } from './queries/told-objects.ts';

/** What memory tells the world (decisions 12). */
export const memoryEvents = {
  stored: 'memory.stored',
  processed: 'memory.processed',
  deleted: 'memory.deleted',
  archived: 'memory.archived',
} as const;

/** `memoryProcessed(id)` */
export const memoryLive: Readonly<Record<string, LiveField>> = {
  memoryProcessed: {
    event: memoryEvents.processed,
    query: 'memory',
    argument: 'id',
    id: 'id',
    selection: '{ id processing { embeddingStatus entityExtractionStatus } }',
    hasHappened: ({ processing }: { processing: { embeddingStatus: string; entityExtractionStatus: string } }) =>
      processing.embeddingStatus === 'COMPLETED' && processing.entityExtractionStatus === 'COMPLETED',
  },
};

/** Objects as GET /v1/memory/{id} shows them, without their content; of a deleted one, that it is. */
export const memoryRenderer: EventRenderer = {
  types: Object.values(memoryEvents),
  async render({ em }, events) {
    const objects = await toldObjects(em, events.flatMap(({ subjectIds, workspaceId }) => subjectIds.map((id) => ({ id, workspaceId: workspaceId! }))));
    const byId = new Map(objects.map((object) => [`${object.workspace_id} ${object.id}`, object]));
    return events.map(({ type, subjectIds, workspaceId, createdAt }) =>
      subjectIds.map((id) => {
        if (type === memoryEvents.deleted) return { id, deleted_at: createdAt };
        const object = byId.get(`${workspaceId} ${id}`);
        return object === undefined || object.status === MemoryStatus.DELETED ? { id, deleted_at: object?.deleted_at ?? null } : told(object);
      }),
    );
  },
};

function told({ deleted_at: _deletedAt, entities, ...shown }: ToldObject): object {
  const { embeddingStatus, entityExtractionStatus } = processingOf(entities);
  return { ...shown, processing: { embedding_status: embeddingStatus, entity_extraction_status: entityExtractionStatus, ...(entities && { entities }) } };
}
