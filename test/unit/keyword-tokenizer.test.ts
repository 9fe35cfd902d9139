import { expect, test } from 'vitest';
import { fold } from '../../subgraphs/memory/ports/keyword/fold.ts';
import { parseQuery } from '../../subgraphs/memory/ports/keyword/keyword-query.ts';
import { compoundsOf, partsOf, runsOf } from '../../subgraphs/memory/ports/keyword/tokenizer.ts';

test.each([
  ['Plain words, twice.', ['plain', 'words', 'twice'], []],
  ['Café CAFE\u0301 Ｃａｆｅ', ['cafe', 'cafe', 'cafe'], []],
  ['Straße Łódź İstanbul ﬁnal Ærø', ['strasse', 'lodz', 'istanbul', 'final', 'aero'], []],
  ['ERR-48213-X failed', ['err', '48213', 'x', 'failed'], ['err-48213-x']],
  ['foo_bar.baz', ['foo', 'bar', 'baz'], ['foo_bar.baz', 'foo_bar']],
  ['mail user@host.example now', ['mail', 'user', 'host', 'example', 'now'], ['user@host.example']],
  ['v2.10.3', ['v2', '10', '3'], ['v2.10.3']],
  ['/var/log/err-1-x.log', ['var', 'log', 'err', '1', 'x', 'log'], ['var/log/err-1-x.log', 'err-1-x']],
  ['std::vector https://a.b/c', ['std', 'vector', 'https', 'a', 'b', 'c'], ['std::vector', 'https://a.b/c']],
  ['東京都は tower', ['東京', '京都', '都は', 'は', 'tower'], []],
  ['हिन्दी русский 한국어', ['हिन्दी', 'русскии', '한국어'], []],
  ["don't", ['don', 't'], []],
  ['– … 👩‍🚀 !', [], []],
])('%s', (text, parts, compounds) => {
  const runs = runsOf(fold(text));
  expect(runs.flatMap(partsOf)).toEqual(parts);
  expect(runs.flatMap(compoundsOf)).toEqual(compounds);
});

test('a very long token is cut', () => {
  expect(partsOf('x'.repeat(1000))[0]).toHaveLength(100);
});

test('stop words count only among themselves', () => {
  expect(parseQuery('where is the printer').words.map(({ term }) => term)).toEqual(['printer']);
  expect(parseQuery('to be or not to be').words.map(({ term }) => term)).toEqual(['to', 'be', 'or', 'not']);
});

test('only closed quotes make a phrase', () => {
  expect(parseQuery('"error code" 42').words).toMatchObject([{ match: 'exact' }, { match: 'exact' }, { match: 'loose' }]);
  expect(parseQuery('say "error code').phrases).toEqual([]);
});

test.each([
  ['error code 42', 'An Error-Code: 42!', true],
  ['error code 42', 'error code 421', false],
  ['error code', 'code error', false],
  ['café au lait', 'CAFE AU LAIT', true],
  ['東京', 'これは東京都です', true],
])('the phrase "%s" in "%s": %s', (phrase, content, holds) => {
  expect(parseQuery(`"${phrase}"`).phrases[0]!.test(fold(content))).toBe(holds);
});
