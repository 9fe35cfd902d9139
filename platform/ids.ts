import { typeidUnboxed } from 'typeid-js';

/** Every id of the product begins with its kind. */
export const idPrefixes = {
  organization: 'org',
  vault: 'vlt',
  workspace: 'wsp',
  user: 'usr',
  apiKey: 'key',
  session: 'ses',
  publisher: 'pub',
  oauthClient: 'ocl',
  grant: 'gra',
  webhook: 'whk',
  delivery: 'dlv',
  memory: 'mem',
  export: 'exp',
  event: 'evt',
  listing: 'lst',
  install: 'ins',
  course: 'crs',
  enrollment: 'enr',
} as const;

export type IdKind = keyof typeof idPrefixes;

/** A TypeID: prefix, underscore, UUIDv7 in base 32 (https://github.com/jetify-com/typeid). Ids of one kind sort by creation. */
export function newId(kind: IdKind): string {
  return typeidUnboxed(idPrefixes[kind]);
}
