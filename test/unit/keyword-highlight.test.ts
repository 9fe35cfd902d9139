import { expect, test } from 'vitest';
import { highlight } from '../../subgraphs/memory/ports/keyword/highlight.ts';

const filler = 'Nothing to see on this page, please turn it over. ';

test('matched words are marked as they stand, everything else is escaped', () => {
  expect(highlight(`A <script> & "Café" or cafe\u0301, <em>fake</em>`, ['cafe'])).toEqual([
    'A &lt;script&gt; &amp; &quot;<em>Café</em>&quot; or <em>cafe\u0301</em>, &lt;em&gt;fake&lt;/em&gt;',
  ]);
});

test('words, not parts of words; an identifier in one piece', () => {
  expect(highlight('art party ERR-48213-X', ['art', 'err-48213-x', 'err', '48213', 'x'])).toEqual(['<em>art</em> party <em>ERR-48213-X</em>']);
});

test('scripts without spaces', () => {
  expect(highlight('これは東京都です', ['東京', '京都'])).toEqual(['これは<em>東京都</em>です']);
});

test('characters that fold to more or fewer keep their places', () => {
  expect(highlight('Ærøskøbing ﬁnal cafe\u0301s Straße zebra ½ yak', ['strasse', 'zebra', 'yak'])).toEqual(['Ærøskøbing ﬁnal cafe\u0301s <em>Straße</em> <em>zebra</em> ½ <em>yak</em>']);
});

test('in a long text: the place with most of the words first, each passage the text\'s own and short', () => {
  const content = `${filler.repeat(2000)}Here a zebra. ${filler.repeat(2000)}There the zebra and the yak. ${filler.repeat(2000)}`;
  const passages = highlight(content, ['zebra', 'yak']);
  expect(passages).toHaveLength(2);
  expect(passages[0]).toContain('There the <em>zebra</em> and the <em>yak</em>.');
  expect(passages[1]).toContain('Here a <em>zebra</em>.');
  for (const passage of passages) {
    const text = passage.replaceAll(/<\/?em>/g, '');
    expect(content).toContain(text);
    expect(text.length).toBeLessThanOrEqual(200);
    expect(content.split(/\s+/)).toEqual(expect.arrayContaining(text.split(/\s+/)));
  }
});

test('no match, no passage; unless the whole is asked for', () => {
  expect(highlight('Some text.', ['other'])).toEqual([]);
  expect(highlight('Some <text>.', [], { whole: true })).toEqual(['Some &lt;text&gt;.']);
  expect(highlight('', [], { whole: true })).toEqual([]);
});
