// Runs in a worker thread: `session.run` and the tokenizer block the loop that calls them.
import type { Passage } from '../embedder.ts';
import { loadMiniLm } from './minilm-model.ts';
import { answerTasks } from './worker-pool.ts';

export interface CutPassage extends Passage {
  tokens: Uint16Array;
}

/** Cutting comes first, so that the passages of one long content can be spread over several threads. */
export type MiniLmTask =
  | { kind: 'cut'; contents: readonly string[] }
  | { kind: 'embed'; passages: readonly CutPassage[] }
  | { kind: 'query'; text: string };

export type MiniLmAnswer = CutPassage[][] | Float32Array[] | Float32Array;

await answerTasks<MiniLmTask, MiniLmAnswer>(async () => {
  const { cut, embed } = await loadMiniLm();
  return async (task) => {
    switch (task.kind) {
      case 'cut':
        return task.contents.map((content) =>
          Array.from(cut(content), ({ start, end, words }) => ({ start, end, tokens: Uint16Array.from(words.flat()) })),
        );
      case 'embed':
        return embedAll(embed, task.passages);
      case 'query': {
        const [beginning] = cut(task.text);
        return embed(beginning?.words.flat() ?? []);
      }
    }
  };
});

async function embedAll(
  embed: (tokens: Uint16Array) => Promise<Float32Array>,
  passages: readonly CutPassage[],
): Promise<Float32Array[]> {
  const vectors: Float32Array[] = [];
  for (const { tokens } of passages) vectors.push(await embed(tokens));
  return vectors;
}
