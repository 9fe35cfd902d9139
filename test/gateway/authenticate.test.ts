import { expect, test } from 'vitest';
import { systemClock } from '#platform/clock.ts';
import { readConfig } from '#platform/config.ts';
import { migrate } from '#platform/database/migrator.ts';
import { createAuthenticator } from '../../gateway/identity/authenticate.ts';
import { identityMigration } from '../../gateway/identity/migrations/0001-identity.ts';
import { digestOf, newToken } from '../../gateway/identity/tokens.ts';
import { openTestDatabase } from '../platform/open-test-database.ts';

test('a credential that was looked up while something changed is not remembered', async () => {
  const database = await openTestDatabase();
  await migrate(database, [identityMigration]);
  const key = newToken('qk');
  await database.execute(`insert into identity.organization (id, name, plan, created_at) values ('org_a', 'A', 'free', now())`);
  await database.execute(`insert into identity.vault (id, organization_id, name, created_at) values ('vlt_a', 'org_a', 'A', now())`);
  await database.execute(`insert into identity.workspace (id, organization_id, vault_id, name, is_default, created_at) values ('wsp_a', 'org_a', 'vlt_a', 'A', true, now())`);
  await database.execute(
    `insert into identity.api_key (id, organization_id, vault_id, workspace_id, name, level, service_account, prefix, digest, created_at)
     values ('key_a', 'org_a', 'vlt_a', 'wsp_a', 'A', 'read-only', false, 'qk_', $1, now())`,
    [digestOf(key)],
  );
  const authenticator = createAuthenticator(database, systemClock, readConfig({}), {} as never);
  const headers = { authorization: `Bearer ${key}` };

  await authenticator.authenticate(headers);
  expect(authenticator.knows(headers)).toBe(true);

  authenticator.forget();
  const underWay = authenticator.authenticate(headers);
  authenticator.forget();
  expect(await underWay).toMatchObject({ credentialId: 'key_a' });
  expect(authenticator.knows(headers)).toBe(false);
  await database.close();
});
