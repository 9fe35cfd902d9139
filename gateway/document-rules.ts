import { maxAliasesRule } from '@escape.tech/graphql-armor-max-aliases';
import { maxDepthRule } from '@escape.tech/graphql-armor-max-depth';
import { GraphQLError, NoSchemaIntrospectionCustomRule } from 'graphql';
import type { ASTVisitor, ValidationContext, ValidationRule } from 'graphql';
import type { Config } from '#platform/config.ts';

/** A text of more tokens is not read to its end. */
export const documentTokensMax = 10_000;

/** A document without measure is a validation error among others, not a fault of ours. */
const reported = { propagateOnRejection: false, onReject: [(context: ValidationContext | null, error: GraphQLError) => context?.reportError(error)] };

const directivesMax = 50;

function maxDirectivesRule(context: ValidationContext): ASTVisitor {
  let count = 0;
  return {
    Directive: (node) => {
      count += 1;
      if (count === directivesMax + 1) context.reportError(new GraphQLError(`A document may hold at most ${directivesMax} directives.`, { nodes: node }));
    },
  };
}

/** What every document of a client must keep to, besides the specification; the same over HTTP and WebSocket. */
export const measureRules: readonly ValidationRule[] = [maxDepthRule({ n: 12, ...reported }), maxAliasesRule({ n: 30, ...reported }), maxDirectivesRule] as never;

export const allowsIntrospection = ({ introspection, nodeEnv }: Config): boolean => introspection ?? nodeEnv === 'development';

/** For whoever validates without Apollo Server, which has a switch of its own for introspection. */
export const documentRules = (config: Config): readonly ValidationRule[] => [...measureRules, ...(allowsIntrospection(config) ? [] : [NoSchemaIntrospectionCustomRule])];
