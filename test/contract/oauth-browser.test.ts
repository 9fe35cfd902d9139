import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { withKey } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { ask, demoApplication, trade } from '../harness/oauth.ts';
import type { Application, Person } from '../harness/oauth.ts';
import { sharedServer } from '../harness/shared-server.ts';

// The pages as a person meets them: a real browser, without JavaScript.
const chromiumPath = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';
const skipIf = !existsSync(chromiumPath);
if (skipIf) console.warn(`No Chromium at ${chromiumPath} (CHROMIUM_PATH): the pages are not tried in a browser.`);

const server = sharedServer();
const { users } = server.credentials;
let browser: Browser;
let callback: Server;
let application: Application;

beforeAll(async () => {
  if (skipIf) return;
  const args = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
  browser = await chromium.launch({ executablePath: chromiumPath, args });
  callback = createServer((_request, response) => response.setHeader('content-type', 'text/html').end('<link rel="icon" href="data:,"><title>Back at the application</title>')).listen(0, '127.0.0.1');
  await once(callback, 'listening');
  application = { ...(await demoApplication(server)), redirectUri: `http://127.0.0.1:${(callback.address() as AddressInfo).port}/callback` };
});
afterAll(async () => {
  await browser?.close();
  callback?.close();
});

/** A fresh browser on a page, and at the end: nothing that the browser complained of. */
async function visit(scope: string, act: (page: Page, asked: Awaited<ReturnType<typeof ask>>) => Promise<void>, options: BrowserContextOptions = {}): Promise<void> {
  const context = await browser.newContext({ javaScriptEnabled: false, ...options });
  const complaints: string[] = [];
  try {
    const page = await context.newPage();
    page.on('console', (message) => complaints.push(message.text()));
    page.on('requestfailed', (request) => complaints.push(`${request.url()}: ${request.failure()?.errorText}`));
    const asked = await ask(application, scope);
    await page.goto(asked.url.href);
    await act(page, asked);
  } finally {
    await context.close();
  }
  expect(complaints).toEqual([]);
}

async function signIn(page: Page, { email, password }: Person): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

clause('OAUTH-BROWSER-001', 'decisions §3: a person signs in, chooses a workspace, allows, and the application gets its tokens', () =>
  visit('memory.read memory.write', async (page, asked) => {
    expect(await page.getByLabel('E-mail').evaluate((field) => field === document.activeElement)).toBe(true);
    await signIn(page, users.editor);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Allow Demo Application?');
    expect(await page.getByRole('listitem').count()).toBe(2);
    await page.getByLabel('Workspace').selectOption('research');
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.waitForURL(`${application.redirectUri}?**`);
    expect(await page.title()).toBe('Back at the application');
    const tokens = await trade(application, asked, new URL(page.url()));
    expect((await withKey(server, tokens.access_token).get('/v1/memory')).status).toBe(200);
  }), { skipIf });

clause('OAUTH-BROWSER-002', 'decisions §3: a person refuses, and the application is told', () =>
  visit('memory.read', async (page, { state }) => {
    await signIn(page, users.editor);
    await page.getByRole('button', { name: 'Refuse' }).click();
    await page.waitForURL(`${application.redirectUri}?**`);
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toMatchObject({ error: 'access_denied', state });
  }), { skipIf });

clause('OAUTH-BROWSER-003', 'decisions §3: a wrong password is said, and the next try goes on', () =>
  visit('memory.read', async (page) => {
    await signIn(page, { ...users.editor, password: 'not the password' });
    expect(await page.getByRole('alert').textContent()).toContain('wrong');
    expect(await page.title()).toMatch(/^Error: /);
    expect(await page.getByLabel('E-mail').inputValue()).toBe(users.editor.email);
    expect(await page.getByLabel('Password').inputValue()).toBe('');
    await signIn(page, users.editor);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain('Allow');
  }), { skipIf });

clause('OAUTH-BROWSER-004', 'decisions §3: a person with an authenticator is asked for a code, and may turn back', () =>
  visit('memory.read', async (page) => {
    await signIn(page, users.sovereign);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Enter a code');
    expect(await page.getByLabel('Code').getAttribute('autocomplete')).toBe('one-time-code');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.waitForURL(`${application.redirectUri}?**`);
    expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied');
  }), { skipIf });

clause('OAUTH-BROWSER-005', 'decisions §3: the pages need neither a wide screen nor a pointer', () =>
  visit('memory.read memory.write learn', async (page) => {
    const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(await overflow()).toBe(0);
    // The keyboard alone: the first field has the focus, and Enter answers yes.
    await page.keyboard.type(users.editor.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(users.editor.password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /^Allow/ }).waitFor();
    expect(await overflow()).toBe(0);
    for (const expected of ['workspace', 'yes', 'no']) {
      await page.keyboard.press('Tab');
      expect(await page.locator(':focus').evaluate((element) => (element as HTMLButtonElement).value !== '' && element.tagName === 'BUTTON' ? (element as HTMLButtonElement).value : element.id)).toBe(expected);
    }
  }, { viewport: { width: 320, height: 640 }, colorScheme: 'dark' }), { skipIf });
