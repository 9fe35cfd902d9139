// type-graphql's decorators need it before the first of them runs.
import 'reflect-metadata';
import type { Subgraph } from '#platform/subgraph/subgraph.ts';
import { Install } from './entities/install.ts';
import { Listing } from './entities/listing.ts';
import { Organization } from './entities/organization.ts';
import { marketplaceExports } from './exports.ts';
import { marketplaceMigration } from './migrations/0001-marketplace.ts';
import { listInstalls } from './operations/list-installs.ts';
import { listListings } from './operations/list-listings.ts';
import { loadInstall, loadListing, loadOrganization } from './references.ts';
import { ListingResolver } from './resolvers/listing.ts';
import { OrganizationResolver } from './resolvers/organization.ts';
import { seedMarketplace } from './seed.ts';

export const marketplace: Subgraph = {
  name: 'marketplace',
  entities: [Listing, Install],
  resolvers: [ListingResolver, OrganizationResolver],
  orphanedTypes: [Organization],
  references: { Listing: loadListing, Install: loadInstall, Organization: loadOrganization },
  operations: [listListings, listInstalls],
  migrations: [marketplaceMigration],
  exports: marketplaceExports,
  seed: seedMarketplace,
  openPorts: async () => ({ close: async () => {} }),
  jobs: () => [],
};
