import { tableFile } from '#platform/exports/export-file.ts';

export const marketplaceExports = [tableFile({ name: 'marketplace/installs', from: 'marketplace.install', columns: 'id, slug, version, state, health, created_at, updated_at' })];
