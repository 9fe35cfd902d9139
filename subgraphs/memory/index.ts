import { every } from '#platform/jobs/every.ts';
import type { JobHandler } from '#platform/jobs/worker.ts';
import type { Context } from '#platform/context.ts';
import type { Subgraph } from '#platform/subgraph/subgraph.ts';
import { MemoryObject } from './entities/memory-object.ts';
import { memoryLive, memoryRenderer } from './events.ts';
import { memoryExports } from './exports.ts';
import { embedHandler } from './jobs/embed-handler.ts';
import { indexKeywordsHandler } from './jobs/index-keywords-handler.ts';
import { indexMeilisearchHandler } from './jobs/index-meilisearch-handler.ts';
import { indexVectors } from './jobs/index-vectors.ts';
import { memoryMigration } from './migrations/0001-memory.ts';
import { storedBytesMigration } from './migrations/0002-stored-bytes.ts';
import { batchStoreMemory } from './operations/batch-store-memory.ts';
import { deleteMemory } from './operations/delete-memory.ts';
import { getMemory } from './operations/get-memory.ts';
import { getMemoryStats } from './operations/get-memory-stats.ts';
import { getRelatedMemories } from './operations/get-related-memories.ts';
import { listMemories } from './operations/list-memories.ts';
import { restoreMemory } from './operations/restore-memory.ts';
import { retrieveMemories } from './operations/retrieve-memories.ts';
import { storeMemory } from './operations/store-memory.ts';
import { sweepMemories } from './operations/sweep-memories.ts';
import { updateMemory } from './operations/update-memory.ts';
import { openMemoryPorts } from './ports/open-memory-ports.ts';
import type { MemoryPorts } from './ports/ports.ts';
import { loadMemoryObject, loadWorkspace } from './references.ts';
import { MemoryObjectResolver } from './resolvers/memory-object.ts';
import { RetrievalResolver } from './resolvers/retrieval.ts';
import { WorkspaceResolver } from './resolvers/workspace.ts';

export const memory: Subgraph<MemoryPorts> = {
  name: 'memory',
  entities: [MemoryObject],
  resolvers: [MemoryObjectResolver, RetrievalResolver, WorkspaceResolver],
  references: { MemoryObject: loadMemoryObject, Workspace: loadWorkspace },
  operations: [storeMemory, batchStoreMemory, retrieveMemories, getMemory, listMemories, updateMemory, deleteMemory, restoreMemory, getRelatedMemories, getMemoryStats],
  migrations: [memoryMigration, storedBytesMigration],
  events: [memoryRenderer],
  live: memoryLive,
  exports: memoryExports,
  openPorts: openMemoryPorts,
  jobs: ({ memorySweepSeconds, meiliUrl }) => [
    indexKeywordsHandler as JobHandler<Context<MemoryPorts>>,
    ...(meiliUrl === null ? [] : [indexMeilisearchHandler as JobHandler<Context<MemoryPorts>>]),
    embedHandler as JobHandler<Context<MemoryPorts>>,
    every(10, 'memory.index-vectors', indexVectors) as JobHandler<Context<MemoryPorts>>,
    every(memorySweepSeconds, 'memory.sweep', sweepMemories) as JobHandler<Context<MemoryPorts>>,
  ],
};
