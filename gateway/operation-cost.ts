import { getArgumentValues, getNamedType, getNullableType, getVariableValues, isCompositeType, isListType, isObjectType, Kind } from 'graphql';
import type { DocumentNode, FragmentDefinitionNode, GraphQLSchema, OperationDefinitionNode, SelectionSetNode } from 'graphql';
import { DomainError } from '#platform/errors.ts';

/** What a list holds when the caller does not say: a page by default, or a short list. */
const pageSize = 25;
const listSize = 10;
/** No list gives more at once. */
const sizeMax = 1000;

/** Relay's wrappers cost nothing; what they hold does. */
const free = new Set(['edges', 'node', 'pageInfo', 'cursor']);

/**
 * How many fields an operation can answer at most: each field counts one, times the sizes of the lists around it, as far as
 * the caller asks for them. (The ready-made rules do not know sizes: to them ten objects are as dear as a million.)
 */
export function costOf(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode, variables: Record<string, unknown>): number {
  const fragments = new Map(document.definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one] as const] : [])));
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], variables);
  // Fragments within fragments must not cost more to judge than they are long.
  const known = new Map<FragmentDefinitionNode, number>();

  const ofSelections = ({ selections }: SelectionSetNode, typeName: string): number =>
    selections.reduce((sum, selection) => {
      if (selection.kind === Kind.INLINE_FRAGMENT) return sum + ofSelections(selection.selectionSet, selection.typeCondition?.name.value ?? typeName);
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const fragment = fragments.get(selection.name.value)!;
        const cost = known.get(fragment) ?? ofSelections(fragment.selectionSet, fragment.typeCondition.name.value);
        known.set(fragment, cost);
        return sum + cost;
      }
      const type = schema.getType(typeName);
      const field = isObjectType(type) ? type.getFields()[selection.name.value] : undefined;
      // Introspection is allowed or it is not; a document that says nonsense is refused elsewhere.
      if (field === undefined) return sum;
      const inner = getNamedType(field.type);
      const children = selection.selectionSet && isCompositeType(inner) ? ofSelections(selection.selectionSet, inner.name) : 0;
      const args = coerced === undefined ? {} : argumentsOf(field, selection, coerced);
      const byDefault = inner.name.endsWith('Connection') ? pageSize : isListType(getNullableType(field.type)) && !free.has(field.name) ? listSize : 1;
      return sum + (free.has(field.name) ? 0 : 1) + sizeOf(args, byDefault) * children;
    }, 0);

  return ofSelections(operation.selectionSet, schema.getRootType(operation.operation)!.name);
}

/** Null where a value must be: whoever runs the field says so. */
function argumentsOf(...given: Parameters<typeof getArgumentValues>): ReturnType<typeof getArgumentValues> {
  try {
    return getArgumentValues(...given);
  } catch {
    return {};
  }
}

function sizeOf(args: Readonly<Record<string, unknown>>, byDefault: number): number {
  const { first, last, limit, input } = args;
  // With `before` a page goes by `last`, else by `first`: who gives both pays for the larger.
  const asked = [first, last, limit, (input as { limit?: unknown } | null | undefined)?.limit].filter((size) => typeof size === 'number');
  return asked.length > 0 ? Math.min(Math.max(0, ...asked), sizeMax) : byDefault;
}

export function refusedCost(cost: number, max: number): DomainError | null {
  if (cost <= max) return null;
  const message = `The operation can answer ${cost} fields; at most ${max} are allowed. Ask for smaller pages or fewer nested lists.`;
  return new DomainError('validation_error', message, { details: [{ path: '', message }] });
}
