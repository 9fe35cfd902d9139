import { roles } from './credentials.ts';
import type { Credentials, Role } from './credentials.ts';
import type { Target } from './server.ts';

/** An API key by its level, a user's session by its role, or another credential by its kind; `other_`: of the other tenant. */
export type Actor = 'read_only' | 'read_write' | 'admin' | 'service_account' | 'publisher' | 'other_read_write' | 'other_admin' | `${Role}_user` | `other_${Role}_user` | 'nobody';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON, or undefined when the text is none. */
  readonly body: unknown;
  readonly text: string;
}

type Headings = Readonly<Record<string, string>>;

export interface HttpClient {
  get(path: string, headers?: Headings): Promise<Answer>;
  post(path: string, body?: unknown, headers?: Headings): Promise<Answer>;
  put(path: string, body?: unknown, headers?: Headings): Promise<Answer>;
  patch(path: string, body?: unknown, headers?: Headings): Promise<Answer>;
  delete(path: string, headers?: Headings): Promise<Answer>;
  /** The body as given, with no content type unless a header names one. */
  send(method: string, path: string, body: string | Uint8Array | undefined, headers?: Headings): Promise<Answer>;
}

/** `as(server, 'read_write').post('/v1/memory/store', { content })` */
export function as(target: Target, actor: Actor): HttpClient {
  return withKey(target, keyOf(target.credentials, actor));
}

export function withKey(target: Pick<Target, 'baseUrl'>, key: string | null): HttpClient {
  const send = async (method: string, path: string, body: string | Uint8Array | undefined, headers: Headings = {}): Promise<Answer> => {
    const response = await fetch(target.baseUrl + path, {
      method,
      headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...headers },
      // Bytes, because fetch names a content type of its own for a string.
      ...(body === undefined ? {} : { body: typeof body === 'string' ? new TextEncoder().encode(body) : Uint8Array.from(body) }),
      redirect: 'manual',
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: parsed(text), text };
  };
  const sendJson = (method: string, path: string, body: unknown, headers: Headings = {}): Promise<Answer> =>
    body === undefined ? send(method, path, undefined, headers) : send(method, path, JSON.stringify(body), { 'content-type': 'application/json', ...headers });
  return {
    send,
    get: (path, headers) => send('GET', path, undefined, headers),
    delete: (path, headers) => send('DELETE', path, undefined, headers),
    post: (path, body, headers) => sendJson('POST', path, body, headers),
    put: (path, body, headers) => sendJson('PUT', path, body, headers),
    patch: (path, body, headers) => sendJson('PATCH', path, body, headers),
  };
}

export function keyOf(credentials: Credentials, actor: Actor): string | null {
  switch (actor) {
    case 'nobody':
      return null;
    case 'other_read_write':
      return credentials.other_tenant.api_keys.read_write;
    case 'other_admin':
      return credentials.other_tenant.api_keys.admin;
    case 'service_account':
      return credentials.service_account_key;
    case 'publisher':
      return credentials.publisher_token;
    case 'read_only':
    case 'read_write':
    case 'admin':
      return credentials.api_keys[actor];
    default: {
      const role = roles.find((one) => actor.endsWith(`${one}_user`))!;
      return (actor.startsWith('other_') ? credentials.other_tenant : credentials).users[role].session_token;
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
