import type { OperationDefinitionNode } from 'graphql';
import { parse } from 'graphql';
import { expect, test } from 'vitest';
import type { GraphOperation } from '../../gateway/pipeline.ts';
import { graphOperationOf } from '../../gateway/rate-limits/graph-operation.ts';

function counted(text: string): GraphOperation {
  const document = parse(text);
  return graphOperationOf(document, document.definitions.find((one): one is OperationDefinitionNode => one.kind === 'OperationDefinition')!);
}

test('a query and a subscription are a read, whatever they select', () => {
  expect(counted('{ a b c }')).toEqual({ kind: 'read', fields: [] });
  expect(counted('subscription { a }')).toEqual({ kind: 'read', fields: [] });
});

test('a mutation is as many writes as it has response names', () => {
  expect(counted('mutation { a { id } b { id } }').fields).toEqual(['a', 'b']);
  expect(counted('mutation { x: a { id } y: a { id } a { id } a { name } }').fields).toEqual(['a', 'a', 'a']);
});

test('fragments hide no field, and are entered once', () => {
  expect(counted('mutation { ... on Mutation { a } ... { b } ...F } fragment F on Mutation { c ...G } fragment G on Mutation { d }').fields).toEqual(['a', 'b', 'c', 'd']);
  const names = Array.from({ length: 40 }, (_, index) => `F${index}`);
  const doubling = names.map((name, index) => `fragment ${name} on Mutation { f${index} ${index < 39 ? `...F${index + 1} ...F${index + 1}` : ''} }`).join(' ');
  expect(counted(`mutation { ...F0 } ${doubling}`).fields).toHaveLength(40);
});
