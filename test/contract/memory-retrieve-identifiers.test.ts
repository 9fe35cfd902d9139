import { randomInt, randomUUID } from 'node:crypto';
import { beforeAll, expect } from 'vitest';
import { as } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { eventually, whenProcessed } from '../harness/eventually.ts';
import { idsOf, retrieve, storeAll } from '../harness/memory.ts';
import { sharedServer } from '../harness/shared-server.ts';
import { uniqueWord } from '../harness/words.ts';

const client = as(sharedServer(), 'read_write');
const category = uniqueWord();

const digits = (count: number) => Array.from({ length: count }, () => randomInt(1, 9)).join('');
/** One digit up: a near miss of the same shape. */
const nearMiss = (identifier: string, fromEnd: number): string => {
  const positions = [...identifier.matchAll(/[0-8]/g)].map((match) => match.index);
  const index = positions.at(-fromEnd) ?? 0;
  return identifier.slice(0, index) + String(Number(identifier.charAt(index)) + 1) + identifier.slice(index + 1);
};

const number = digits(6);
const identifiers = {
  order: `PO-${number}-XK`,
  uuid: randomUUID(),
  code: `ERR_CONN_${digits(5)}`,
  serial: `SN${digits(10)}`,
  mail: `invoice.${digits(5)}@example.com`,
  version: `v3.${digits(2)}.${digits(4)}-rc2`,
};
const idOf = new Map<string, string>();

beforeAll(async () => {
  for (const identifier of Object.values(identifiers)) {
    const sentence = (text: string) => `The purchase order and invoice with reference ${text} was approved by the finance department.`;
    const misses = [1, 2, 3].map((fromEnd) => nearMiss(identifier, fromEnd)).map((near) => `${sentence(near)} Reference ${near}, again ${near}.`);
    const contents = [...misses, `Archive box seven, shelf two: papers on ${identifier} and many other things that nobody has sorted yet.`];
    const ids = await storeAll(client, contents.map((content) => ({ content, metadata: { category } })));
    idOf.set(identifier, ids.at(-1)!);
    for (const id of ids) await whenProcessed(client, id);
  }
  await eventually(async () => expect((await retrieve(client, { keyword: 'reference', category })).total).toBe(18));
});

async function expectFirst(parameters: (identifier: string) => Record<string, string>): Promise<void> {
  for (const [kind, identifier] of Object.entries(identifiers)) {
    const answer = await retrieve(client, { ...parameters(identifier), category });
    expect(idsOf(answer)[0], `${kind} ${identifier}: ${answer.results[0]?.content}`).toBe(idOf.get(identifier));
  }
}

clause('MEM-IDENTIFIER-001', 'decisions §8: keyword search for an identifier prefers the exact one to near-misses', () => expectFirst((identifier) => ({ keyword: identifier })));

clause('MEM-IDENTIFIER-002', 'decisions §8: hybrid search for an identifier alone is never outranked by near-misses', () => expectFirst((identifier) => ({ q: identifier, mode: 'hybrid' })));

clause('MEM-IDENTIFIER-003', 'decisions §8: hybrid search for an identifier within a question is never outranked by near-misses', () =>
  expectFirst((identifier) => ({ q: `Which finance department approved the purchase order with reference ${identifier}?`, mode: 'hybrid' })));

clause('MEM-IDENTIFIER-004', 'decisions §8: hybrid search with a question and the identifier as keyword is never outranked by near-misses', () =>
  expectFirst((identifier) => ({ q: 'Which finance department approved the purchase order?', keyword: identifier })));
