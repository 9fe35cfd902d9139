import 'reflect-metadata';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { printSchemaWithDirectives } from '@graphql-tools/utils';
import { GraphQLScalarType, parse } from 'graphql';
import type { GraphQLSchema } from 'graphql';
import { buildSchema, createResolversMap, GraphQLISODateTime } from 'type-graphql';
import type { NonEmptyArray } from 'type-graphql';
import type { Subgraph } from './subgraph.ts';

const federation = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@shareable", "@inaccessible"])';

/** Where type-graphql keeps what the decorators said (its own accessor is not exported). */
interface DecoratorStorage {
  readonly objectTypes: { simpleResolvers?: boolean }[];
}

/** The scalar's own serializing copies and checks each date, which takes three times as long. */
const dateTime = new GraphQLScalarType({
  ...GraphQLISODateTime.toConfig(),
  serialize: (value) => (value instanceof Date ? value.toISOString() : GraphQLISODateTime.serialize(value)),
});

const unreachable = (): never => {
  throw new Error('A subgraph runs no subscriptions.');
};

/** A slice's classes as a Federation 2 subgraph: the schema to execute, and the text that composition reads. */
export async function buildSubgraph(subgraph: Subgraph): Promise<{ schema: GraphQLSchema; sdl: string }> {
  // Fields without a resolver of their own are read by graphql-js itself: type-graphql would wrap each in three closures and a middleware chain.
  const { objectTypes } = (globalThis as unknown as { TypeGraphQLMetadataStorage: DecoratorStorage }).TypeGraphQLMetadataStorage;
  for (const type of objectTypes) type.simpleResolvers ??= true;
  const plain = await buildSchema({
    resolvers: subgraph.resolvers as unknown as NonEmptyArray<new () => object>,
    orphanedTypes: [...(subgraph.orphanedTypes ?? [])] as unknown as (new () => object)[],
    // Subscriptions are in the schema for clients to read; the gateway runs them (gateway/subscriptions).
    pubSub: { publish: () => {}, subscribe: () => unreachable() },
    skipCheck: true,
    validate: false,
  });
  const sdl = `${federation}\n\n${printSchemaWithDirectives(plain)}\n`;
  const resolvers = createResolversMap(plain) as Record<string, Record<string, unknown> | GraphQLScalarType>;
  if (dateTime.name in resolvers) resolvers[dateTime.name] = dateTime;
  for (const [type, resolve] of Object.entries(subgraph.references)) {
    resolvers[type] = { ...resolvers[type], __resolveReference: resolve };
  }
  return { schema: buildSubgraphSchema([{ typeDefs: parse(sdl), resolvers: resolvers as never }]), sdl };
}

