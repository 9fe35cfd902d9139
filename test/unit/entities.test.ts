import { afterAll, describe, expect, it } from 'vitest';
import { WinkEntityExtractor } from '../../subgraphs/memory/ports/entity-extractor/wink.ts';

const extractor = new WinkEntityExtractor();
afterAll(() => extractor.close());

async function entitiesOf(content: string): Promise<string[]> {
  const [entities] = await extractor.extract([content]);
  return entities!;
}

describe('entities', () => {
  it('are names, dates, amounts, addresses and links, in order of first appearance', async () => {
    expect(
      await entitiesOf(
        `Ada Lovelace met Charles Babbage in London on 5 June 1833. Bank of America paid $4.5 million to Jane O'Neil
         (jane@example.com), see https://acme.example/deal?id=3. Jean-Luc Picard thanked Ada Lovelace.`,
      ),
    ).toEqual([
      'Ada Lovelace',
      'Charles Babbage',
      'London',
      '5 June 1833',
      'Bank of America',
      '$4.5 million',
      "Jane O'Neil",
      'jane@example.com',
      'https://acme.example/deal?id=3',
      'Jean-Luc Picard',
    ]);
  });

  it('are none in plain or blank text', async () => {
    expect(await entitiesOf('the deployment failed because the cache was cold')).toEqual([]);
    expect(await entitiesOf(' \n')).toEqual([]);
  });

  it('belong to the content that they were found in', async () => {
    expect(await extractor.extract(['Alice lives here.', 'nobody does', 'Bob left.'])).toEqual([['Alice'], [], ['Bob']]);
  });

  it('are at most 100, of at most 100 characters', async () => {
    const long = `https://example.com/${'a'.repeat(100)}`;
    const many = Array.from({ length: 300 }, (_, n) => `Write to user${n}@example.com.`).join(' ');
    const entities = await entitiesOf(`${long} ${many}`);
    expect(entities).toHaveLength(100);
    expect(entities[0]).toBe('user0@example.com');
  });

  it('are found at the end of 1 MB', async () => {
    expect(await entitiesOf(`${'the rain went on and on. '.repeat(42_000)} Then Grace Hopper came.`)).toEqual(['Grace Hopper']);
  });

  it('do not take long in text made to be slow', async () => {
    const from = performance.now();
    await entitiesOf('http://'.repeat(150_000));
    expect(performance.now() - from).toBeLessThan(2_000);
  });
});
