import { getOperationAST, parse, print } from 'graphql';
import { expect, test } from 'vitest';
import { MemoryProcessedDocument } from '#schema/generated/documents.ts';
import { asQuery } from '../../gateway/subscriptions/live-document.ts';
import { memoryLive } from '../../subgraphs/memory/events.ts';

const field = memoryLive['memoryProcessed']!;
const rewritten = (text: string): string => {
  const document = parse(text);
  return print(asQuery(document, getOperationAST(document)!, field)).replace(/\s+/g, ' ');
};

test('a subscription becomes its query, about the entity that the event names', () => {
  expect(rewritten(print(MemoryProcessedDocument))).toBe(
    'query ($liveEntity: ID!) { memoryProcessed: memory(id: $liveEntity) { id processing { embeddingStatus entityExtractionStatus entities } } }',
  );
});

test('aliases, directives, fragments and the variables that are still used stay', () => {
  const text = `subscription Named($id: ID!, $show: Boolean!, $first: Int) { ...Root }
    fragment Root on Subscription { ... { done: memoryProcessed(id: $id) { ...Shown status @include(if: $show) } } }
    fragment Shown on MemoryObject { id workspace { ...Space } }
    fragment Space on Workspace { memories(first: $first) { approximateTotal } }`;
  expect(rewritten(text)).toBe(
    'query ($show: Boolean!, $first: Int, $liveEntity: ID!) { done: memory(id: $liveEntity) { ...Shown status @include(if: $show) } } ' +
      'fragment Shown on MemoryObject { id workspace { ...Space } } fragment Space on Workspace { memories(first: $first) { approximateTotal } }',
  );
});
