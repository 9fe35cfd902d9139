import type { Database } from '../database/database.ts';
import { query } from '../database/query.ts';
import { transaction } from '../database/transaction.ts';
import { chainedColumns, hashOf, noHash } from './chain.ts';
import type { ChainedEntry } from './chain.ts';

/** Few enough that the embedded database's one session is not held for long: some 20 ms. */
const entriesMax = 1000;

/**
 * Gives new entries their place in their organization's chain. Chaining each in the command that wrote it would make all
 * writers of an organization wait for one another; so it is done a moment later, here, by one process at a time (an
 * exclusive job). Answers true when there is more.
 */
export async function sealAudit(database: Database): Promise<boolean> {
  const unsealed = await database.execute<ChainedEntry & { id: number }>(`select id, ${chainedColumns} from platform.audit_entry where sequence is null order by id limit ${entriesMax}`);
  if (unsealed.length === 0) return false;
  await transaction(database.orm.em.fork(), async (em) => {
    const organizations = [...new Set(unsealed.map(({ organization_id: id }) => id))];
    const known = await query<Head>(em, 'select organization_id, sequence, hash from platform.audit_head where organization_id = any($1) for update', [organizations]);
    const heads = new Map(known.map((head) => [head.organization_id, head]));
    const sealed = unsealed.map((entry) => {
      const { sequence, hash } = heads.get(entry.organization_id) ?? { sequence: 0, hash: noHash };
      const head = { organization_id: entry.organization_id, sequence: sequence + 1, hash: hashOf(hash, sequence + 1, entry) };
      heads.set(entry.organization_id, head);
      return { id: entry.id, sequence: head.sequence, hash: head.hash.toString('hex') };
    });
    await query(em, seal, [JSON.stringify(sealed)]);
    await query(em, moveHeads, [JSON.stringify([...heads.values()].map((head) => ({ ...head, hash: head.hash.toString('hex') })))]);
  });
  return unsealed.length === entriesMax;
}

interface Head {
  readonly organization_id: string;
  readonly sequence: number;
  readonly hash: Buffer;
}

const seal = `
  update platform.audit_entry set sequence = sealed.sequence, hash = decode(sealed.hash, 'hex')
    from jsonb_to_recordset($1::jsonb) as sealed(id bigint, sequence bigint, hash text) where audit_entry.id = sealed.id`;

const moveHeads = `
  insert into platform.audit_head (organization_id, sequence, hash)
  select organization_id, sequence, decode(hash, 'hex') from jsonb_to_recordset($1::jsonb) as head(organization_id text, sequence bigint, hash text)
  on conflict (organization_id) do update set sequence = excluded.sequence, hash = excluded.hash`;
