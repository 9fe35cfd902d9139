import { expect } from 'vitest';
import { as } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { eventually, whenProcessed } from '../harness/eventually.ts';
import { retrieve, store } from '../harness/memory.ts';
import { sharedServer } from '../harness/shared-server.ts';
import { substituted, uniqueWord } from '../harness/words.ts';

const client = as(sharedServer(), 'read_write');

const named: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };
const unescaped = (html: string): string =>
  html.replaceAll(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex?: string, decimal?: string, name?: string) =>
    hex !== undefined ? String.fromCodePoint(parseInt(hex, 16)) : decimal !== undefined ? String.fromCodePoint(Number(decimal)) : (named[name ?? ''] ?? whole),
  );
const textOf = (highlight: string): string => unescaped(highlight.replaceAll(/<\/?em>/g, ''));

async function highlightsOf(content: string, parameters: Record<string, string>): Promise<string[]> {
  const category = uniqueWord();
  const { id } = await store(client, { content, metadata: { category } });
  await whenProcessed(client, id);
  const { results } = await eventually(async () => {
    const answer = await retrieve(client, { ...parameters, category });
    expect(answer.results.map((item) => item.id)).toEqual([id]);
    return answer;
  });
  const highlights = results[0]!.highlights;
  for (const highlight of highlights) {
    expect(highlight.replaceAll(/<\/?em>/g, ''), 'nothing but <em> is markup').not.toMatch(/[<>]/);
    expect(content, 'a passage of the object\'s own text').toContain(textOf(highlight));
  }
  return highlights;
}

clause('MEM-HIGHLIGHT-001', 'interface §2.1: keyword hits wrap each matched term in <em>', async () => {
  const [a, b] = [uniqueWord(), uniqueWord()];
  const highlights = (await highlightsOf(`Here is ${a} beside ${b}, in one sentence.`, { keyword: `${a} ${b}` })).join('\n');
  expect(highlights).toContain(`<em>${a}</em>`);
  expect(highlights).toContain(`<em>${b}</em>`);
  expect(highlights).not.toMatch(/<em>[^<]*(Here|beside|sentence)/);
});

clause('MEM-HIGHLIGHT-002', 'decisions §8: highlights are HTML-escaped: markup of the content is text', async () => {
  const word = uniqueWord();
  const highlights = await highlightsOf(`A <script>alert("1")</script> & <em>fake</em> ${word} &lt;b&gt; <img src=x onerror='y'> end`, { keyword: word });
  expect(highlights.length).toBeGreaterThan(0);
  expect(highlights.join('\n')).toContain(`<em>${word}</em>`);
  expect(highlights.join('\n')).not.toContain('<em>fake</em>');
});

clause('MEM-HIGHLIGHT-003', 'decisions §8: a semantic hit shows its best passage', async () => {
  const filler = (topic: string) => `The ${topic} committee met on Tuesday and approved the minutes of its previous meeting without changes. `.repeat(40);
  const fact = 'Whales communicate over hundreds of kilometres by low-frequency songs.';
  const highlights = await highlightsOf(`${filler('budget')}${fact} ${filler('parking')}${uniqueWord()}`, { q: 'how do sea mammals talk to each other across the ocean', mode: 'semantic' });
  expect(highlights.map(textOf).join('\n')).toContain('Whales');
});

clause('MEM-HIGHLIGHT-004', 'decisions §8: a word found in spite of a typo is highlighted as it stands in the text', async () => {
  const word = uniqueWord();
  expect((await highlightsOf(`Typos find ${word} too.`, { keyword: substituted(word, 4) })).join('\n')).toContain(`<em>${word}</em>`);
});

clause('MEM-HIGHLIGHT-005', 'decisions §8: in long content the highlight shows the place of the match', async () => {
  const word = uniqueWord();
  const filler = 'Nothing to see on this page of the handbook, please turn it over. '.repeat(800);
  const highlights = await highlightsOf(`${filler}${word} hides here. ${filler}`, { keyword: word });
  expect(highlights.join('\n')).toContain(`<em>${word}</em>`);
});

clause('MEM-HIGHLIGHT-006', 'decisions §8: hybrid hits are highlighted too', async () => {
  const word = uniqueWord();
  expect((await highlightsOf(`Hybrid ${word} hit.`, { q: word, mode: 'hybrid' })).join('\n')).toContain(`<em>${word}</em>`);
});
