import type { Subgraph } from '#platform/subgraph/subgraph.ts';
import { growth } from './growth/index.ts';
import { learning } from './learning/index.ts';
import { marketplace } from './marketplace/index.ts';
import { memory } from './memory/index.ts';

/** The areas, in the order of the interface. */
export const subgraphs: readonly Subgraph[] = [memory, marketplace, learning, growth] as unknown as readonly Subgraph[];
