import type { EntityManager } from '@mikro-orm/core';
import { query } from '#platform/database/query.ts';
import type { Demo } from '#platform/subgraph/subgraph.ts';

export async function seedGrowth(em: EntityManager, { organizationId, now }: Demo): Promise<void> {
  await query(
    em,
    `with made as (
       insert into growth.system (organization_id, name)
       select $1, $2 where not exists (select 1 from growth.system where organization_id = $1 and name = $2)
       returning id
     )
     insert into growth.track (organization_id, system_id, name, state, created_at) select $1, id, $3, 'draft', $4::timestamptz from made`,
    [organizationId, 'Ambassador programme', 'From first story to first referral', now],
  );
}
