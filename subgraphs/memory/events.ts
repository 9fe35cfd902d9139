/** What memory tells the world (decisions 12). */
export const memoryEvents = {
  stored: 'memory.stored',
  processed: 'memory.processed',
  deleted: 'memory.deleted',
  archived: 'memory.archived',
} as const;
