import { authorize } from '#platform/requirements.ts';
import type { Requirement } from '#platform/requirements.ts';
import { DomainError } from '#platform/errors.ts';
import { scopes } from '#platform/principal.ts';
import type { Level, Principal } from '#platform/principal.ts';
import type { OperationFacts } from '#platform/operation.ts';

const clock = { now: () => new Date(0) };

const principal = (varied: Partial<Principal>): Principal => ({
  kind: 'session', credentialId: 'ses_1', userId: 'usr_1', publisherId: null, organizationId: 'org_1', plan: 'business', organizationRole: null,
  vaultId: 'vlt_1', workspaceId: 'wsp_1', access: {}, scopes: null, isServiceAccount: false, steppedUpUntilMs: null,
  ...varied,
});
const key = (level: Level): Principal => principal({ kind: 'api_key', userId: null, access: { wsp_1: level } });
const session = (level: Level, varied: Partial<Principal> = {}): Principal => principal({ access: { wsp_1: level }, ...varied });

/** One of each credential, in the order of the matrix's columns. */
const credentials: Readonly<Record<string, Principal | null>> = {
  nobody: null,
  'key read-only': key('read'),
  'key read-write': key('write'),
  'key admin': key('admin'),
  publisher: principal({ kind: 'publisher', publisherId: 'pub_1' }),
  viewer: session('read'),
  editor: session('write'),
  admin: session('admin'),
  architect: session('admin', { organizationRole: 'architect' }),
  sovereign: session('admin', { organizationRole: 'sovereign' }),
  'admin + code': session('admin', { steppedUpUntilMs: 1 }),
  'architect + code': session('admin', { organizationRole: 'architect', steppedUpUntilMs: 1 }),
  'OAuth memory.read': session('read', { kind: 'oauth', organizationRole: 'architect', scopes: ['memory.read'] }),
  'OAuth all scopes': session('write', { kind: 'oauth', organizationRole: 'architect', scopes }),
};

const outcome = (requires: Requirement, who: Principal | null): string => {
  try {
    authorize(requires, who, clock);
    return '✓';
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return error.code === 'totp_required' ? 'code' : String(error.status);
  }
};

/** Every operation with every credential, by what the requirements themselves decide. */
export function accessMatrix(slices: readonly { readonly name: string; readonly operations: readonly { readonly facts: OperationFacts }[] }[]): string {
  const columns = Object.keys(credentials);
  return [
    '# Who may do what',
    '',
    'Printed by `npm run docs` from the operations and `platform/requirements.ts`; do not edit. `test/contract/access-matrix.test.ts` tries every',
    'cell against a running server. A changed cell is a changed permission: read it twice.',
    '',
    '✓ may · 401 needs a credential · 403 `permission_denied` · code: 403 `totp_required`. "+ code": the session was stepped up. Admin, editor and',
    'viewer are roles in a workspace; architect and sovereign roles in the organization. Beyond the matrix, what an operation names must be within',
    "the credential's reach: another tenant's things are 404, as if they did not exist.",
    '',
    ...slices.flatMap(({ name, operations }) => [
      `## ${name}`,
      '',
      `| operation | ${columns.join(' | ')} |`,
      `|---|${columns.map(() => ':-:|').join('')}`,
      ...operations.map(({ facts }) => `| ${facts.name} | ${Object.values(credentials).map((who) => outcome(facts.requires, who)).join(' | ')} |`),
      '',
    ]),
  ].join('\n');
}
