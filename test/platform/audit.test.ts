import { afterAll, beforeAll, expect, test } from 'vitest';
import { auditMigration } from '#platform/audit/migration.ts';
import { auditEntry, recordAudit } from '#platform/audit/record-audit.ts';
import { sealAudit } from '#platform/audit/seal-audit.ts';
import { verifyAudit } from '#platform/audit/verify-audit.ts';
import type { Database } from '#platform/database/database.ts';
import { migrate } from '#platform/database/migrator.ts';
import { platformMigration } from '#platform/migrations/0001-platform.ts';
import { userOf } from '../harness/slice.ts';
import { openTestDatabase } from './open-test-database.ts';

let database: Database;
let organizations = 0;

beforeAll(async () => {
  database = await openTestDatabase([]);
  await migrate(database, [platformMigration, auditMigration]);
});
afterAll(() => database.close());

const em = () => database.orm.em.fork();

async function record(organizationId: string, count: number): Promise<void> {
  const ctx = { principal: userOf({ organizationId }), requestId: 'request', client: { address: '192.0.2.1', userAgent: 'Ä "quoted"\nagent' } };
  const entries = Array.from({ length: count }, (_, index) => auditEntry(ctx, { operation: 'storeMemory', subjectIds: [`mem_${index}`, 'mem_,{}"'] }));
  await recordAudit(em(), entries, new Date('2026-03-01T12:00:00.123Z'));
}

/** A chain of ten, sealed. */
async function chain(): Promise<string> {
  const organizationId = `org_${(organizations += 1)}`;
  await record(organizationId, 10);
  while (await sealAudit(database));
  expect(await verifyAudit(em(), organizationId)).toMatchObject({ valid: true, entriesSealed: 10, entriesUnsealed: 0, headSequence: 10, firstInvalid: null });
  return organizationId;
}

/** As somebody who owns the database would do it. */
async function tamper(statement: string, params: unknown[]): Promise<void> {
  await database.execute('alter table platform.audit_entry disable trigger all');
  await database.execute(statement, params);
  await database.execute('alter table platform.audit_entry enable trigger all');
}

test('entries are sealed in order, chain by chain, and more than one portion of them', async () => {
  await record('org_many_a', 1500);
  await record('org_many_b', 700);
  expect(await verifyAudit(em(), 'org_many_a')).toMatchObject({ valid: true, entriesSealed: 0, entriesUnsealed: 1500 });
  let portions = 1;
  while (await sealAudit(database)) portions += 1;
  expect(portions).toBe(3);
  const a = await verifyAudit(em(), 'org_many_a');
  expect(a).toMatchObject({ valid: true, entriesSealed: 1500, entriesUnsealed: 0, headSequence: 1500 });
  const b = await verifyAudit(em(), 'org_many_b');
  expect(b).toMatchObject({ valid: true, entriesSealed: 700 });
  expect(a.headHash).not.toBe(b.headHash);
  expect(await verifyAudit(em(), 'org_none')).toMatchObject({ valid: true, entriesSealed: 0, headHash: '0'.repeat(64) });
});

test.for([
  ['organization_id', "'org_other'"],
  ['actor_kind', "'oauth'"],
  ['credential_id', "'ses_b'"],
  ['user_id', 'null'],
  ['operation', "'deleteMemory'"],
  ['subject_ids', "array['mem_9']"],
  ['outcome', "'permission_denied'"],
  ['request_id', "'another'"],
  ['address', "'192.0.2.2'"],
  ['user_agent', 'null'],
  ['created_at', "created_at + interval '1 millisecond'"],
  ['hash', "sha256('x')"],
])('a changed %s is found', async ([column, value]) => {
  const organizationId = await chain();
  await tamper(`update platform.audit_entry set ${column} = ${value} where organization_id = $1 and sequence = 4`, [organizationId]);
  expect(await verifyAudit(em(), organizationId)).toMatchObject({ valid: false, firstInvalid: 4 });
});

test('a missing entry is found', async () => {
  const organizationId = await chain();
  await tamper('delete from platform.audit_entry where organization_id = $1 and sequence = 6', [organizationId]);
  expect(await verifyAudit(em(), organizationId)).toMatchObject({ valid: false, firstInvalid: 6 });
});

test('two entries that changed places are found', async () => {
  const organizationId = await chain();
  await tamper('update platform.audit_entry set sequence = -sequence where organization_id = $1 and sequence in (2, 3)', [organizationId]);
  await tamper('update platform.audit_entry set sequence = case sequence when -2 then 3 else 2 end where organization_id = $1 and sequence < 0', [organizationId]);
  expect(await verifyAudit(em(), organizationId)).toMatchObject({ valid: false, firstInvalid: 2 });
});

test('a tail that was cut off is found by the head', async () => {
  const organizationId = await chain();
  await tamper('delete from platform.audit_entry where organization_id = $1 and sequence > 8', [organizationId]);
  expect(await verifyAudit(em(), organizationId)).toMatchObject({ valid: false, firstInvalid: 9 });
});

test('a chain that was computed anew from a changed entry on differs from the head', async () => {
  const organizationId = await chain();
  await tamper("update platform.audit_entry set outcome = 'changed', sequence = null, hash = null where organization_id = $1 and sequence = 10", [organizationId]);
  expect(await verifyAudit(em(), organizationId)).toMatchObject({ valid: false, firstInvalid: 10 });
});

test('the database itself refuses to change, delete or truncate', async () => {
  const organizationId = await chain();
  const refused = { message: 'The audit log is append-only.' };
  await expect(database.execute("update platform.audit_entry set outcome = 'x' where organization_id = $1", [organizationId])).rejects.toMatchObject(refused);
  await expect(database.execute('delete from platform.audit_entry where organization_id = $1', [organizationId])).rejects.toMatchObject(refused);
  await expect(database.execute('truncate platform.audit_entry')).rejects.toMatchObject(refused);
  await record(organizationId, 1);
  await expect(database.execute("update platform.audit_entry set outcome = 'x', sequence = 11, hash = sha256('x') where organization_id = $1 and sequence is null", [organizationId])).rejects.toMatchObject(refused);
});
