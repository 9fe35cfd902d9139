import { expect } from 'vitest';
import { as } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { eventually } from '../harness/eventually.ts';
import { idsOf, retrieve, storeAll } from '../harness/memory.ts';
import { sharedServer } from '../harness/shared-server.ts';
import { substituted, uniqueWord } from '../harness/words.ts';

const client = as(sharedServer(), 'read_write');

/** Stores the contents in a category of their own and waits until each is found by the common word. */
async function stored(contents: readonly string[]): Promise<{ ids: string[]; find(keyword: string): Promise<string[]> }> {
  const [category, common] = [uniqueWord(), uniqueWord()];
  const ids = await storeAll(client, contents.map((content) => ({ content: `${content} ${common}`, metadata: { category } })));
  await eventually(async () => expect((await retrieve(client, { keyword: common, category })).total).toBe(contents.length));
  return { ids, find: async (keyword) => idsOf(await retrieve(client, { keyword, category })) };
}

const removed = (word: string, index: number) => word.slice(0, index) + word.slice(index + 1);
const added = (word: string, index: number) => `${word.slice(0, index)}w${word.slice(index)}`;
const swapped = (word: string, index: number) => word.slice(0, index) + word.charAt(index + 1) + word.charAt(index) + word.slice(index + 2);

clause('MEM-TYPO-001', 'decisions §8: a wrong, a missing and a superfluous letter in a word of 5 letters or more are tolerated', async () => {
  for (const letters of [5, 6, 8]) {
    const word = uniqueWord(letters);
    const { ids, find } = await stored([`The ${word} here.`]);
    expect(await find(word)).toEqual(ids);
    expect(await find(substituted(word, 2)), `wrong letter in ${letters}`).toEqual(ids);
    expect(await find(added(word, 2)), `superfluous letter in ${letters}`).toEqual(ids);
    if (letters > 5) expect(await find(removed(word, 2)), `missing letter in ${letters}`).toEqual(ids);
  }
});

clause('MEM-TYPO-002', 'decisions §8: two typos in a word of 9 letters or more are tolerated', async () => {
  for (const letters of [9, 11, 13]) {
    const word = uniqueWord(letters);
    const { ids, find } = await stored([`The ${word} here.`]);
    expect(await find(substituted(substituted(word, 3), 6)), `two wrong letters in ${letters}`).toEqual(ids);
    expect(await find(added(substituted(word, 3), 6)), `a wrong and a superfluous letter in ${letters}`).toEqual(ids);
    if (letters > 9) expect(await find(removed(substituted(word, 3), 6)), `a wrong and a missing letter in ${letters}`).toEqual(ids);
  }
});

clause('MEM-TYPO-003', 'decisions §8: the first letter may be the typo', async () => {
  const word = uniqueWord(8);
  const { ids, find } = await stored([`The ${word} here.`]);
  expect(await find(substituted(word, 0))).toEqual(ids);
});

clause('MEM-TYPO-004', 'decisions §8: two letters swapped are a typo', async () => {
  const word = uniqueWord(8);
  const { ids, find } = await stored([`The ${word} here.`]);
  expect(await find(swapped(word, 3))).toEqual(ids);
});

clause('MEM-TYPO-005', 'decisions §8: exact matches are preferred to near ones', async () => {
  const word = uniqueWord(8);
  const near = substituted(word, 3);
  const { ids, find } = await stored([`${near} `.repeat(10), `A longer sentence, in which the word ${word} occurs a single time among many others.`]);
  const [nearId, exactId] = ids;
  expect((await find(word))[0]).toBe(exactId);
  expect((await find(near))[0]).toBe(nearId);
});

clause('MEM-TYPO-006', 'decisions §8: every word of the query may have its typo', async () => {
  const [a, b] = [uniqueWord(7), uniqueWord(7)];
  const { ids, find } = await stored([`First ${a} then ${b}.`, `Only ${a} here.`]);
  expect(await find(`${substituted(a, 3)} ${substituted(b, 3)}`)).toEqual(ids);
});

clause('MEM-TYPO-007', 'decisions §8: real words with real typos', async () => {
  const { ids, find } = await stored(['The accommodation in Reykjavik was booked by the secretary.', 'Our refrigerator supplier delivers on Thursdays.']);
  for (const typo of ['accomodation', 'acommodation', 'Reykjavic', 'secretery', 'seceratary']) expect((await find(typo))[0], typo).toBe(ids[0]);
  for (const typo of ['refridgerator', 'suplier', 'delivrs']) expect((await find(typo))[0], typo).toBe(ids[1]);
});

clause('MEM-TYPO-008', 'decisions §8: more typos than allowed find nothing', async () => {
  const [short, long] = [uniqueWord(8), uniqueWord(11)];
  const { find } = await stored([`The ${short} and ${long}.`]);
  expect(await find([1, 3, 5].reduce(substituted, short))).toEqual([]);
  expect(await find([1, 3, 5, 7].reduce(substituted, long))).toEqual([]);
});
