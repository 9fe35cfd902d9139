import { Kind } from 'graphql';
import type { DocumentNode, OperationDefinitionNode, SelectionSetNode } from 'graphql';
import type { GraphOperation } from '../pipeline.ts';

/** A query or a subscription is a read; a mutation is as many writes as it has fields, wherever fragments hide them. */
export function graphOperationOf(document: DocumentNode, { operation, selectionSet }: OperationDefinitionNode): GraphOperation {
  if (operation !== 'mutation') return { kind: 'read', fields: [] };
  const fragments = new Map(document.definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one.selectionSet] as const] : [])));
  // By response name, as execution merges them; a fragment is entered once, so that fragments in fragments cost no more than they are long.
  const fields = new Map<string, string>();
  const entered = new Set<string>();
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) fields.set((selection.alias ?? selection.name).value, selection.name.value);
      else if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet);
      else if (!entered.has(selection.name.value)) {
        entered.add(selection.name.value);
        const fragment = fragments.get(selection.name.value);
        if (fragment !== undefined) collect(fragment);
      }
    }
  };
  collect(selectionSet);
  return { kind: 'write', fields: [...fields.values()] };
}
