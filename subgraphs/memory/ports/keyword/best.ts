/** Documents in no order, as columns. */
export interface Scored {
  readonly seqs: Float64Array;
  readonly scores: Float64Array;
  readonly count: number;
}

/** The positions of the `count` best hits that pass, best first; of equals the newer. A heap with the worst on top. */
export function best({ seqs, scores, count: size }: Scored, count: number, passes: (position: number) => boolean): number[] {
  const worse = (a: number, b: number): boolean => scores[a] !== scores[b] ? scores[a]! < scores[b]! : seqs[a]! < seqs[b]!;
  const heap: number[] = [];
  for (let position = 0; position < size; position++) {
    if (!passes(position)) continue;
    if (heap.length < count) {
      heap.push(position);
      rise(heap, worse);
    } else if (count > 0 && worse(heap[0]!, position)) {
      heap[0] = position;
      sink(heap, worse);
    }
  }
  return heap.sort((a, b) => (worse(a, b) ? 1 : -1));
}

type Before = (a: number, b: number) => boolean;

function rise(heap: number[], before: Before): void {
  for (let at = heap.length - 1; at > 0; ) {
    const parent = (at - 1) >> 1;
    if (!before(heap[at]!, heap[parent]!)) return;
    swap(heap, at, parent);
    at = parent;
  }
}

function sink(heap: number[], before: Before): void {
  for (let at = 0; ; ) {
    const [left, right] = [2 * at + 1, 2 * at + 2];
    let first = at;
    if (left < heap.length && before(heap[left]!, heap[first]!)) first = left;
    if (right < heap.length && before(heap[right]!, heap[first]!)) first = right;
    if (first === at) return;
    swap(heap, at, first);
    at = first;
  }
}

function swap(heap: number[], a: number, b: number): void {
  [heap[a], heap[b]] = [heap[b]!, heap[a]!];
}
