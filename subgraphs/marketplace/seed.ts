import type { EntityManager } from '@mikro-orm/core';
import { query } from '#platform/database/query.ts';
import { newId } from '#platform/ids.ts';
import type { Demo } from '#platform/subgraph/subgraph.ts';
import { BillingInterval, PricingModel } from './entities/pricing.ts';
import type { Pricing } from './entities/pricing.ts';

const free: Pricing = { model: PricingModel.FREE, amount: 0, currency: null, interval: null, trial_days: 0, pausable: false };

const catalogue = [
  {
    slug: 'meeting-minutes',
    name: 'Meeting Minutes',
    tagline: 'Decisions and owners, remembered after every call.',
    description: 'Reads the transcript of a meeting, stores each decision with its owner and due date as a memory object, and links it to what was decided before on the same matter.',
    publisher_name: 'Quadrivium Labs',
    latest_version: '1.4.2',
    pricing: free,
  },
  {
    slug: 'contract-radar',
    name: 'Contract Radar',
    tagline: 'Renewal dates and notice periods before they pass.',
    description: 'Watches the contracts in a vault for renewal dates, notice periods and price clauses, and reminds the owner of each in time to act. Every reminder quotes the clause it rests on.',
    publisher_name: 'Clausewise',
    latest_version: '2.1.0',
    pricing: { model: PricingModel.SUBSCRIPTION, amount: 4900, currency: 'EUR', interval: BillingInterval.MONTH, trial_days: 14, pausable: true },
  },
  {
    slug: 'support-answers',
    name: 'Support Answers',
    tagline: 'Draft replies from what your team already knows.',
    description: 'Drafts an answer to each incoming ticket from resolved tickets and product notes, with the sources beside it. A person sends it; what they change is remembered for the next one.',
    publisher_name: 'Harbor Desk',
    latest_version: '0.9.3',
    pricing: { model: PricingModel.SUBSCRIPTION, amount: 58800, currency: 'USD', interval: BillingInterval.YEAR, trial_days: 30, pausable: false },
  },
] satisfies { pricing: Pricing; [text: string]: unknown }[];

export async function seedMarketplace(em: EntityManager, { now }: Demo): Promise<void> {
  await query(
    em,
    `insert into marketplace.listing (id, slug, name, tagline, description, publisher_name, latest_version, pricing, approved_at, created_at, updated_at)
     select id, slug, name, tagline, description, publisher_name, latest_version, pricing, $2::timestamptz, $2, $2
       from jsonb_to_recordset($1::jsonb) as row(id text, slug text, name text, tagline text, description text, publisher_name text, latest_version text, pricing jsonb)
         on conflict (slug) do nothing`,
    [JSON.stringify(catalogue.map((listing) => ({ id: newId('listing'), ...listing }))), now],
  );
}
