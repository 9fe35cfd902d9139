type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json => value !== null && typeof value === 'object' && !Array.isArray(value);

/** JSON Merge Patch, RFC 7396 section 2, on an object: null removes, objects merge, everything else replaces. */
export function mergePatch(target: Json, patch: Json | null): Json {
  const merged: Record<string, unknown> = { ...target };
  if (patch === null) return {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = isObject(value) ? mergePatch(isObject(merged[key]) ? merged[key] : {}, value) : value;
  }
  return merged;
}
