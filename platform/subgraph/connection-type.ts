import { Directive, Field, Int, ObjectType } from 'type-graphql';
import type { ClassType } from 'type-graphql';
import type { Page } from '../page.ts';

@ObjectType()
@Directive('@shareable')
export class PageInfo {
  @Field(() => Boolean)
  hasNextPage!: boolean;

  @Field(() => Boolean)
  hasPreviousPage!: boolean;

  @Field(() => String, { nullable: true })
  startCursor!: string | null;

  @Field(() => String, { nullable: true })
  endCursor!: string | null;
}

/** The Relay connection of a type: `<Name>Connection` with edges, page information and a best-effort total. */
export function connectionType<Node extends object>(name: string, node: ClassType<Node>): ClassType<Page<Node>> {
  @ObjectType(`${name}Edge`)
  class Edge {
    @Field(() => node)
    node!: Node;

    @Field(() => String)
    cursor!: string;
  }

  @ObjectType(`${name}Connection`)
  class Connection {
    @Field(() => [Edge])
    edges!: Page<Node>['edges'];

    @Field(() => PageInfo)
    pageInfo!: Page<Node>['pageInfo'];

    // Not simple: a promise, which compiled documents await only from resolvers.
    @Field(() => Int, { simple: false, description: 'Best effort: may lag a second or two.' })
    approximateTotal!: Promise<number>;
  }
  return Connection;
}
