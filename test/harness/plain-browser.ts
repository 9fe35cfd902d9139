import { expect } from 'vitest';

/** What a form of the page shows and how to answer it. */
export interface Screen {
  readonly status: number;
  readonly url: URL;
  readonly headers: Headers;
  readonly html: string;
  /** Presses the button with this text, having filled these fields in. */
  press(button: string, fields?: Readonly<Record<string, string>>): Promise<Screen | Arrival>;
}

/** A redirect led away from the server: to the client. */
export interface Arrival {
  readonly arrivedAt: URL;
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  readonly attributes: string;
}

/** A browser without JavaScript: it keeps cookies, follows redirects, and submits forms as the HTML says. */
export class PlainBrowser {
  readonly #origin: string;
  readonly cookies: Cookie[] = [];

  constructor(origin: string) {
    this.#origin = origin;
  }

  async open(address: string | URL, init: RequestInit = {}): Promise<Screen | Arrival> {
    const url = new URL(address, this.#origin);
    if (url.origin !== this.#origin) return { arrivedAt: url };
    const cookie = this.cookies.filter(({ path }) => url.pathname.startsWith(path)).map(({ name, value }) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { ...init, redirect: 'manual', headers: { accept: 'text/html', ...init.headers, ...(cookie !== '' && { cookie }) } });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    const location = response.headers.get('location');
    if (location !== null) return this.open(new URL(location, url));
    const html = await response.text();
    return { status: response.status, url, headers: response.headers, html, press: (button, fields = {}) => this.#press(url, html, button, fields) };
  }

  #keep(line: string): void {
    const [, name = '', value = '', attributes = ''] = /^([^=]+)=([^;]*)(.*)$/.exec(line) ?? [];
    const path = /;\s*path=([^;]+)/i.exec(attributes)?.[1] ?? '/';
    const others = this.cookies.filter((cookie) => cookie.name !== name || cookie.path !== path);
    this.cookies.splice(0, Infinity, ...others, ...(value === '' ? [] : [{ name, value, path, attributes }]));
  }

  async #press(url: URL, html: string, text: string, fields: Readonly<Record<string, string>>): Promise<Screen | Arrival> {
    const form = /<form\b([^>]*)>([\s\S]*?)<\/form>/.exec(html) ?? expect.fail(`no form in ${shown(html)}`);
    const body = new URLSearchParams();
    for (const [, tag = '', attributes = ''] of form[2]!.matchAll(/<(input|select)\b([^>]*)>/g)) {
      const name = attribute(attributes, 'name');
      if (name === undefined) continue;
      const first = tag === 'select' ? attribute(/<option\b([^>]*)>/.exec(form[2]!)?.[1] ?? '', 'value') : attribute(attributes, 'value');
      body.set(name, first ?? '');
    }
    for (const [name, value] of Object.entries(fields)) {
      expect([...body.keys()], 'the form has the field').toContain(name);
      body.set(name, value);
    }
    const [, button = ''] = [...form[2]!.matchAll(/<button\b([^>]*)>([^<]*)<\/button>/g)].find(([, , label]) => label === text) ?? expect.fail(`no button '${text}' in ${shown(html)}`);
    body.set(attribute(button, 'name')!, attribute(button, 'value')!);
    return this.open(new URL(attribute(form[1]!, 'action') ?? url, url), { method: attribute(form[1]!, 'method') ?? 'get', body });
  }
}

const attribute = (attributes: string, name: string): string | undefined => new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1]?.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

/** A page without what only dresses it. */
const shown = (html: string): string => html.replace(/<style>[\s\S]*<\/style>/, '');

/** The screen, or a failure that says where the browser went instead. */
export function screen(reached: Screen | Arrival): Screen {
  return 'arrivedAt' in reached ? expect.fail(`left for ${reached.arrivedAt.href}`) : reached;
}

/** The client's address, or a failure that shows the page. */
export function arrival(reached: Screen | Arrival): URL {
  return 'arrivedAt' in reached ? reached.arrivedAt : expect.fail(`stayed at ${reached.url.href}: ${shown(reached.html)}`);
}
