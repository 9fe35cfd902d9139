import { hashOf } from '../entities/memory-object.ts';
import type { MemoryMetadata, MemoryObject, MemoryProcessing, MemoryStatus } from '../entities/memory-object.ts';

/** An object as a command leaves it: the values its GET shows, as plain data that can be replayed. */
export interface ObjectReceipt {
  readonly id: string;
  readonly content: string;
  readonly contentHash: string;
  readonly byteSize: number;
  readonly metadata: MemoryMetadata;
  readonly vaultId: string;
  readonly workspaceId: string;
  readonly status: MemoryStatus;
  readonly createdAt: string;
  readonly updatedAt: string | null;
  readonly expiresAt: string | null;
  readonly processing: MemoryProcessing;
}

export const receiptOfObject = (object: MemoryObject): ObjectReceipt => ({
  id: object.id,
  content: object.content,
  contentHash: hashOf(object.contentDigest),
  byteSize: object.byteSize,
  metadata: object.metadata,
  vaultId: object.vaultId,
  workspaceId: object.workspaceId,
  status: object.status,
  createdAt: object.createdAt.toISOString(),
  updatedAt: object.updatedAt?.toISOString() ?? null,
  expiresAt: object.expiresAt?.toISOString() ?? null,
  processing: object.processing,
});
