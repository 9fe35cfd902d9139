// type-graphql's decorators need it before the first of them runs.
import 'reflect-metadata';
import type { Subgraph } from '#platform/subgraph/subgraph.ts';
import { Organization } from './entities/organization.ts';
import { System } from './entities/system.ts';
import { Track } from './entities/track.ts';
import { growthExports } from './exports.ts';
import { growthMigration } from './migrations/0001-growth.ts';
import { listTracks } from './operations/list-tracks.ts';
import { loadOrganization } from './references.ts';
import { OrganizationResolver } from './resolvers/organization.ts';
import { TrackResolver } from './resolvers/track.ts';
import { seedGrowth } from './seed.ts';

export const growth: Subgraph = {
  name: 'growth',
  entities: [System, Track],
  resolvers: [TrackResolver, OrganizationResolver],
  orphanedTypes: [Organization],
  references: { Organization: loadOrganization },
  operations: [listTracks],
  migrations: [growthMigration],
  exports: growthExports,
  seed: seedGrowth,
  openPorts: async () => ({ close: async () => {} }),
  jobs: () => [],
};
