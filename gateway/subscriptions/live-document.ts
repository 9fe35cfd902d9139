import { getArgumentValues, getVariableValues, Kind, OperationTypeNode, visit } from 'graphql';
import type { DocumentNode, FieldNode, FragmentDefinitionNode, GraphQLSchema, OperationDefinitionNode, SelectionSetNode, VariableDefinitionNode } from 'graphql';
import type { LiveField } from '#platform/subgraph/subgraph.ts';

/** The variable that names the entity in the query that a subscription becomes. */
export const entityVariable = 'liveEntity';

const named = (value: string) => ({ kind: Kind.NAME, value }) as const;

const entityDefinition: VariableDefinitionNode = {
  kind: Kind.VARIABLE_DEFINITION,
  variable: { kind: Kind.VARIABLE, name: named(entityVariable) },
  type: { kind: Kind.NON_NULL_TYPE, type: { kind: Kind.NAMED_TYPE, name: named('ID') } },
};

/** What a subscription asks for: one field, by the specification. The document is valid. */
export const rootFieldOf = (document: DocumentNode, operation: OperationDefinitionNode): FieldNode => rootFields(operation.selectionSet, fragmentsOf(document))[0]!;

export function argumentsOf(schema: GraphQLSchema, operation: OperationDefinitionNode, field: FieldNode, variables: Record<string, unknown>): Record<string, unknown> {
  const { errors, coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], variables);
  if (errors) throw errors[0]!;
  return getArgumentValues(schema.getSubscriptionType()!.getFields()[field.name.value]!, field, coerced);
}

/** `subscription { memoryProcessed(id: $x) { … } }` → `query ($liveEntity: ID!) { memoryProcessed: memory(id: $liveEntity) { … } }` */
export function asQuery(document: DocumentNode, operation: OperationDefinitionNode, { query, argument }: LiveField): DocumentNode {
  const fragments = fragmentsOf(document);
  const selections = rootFields(operation.selectionSet, fragments).map(
    (field): FieldNode => ({
      ...field,
      alias: named((field.alias ?? field.name).value),
      name: named(query),
      arguments: [{ kind: Kind.ARGUMENT, name: named(argument), value: { kind: Kind.VARIABLE, name: named(entityVariable) } }],
    }),
  );
  const used = { variables: new Set<string>(), fragments: new Map<string, FragmentDefinitionNode>() };
  for (const selection of selections) collect(selection, fragments, used);
  const root: OperationDefinitionNode = {
    kind: Kind.OPERATION_DEFINITION,
    operation: OperationTypeNode.QUERY,
    variableDefinitions: [...(operation.variableDefinitions ?? []).filter(({ variable }) => used.variables.has(variable.name.value)), entityDefinition],
    selectionSet: { kind: Kind.SELECTION_SET, selections },
  };
  return { kind: Kind.DOCUMENT, definitions: [root, ...used.fragments.values()] };
}

const fragmentsOf = ({ definitions }: DocumentNode): Map<string, FragmentDefinitionNode> =>
  new Map(definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one] as const] : [])));

/** The fields of the subscription's root, which are one field by the specification, wherever fragments hide them. */
const rootFields = ({ selections }: SelectionSetNode, fragments: ReadonlyMap<string, FragmentDefinitionNode>): FieldNode[] =>
  selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return selection;
    return rootFields(selection.kind === Kind.INLINE_FRAGMENT ? selection.selectionSet : fragments.get(selection.name.value)!.selectionSet, fragments);
  });

interface Used {
  readonly variables: Set<string>;
  readonly fragments: Map<string, FragmentDefinitionNode>;
}

function collect(node: FieldNode | FragmentDefinitionNode, fragments: ReadonlyMap<string, FragmentDefinitionNode>, used: Used): void {
  visit(node, {
    Variable: ({ name }) => void used.variables.add(name.value),
    FragmentSpread: ({ name }) => {
      const fragment = fragments.get(name.value)!;
      if (used.fragments.has(name.value)) return;
      used.fragments.set(name.value, fragment);
      collect(fragment, fragments, used);
    },
  });
}
