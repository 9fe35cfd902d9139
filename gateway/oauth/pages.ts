import { createHash } from 'node:crypto';
import type { Scope } from '#platform/principal.ts';
import { escape } from '../html.ts';

export interface Page {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface Layout {
  readonly title: string;
  /** What went wrong with the last try; read out first. */
  readonly fault?: string | undefined;
  readonly body: string;
  /** Where the answer to the form may lead, beside here. */
  readonly leadsTo?: string | undefined;
}

const style = `
:root { color-scheme: light dark; --ink: #1b1f27; --soft: #5a6372; --paper: #f3f4f7; --card: #fff; --line: #d3d7df; --edge: #7b8494; --accent: #2a56c6; --on-accent: #fff; --fault: #a4161a; --fault-paper: #fdecec; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaf0; --soft: #a3abbb; --paper: #12151b; --card: #1b1f28; --line: #3a4150; --edge: #748095; --accent: #8fb0ff; --on-accent: #0d1730; --fault: #ffb3b0; --fault-paper: #3a1a1c; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.25rem; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
main { width: 100%; max-width: 26rem; background: var(--card); border: 1px solid color-mix(in srgb, var(--line) 55%, transparent); border-radius: .875rem; padding: 2rem; box-shadow: 0 1px 2px #0001, 0 12px 32px #0001; }
.brand { margin: 0 0 1.5rem; color: var(--soft); font-size: .8125rem; font-weight: 600; letter-spacing: .08em; text-transform: uppercase; }
h1 { margin: 0 0 .5rem; font-size: 1.375rem; line-height: 1.25; overflow-wrap: anywhere; }
h2 { margin: 1.5rem 0 .5rem; font-size: 1rem; }
p { margin: 0 0 1rem; overflow-wrap: anywhere; } .soft { color: var(--soft); font-size: .9375rem; }
ul { margin: 0 0 1rem; padding: 0; list-style: none; border-top: 1px solid var(--line); } li { padding: .625rem 0; border-bottom: 1px solid var(--line); }
li code { display: block; color: var(--soft); font: .8125rem ui-monospace, monospace; }
label { display: block; margin: 1rem 0 .375rem; font-weight: 600; }
input, select { width: 100%; padding: .625rem .75rem; border: 1px solid var(--edge); border-radius: .5rem; background: var(--card); color: inherit; font: inherit; }
input[aria-invalid="true"] { border-color: var(--fault); }
input.code { font: 1.25rem ui-monospace, monospace; letter-spacing: .2em; }
.actions { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.75rem; }
button { flex: 1 1 8rem; padding: .6875rem 1rem; border: 1px solid var(--accent); border-radius: .5rem; background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; cursor: pointer; }
button.second { background: transparent; color: var(--ink); border-color: var(--edge); }
:is(input, select, button, [role="alert"]):focus-visible { outline: 3px solid color-mix(in srgb, var(--accent) 55%, transparent); outline-offset: 2px; }
[role="alert"] { margin: 0 0 1rem; padding: .75rem 1rem; border-left: 4px solid var(--fault); border-radius: .375rem; background: var(--fault-paper); color: var(--fault); }
[role="alert"] p { margin: 0; } h1 + [role="alert"] { margin-top: 1rem; } select + p { margin-top: .5rem; } form + p { margin-top: 1.25rem; } main > :last-child { margin-bottom: 0; }
@media (max-width: 24rem) { body { padding: 0; place-items: start stretch; } main { min-height: 100vh; border: 0; border-radius: 0; padding: 1.5rem 1.25rem; box-shadow: none; } }
`;

const styleHash = createHash('sha256').update(style).digest('base64');

function pageOf({ title, fault, body, leadsTo }: Layout): Page {
  const alert = fault === undefined ? '' : `<div role="alert" id="fault"><p>${escape(fault)}</p></div>`;
  return {
    html: `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${fault === undefined ? '' : 'Error: '}${escape(title)} – Quadrivium</title><link rel="icon" href="data:,"><style>${style}</style></head>
<body><main><p class="brand">Quadrivium</p>${alert}${body}</main></body></html>
`,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; img-src data:; base-uri 'none'; frame-ancestors 'none'; form-action ${["'self'", leadsTo].filter(Boolean).join(' ')}`,
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    },
  };
}

/** What every step shows: whose request it is, and where the browser goes at the end. */
export interface Request {
  readonly client: string;
  readonly redirectUri: string;
}

interface Step extends Request {
  readonly fault?: string | undefined;
}

/** A browser checks the redirects that follow a form, too: the last one leads to the client. A policy cannot name an IPv6 host. */
function leadsTo({ redirectUri }: Request): string {
  const { origin, protocol, hostname } = new URL(redirectUri);
  return origin === 'null' || hostname.startsWith('[') ? protocol : origin;
}

/** As a person reads it. */
function placeOf({ redirectUri }: Request): string {
  const { origin } = new URL(redirectUri);
  return origin === 'null' ? 'the application' : origin;
}

const form = (step: string, fields: string, yes: string, no: string): string =>
  `<form method="post"><input type="hidden" name="step" value="${step}">${fields}<div class="actions"><button name="answer" value="yes">${yes}</button><button class="second" name="answer" value="no" formnovalidate>${no}</button></div></form>`;

const invalid = (fault: string | undefined): string => (fault === undefined ? '' : ' aria-invalid="true" aria-describedby="fault"');

export function signInPage({ fault, email = '', ...request }: Step & { readonly email?: string | undefined }): Page {
  const fields = `<label for="email">E-mail</label><input id="email" name="email" type="email" autocomplete="username" required maxlength="320" value="${escape(email)}"${email === '' ? ' autofocus' : ''}${invalid(fault)}>
<label for="password">Password</label><input id="password" name="password" type="password" autocomplete="current-password" required maxlength="1000"${email === '' ? '' : ' autofocus'}${invalid(fault)}>`;
  const body = `<h1>Sign in</h1><p class="soft">to continue to <strong>${escape(request.client)}</strong></p>${form('sign-in', fields, 'Sign in', 'Cancel')}`;
  return pageOf({ title: 'Sign in', fault, body, leadsTo: leadsTo(request) });
}

export function codePage({ fault, ...request }: Step): Page {
  const fields = `<label for="code">Code</label><input class="code" id="code" name="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" required maxlength="64" autofocus${invalid(fault)}>`;
  const body = `<h1>Enter a code</h1><p class="soft">The six digits that your authenticator shows for Quadrivium, or one of your recovery codes.</p>${form('code', fields, 'Continue', 'Cancel')}`;
  return pageOf({ title: 'Enter a code', fault, body, leadsTo: leadsTo(request) });
}

export interface Consent extends Step {
  readonly user: string;
  readonly organization: string;
  readonly scopes: readonly Scope[];
  readonly workspaces: readonly { readonly id: string; readonly name: string }[];
  /** The user lacks the authenticator or the role without which scope growth reaches nothing. */
  readonly isGrowthLeftOut: boolean;
}

const meaningOf: Readonly<Record<Scope, string>> = {
  'memory.read': 'Search and read the memory of your workspaces',
  'memory.write': 'Store, change and delete memory in your workspaces',
  'marketplace.manage': 'Install and remove extensions for your organization',
  learn: 'Take courses and exams in your name',
  'learn.manage': 'Manage the courses of your organization',
  growth: 'Work with your growth tracks, for a short time after the code that you gave',
};

export function consentPage({ fault, user, organization, scopes, workspaces, isGrowthLeftOut, ...request }: Consent): Page {
  const list = scopes.map((scope) => `<li>${escape(meaningOf[scope])}<code>${scope}</code></li>`).join('');
  const left = isGrowthLeftOut ? '<p class="soft">It also asked for growth tracks. They need an authenticator and a managing role, which you do not both have, so this is left out.</p>' : '';
  const [first, ...others] = workspaces;
  const options = workspaces.map(({ id, name }) => `<option value="${escape(id)}">${escape(name)}</option>`).join('');
  const choice = others.length > 0
    ? `<label for="workspace">Workspace</label><select id="workspace" name="workspace" aria-describedby="reach">${options}</select>`
    : `<h2>Workspace</h2><p>${escape(first!.name)}<input type="hidden" name="workspace" value="${escape(first!.id)}"></p>`;
  const reach = others.length > 0 ? '<p class="soft" id="reach">It works here unless it names another workspace of yours.</p>' : '';
  const fields = `<h2>It will be able to</h2><ul>${list}</ul>${left}${choice}${reach}`;
  const body = `<h1>Allow ${escape(request.client)}?</h1><p class="soft">It asks to act for <strong>${escape(user)}</strong> in ${escape(organization)}. Your role still sets the bounds.</p>${form('consent', fields, 'Allow', 'Refuse')}<p class="soft">Afterwards you return to ${escape(placeOf(request))}</p>`;
  return pageOf({ title: `Allow ${request.client}?`, fault, body, leadsTo: leadsTo(request) });
}

export const errorPage = (message: string): Page =>
  pageOf({ title: 'This cannot go on', body: `<h1>This cannot go on</h1><div role="alert"><p>${escape(message)}</p></div><p class="soft">Go back to the application and start again from there.</p>` });
