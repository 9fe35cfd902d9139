import type { EntityManager } from '@mikro-orm/core';

/**
 * pgvector's binary format: dimensions, an unused word, big-endian floats. As text, 100 vectors of 256 dimensions cost the
 * embedded database 25 to 39 ms, as binary 0.4 ms.
 */
export function vectorParameter(vector: Float32Array): Buffer {
  const bytes = Buffer.allocUnsafe(4 + 4 * vector.length);
  bytes.writeInt16BE(vector.length, 0);
  bytes.writeInt16BE(0, 2);
  for (let index = 0; index < vector.length; index += 1) bytes.writeFloatBE(vector[index]!, 4 + 4 * index);
  return bytes;
}

/** For `$1::vector[]`. `query` encodes it, because the format carries the type's number, which each database gives out anew. */
export class VectorArray {
  readonly vectors: readonly Float32Array[];

  constructor(vectors: readonly Float32Array[]) {
    this.vectors = vectors;
  }

  /** PostgreSQL's binary array: one dimension, no nulls, element type, length, lower bound 1; then each element after its size. */
  encode(vectorOid: number): Buffer {
    const header = Buffer.alloc(20);
    [1, 0, vectorOid, this.vectors.length, 1].forEach((value, index) => header.writeInt32BE(value, 4 * index));
    const elements = this.vectors.flatMap((vector) => {
      const element = vectorParameter(vector);
      const size = Buffer.alloc(4);
      size.writeInt32BE(element.length);
      return [size, element];
    });
    return Buffer.concat([header, ...elements]);
  }
}

export const vectorArrayParameter = (vectors: readonly Float32Array[]): VectorArray => new VectorArray(vectors);

const oids = new WeakMap<object, number>();

export const setVectorOid = (em: EntityManager, oid: number): void => void oids.set(em.getDriver(), oid);

export const vectorOidOf = (em: EntityManager): number => oids.get(em.getDriver())!;
