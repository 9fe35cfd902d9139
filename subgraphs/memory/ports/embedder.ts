/** A stretch of a content, in UTF-16 offsets: `content.slice(start, end)`. */
export interface Passage {
  start: number;
  end: number;
}

export interface EmbeddedPassage extends Passage {
  /** L2-normalized, so that the inner product is the cosine. */
  vector: Float32Array;
}

export interface Embedder {
  /** Name and revision, stored with each vector: vectors of different models are not comparable. */
  readonly model: string;
  readonly dimensions: number;
  /** For a person who waits: never queued behind background work. */
  embedQuery(text: string): Promise<Float32Array>;
  /** For jobs: cuts each content into passages that cover all of it. A blank content has none. */
  embedContents(contents: readonly string[]): Promise<EmbeddedPassage[][]>;
  /** Ends the work under way: what was still waiting is rejected. */
  close(): Promise<void>;
}
