import type { FastifyReply, FastifyRequest } from 'fastify';
import { errors } from 'oidc-provider';
import type { Client, InteractionResults, Provider } from 'oidc-provider';
import { auditEntry, recordAudit } from '#platform/audit/record-audit.ts';
import { query } from '#platform/database/query.ts';
import { transaction } from '#platform/database/transaction.ts';
import { DomainError } from '#platform/errors.ts';
import { newId } from '#platform/ids.ts';
import { scopes } from '#platform/principal.ts';
import type { Scope } from '#platform/principal.ts';
import { checkCode } from '../identity/check-code.ts';
import { checkPassword } from '../identity/check-password.ts';
import { currentCall, inCall } from './current-call.ts';
import type { Allowed } from './grants.ts';
import { codePage, consentPage, errorPage, signInPage } from './pages.ts';
import type { Page, Request } from './pages.ts';

/** Who has signed in here so far. It stands in the interaction's record, which the browser's cookie names. */
interface SignedIn {
  readonly userId: string;
  readonly organizationId: string;
  /** The user has an authenticator and gave no code yet. */
  readonly isCodeDue: boolean;
  readonly codeGivenAtMs: number | null;
}

/** One person's way from the sign-in to the answer. */
interface Visit {
  readonly provider: Provider;
  readonly raw: readonly [FastifyRequest['raw'], FastifyReply['raw']];
  readonly interaction: Awaited<ReturnType<Provider['interactionDetails']>>;
  readonly client: Client;
  readonly request: Request;
  readonly signedIn: SignedIn | undefined;
}

/** What a form leads to: a page to show again, or the address to go on at. */
type Outcome = Page | { readonly location: string };

/** `/oauth/interaction/:uid`: sign-in, code and consent, each shown by GET and answered by POST. */
export async function interact(provider: Provider, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const visit = await visitOf(provider, request, reply);
  const outcome = visit === undefined ? errorPage('This sign-in has ended, or it was begun in another browser.') : await (request.method === 'POST' ? answer(visit, formOf(request)) : show(visit));
  if ('location' in outcome) return reply.code(303).header('cache-control', 'no-store').header('location', outcome.location).send();
  return reply.code(visit === undefined ? 400 : 200).headers(outcome.headers).send(outcome.html);
}

/** Only the browser that began holds the cookie of this interaction; it is bound to this path, and no foreign page can send it with a form. */
async function visitOf(provider: Provider, { raw, params }: FastifyRequest, reply: FastifyReply): Promise<Visit | undefined> {
  try {
    const interaction = await provider.interactionDetails(raw, reply.raw);
    const { client_id: clientId, redirect_uri: redirectUri } = interaction.params as { client_id: string; redirect_uri: string };
    const client = await provider.Client.find(clientId);
    if (interaction.uid !== (params as { uid: string }).uid || client === undefined) return undefined;
    return {
      provider, raw: [raw, reply.raw], interaction, client,
      request: { client: client.clientName ?? clientId, redirectUri },
      signedIn: interaction.result?.['signedIn'] as SignedIn | undefined,
    };
  } catch (error) {
    if (error instanceof errors.SessionNotFound) return undefined;
    throw error;
  }
}

const formOf = (request: FastifyRequest): URLSearchParams =>
  /^application\/x-www-form-urlencoded\s*(;|$)/i.test(request.headers['content-type'] ?? '') ? new URLSearchParams((request.body as Buffer | undefined)?.toString('utf8')) : new URLSearchParams();

type Step = 'sign-in' | 'code' | 'consent';
const stepOf = ({ signedIn }: Visit): Step => (signedIn === undefined ? 'sign-in' : signedIn.isCodeDue ? 'code' : 'consent');

async function show(visit: Visit, fault?: string, email?: string): Promise<Page> {
  switch (stepOf(visit)) {
    case 'sign-in':
      return signInPage({ ...visit.request, fault, email });
    case 'code':
      return codePage({ ...visit.request, fault });
    case 'consent':
      return consentPage({ ...visit.request, fault, ...(await askedOf(visit)) });
  }
}

async function answer(visit: Visit, form: URLSearchParams): Promise<Outcome> {
  const step = stepOf(visit);
  if (form.get('answer') === 'no') {
    if (step === 'consent') await record(visit, 'refuseOauthClient');
    return refuse(visit, 'the user refused');
  }
  // A form of an earlier step, sent again.
  if (form.get('step') !== step) return hereAgain(visit);
  try {
    if (step === 'sign-in') return await signIn(visit, form);
    if (step === 'code') return await giveCode(visit, form);
    return await allow(visit, form);
  } catch (error) {
    const fault = error instanceof DomainError ? faultOf(error) : undefined;
    if (fault === undefined) throw error;
    return show(visit, fault, form.get('email') ?? undefined);
  }
}

async function signIn(visit: Visit, form: URLSearchParams): Promise<Outcome> {
  const ctx = currentCall();
  const { userId, organizationId, isTotpEnrolled } = await checkPassword(ctx, { email: (form.get('email') ?? '').replaceAll('\0', ''), password: form.get('password') ?? '' });
  const signedIn = { userId, organizationId, isCodeDue: isTotpEnrolled, codeGivenAtMs: null };
  if (organizationId !== organizationOf(visit)) {
    await record({ ...visit, signedIn }, 'allowOauthClient', 'permission_denied');
    return refuse(visit, 'the client belongs to another organization than the user');
  }
  return remember(visit, signedIn);
}

async function giveCode(visit: Visit, form: URLSearchParams): Promise<Outcome> {
  const ctx = currentCall();
  const { userId, organizationId } = visit.signedIn!;
  await checkCode(ctx, userId, (form.get('code') ?? '').replaceAll(' ', '')).catch(async (error: unknown) => {
    if (error instanceof DomainError) await record(visit, 'signIn', error.code);
    throw error;
  });
  return remember(visit, { userId, organizationId, isCodeDue: false, codeGivenAtMs: ctx.clock.now().getTime() });
}

async function remember(visit: Visit, signedIn: SignedIn): Promise<Outcome> {
  visit.interaction.result = { signedIn };
  await visit.interaction.persist();
  if (!signedIn.isCodeDue) await record({ ...visit, signedIn }, 'signIn');
  const { scopes: asked, workspaces } = await askedOf({ ...visit, signedIn });
  if (asked.length === 0) return refuse(visit, 'the user cannot give the scope growth: it needs an authenticator and a managing role');
  if (workspaces.length === 0) return refuse(visit, 'the user is a member of no workspace');
  return hereAgain(visit);
}

async function allow(visit: Visit, form: URLSearchParams): Promise<Outcome> {
  const ctx = currentCall();
  const { userId, codeGivenAtMs } = visit.signedIn!;
  const { scopes: allowed, workspaces } = await askedOf(visit);
  const workspaceId = form.get('workspace');
  if (!workspaces.some(({ id }) => id === workspaceId)) return show(visit, 'Choose a workspace.');
  const grant = new visit.provider.Grant({ accountId: userId, clientId: visit.client.clientId });
  grant.jti = newId('grant');
  grant.addResourceScope(visit.provider.issuer, [...allowed]);
  const steppedUpUntilMs = codeGivenAtMs === null || !allowed.includes('growth') ? null : codeGivenAtMs + ctx.config.stepUpTtlSeconds * 1000;
  grant.addRar({ type: 'quadrivium', workspaceId: workspaceId!, steppedUpUntilMs } satisfies Allowed);
  await transaction(ctx.em, (em) => inCall({ ...ctx, em }, async () => {
    await grant.save();
    await record(visit, 'allowOauthClient', 'succeeded', [grant.jti]);
  }));
  return finish(visit, { login: { accountId: userId, remember: false }, consent: { grantId: grant.jti } });
}

function refuse(visit: Visit, reason: string): Promise<Outcome> {
  return finish(visit, { error: 'access_denied', error_description: reason });
}

/** In the audit log of the user's organization, by the transaction of the call if it has one. */
async function record({ client, signedIn }: Visit, operation: string, outcome = 'succeeded', made: readonly string[] = []): Promise<void> {
  const ctx = currentCall();
  await recordAudit(ctx.em, [auditEntry(ctx, { operation, subjectIds: [...made, client.clientId], outcome }, signedIn)], ctx.clock.now());
}

const hereAgain = ({ interaction }: Visit): Outcome => ({ location: `/oauth/interaction/${interaction.uid}` });

async function finish({ provider, raw }: Visit, result: InteractionResults): Promise<Outcome> {
  return { location: new URL(await provider.interactionResult(...raw, result, { mergeWithLastSubmission: false })).pathname };
}

interface Asked {
  readonly user: string;
  readonly organization: string;
  readonly scopes: readonly Scope[];
  readonly workspaces: readonly { readonly id: string; readonly name: string }[];
  readonly isGrowthLeftOut: boolean;
}

/** What the client asks for, of whom, as far as it can be given. */
async function askedOf({ interaction, signedIn }: Visit): Promise<Asked> {
  const { em } = currentCall();
  const { userId, codeGivenAtMs, isCodeDue } = signedIn!;
  const [user] = await query<{ email: string; organization: string; is_growth_admin: boolean }>(em, userWithOrganization, [userId]);
  const workspaces = await query<{ id: string; name: string }>(em, workspacesOfUser, [userId]);
  const asked = String(interaction.params['scope']).split(' ');
  const isGrowthLeftOut = asked.includes('growth') && !(user!.is_growth_admin && (isCodeDue || codeGivenAtMs !== null));
  return {
    user: user!.email,
    organization: user!.organization,
    scopes: scopes.filter((scope) => asked.includes(scope) && !(scope === 'growth' && isGrowthLeftOut)),
    workspaces,
    isGrowthLeftOut,
  };
}

const organizationOf = ({ client }: Visit): unknown => client.metadata()['organization_id'];

/** Only what the person can do something about. */
function faultOf({ code, fields }: DomainError): string | undefined {
  const minutes = Math.ceil(Number(fields['retry_after_seconds'] ?? 60) / 60);
  const later = `Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`;
  switch (code) {
    case 'unauthenticated':
      return 'The e-mail address or the password is wrong.';
    case 'rate_limit_exceeded':
      return `Too many tries to sign in. ${later}`;
    case 'totp_invalid':
      return 'This code is wrong, or it was used before. Wait for the next one.';
    case 'totp_locked':
      return `Too many wrong codes. ${later}`;
    default:
      return undefined;
  }
}

const userWithOrganization = `
  select "user".email, organization.name as organization,
         organization_role is not null or exists (select from identity.member where user_id = "user".id and role in ('admin', 'owner')) as is_growth_admin
    from identity.user join identity.organization on organization.id = organization_id where "user".id = $1`;

const workspacesOfUser = `
  select workspace.id, workspace.name from identity.member join identity.workspace on workspace.id = member.workspace_id
   where member.user_id = $1 order by is_default desc, workspace.name`;
