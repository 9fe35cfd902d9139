import model from 'wink-eng-lite-web-model';
import winkNLP from 'wink-nlp';
import type { Detail } from 'wink-nlp';
import { cutPassages } from '../embedder/cut-passages.ts';

const ENTITIES_MAX = 100;
const ENTITY_LENGTH_MAX = 100;
const TYPES = new Set(['DATE', 'EMAIL', 'MONEY', 'URL']);

/** Read piece by piece, to stop soon after the hundredth entity. The pieces overlap, so that no name is lost at a cut. */
const PIECE_LENGTH_MAX = 4_000;

/** Encoded data and the like, where wink-nlp takes cubic time (`http://` 570 times on end: 0.9 s) and finds nothing. */
const ENDLESS_WORD = /\S{200,}/g;

/** Loads the language model, and gives the function behind `EntityExtractor.extract`. */
export function loadEntities(): (content: string) => string[] {
  const nlp = winkNLP(model, ['sbd', 'pos', 'ner']);
  const { detail, pos, precedingSpaces, span, value } = nlp.its;

  function* entitiesOf(piece: string): Generator<string> {
    const document = nlp.readDoc(piece);
    const words = document.tokens().out(value);
    const spaces = document.tokens().out(precedingSpaces);
    const isName = document.tokens().out(pos).map((tag) => tag === 'PROPN');
    const details = document.entities().out(detail) as Detail[];
    const spans = document.entities().out(span) as unknown as [first: number, last: number][];
    const typed = new Map(spans.map((ends, index) => [ends[0], { last: ends[1], ...details[index]! }]));

    /** As in "Jean-Luc" and "Bank of America". */
    const joinsNames = (at: number): boolean =>
      isName[at + 1] === true && (words[at] === 'of' || (words[at] === '-' && spaces[at] === '' && spaces[at + 1] === ''));

    for (let at = 0; at < words.length; at += 1) {
      const entity = typed.get(at);
      if (entity !== undefined && TYPES.has(entity.type)) {
        yield entity.value;
        at = entity.last;
      } else if (isName[at]) {
        let name = words[at]!;
        while (!typed.has(at + 1) && (isName[at + 1] || joinsNames(at + 1))) {
          at += 1;
          name += (spaces[at] && ' ') + words[at]!;
        }
        yield name;
      }
    }
  }

  return (content) => {
    const text = content.replace(ENDLESS_WORD, ' ');
    const entities = new Set<string>();
    for (const { start, end } of cutPassages(text, (word) => word, PIECE_LENGTH_MAX)) {
      for (const found of entitiesOf(text.slice(start, end))) {
        const entity = found.replace(/[\p{P}\s]+$/u, '');
        if (/\p{L}{2}|\p{N}/u.test(entity) && entity.length <= ENTITY_LENGTH_MAX) entities.add(entity);
        if (entities.size === ENTITIES_MAX) return [...entities];
      }
    }
    return [...entities];
  };
}
