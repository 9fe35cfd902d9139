import { errorStatus } from '#platform/errors.ts';
import type { ErrorCode } from '#platform/errors.ts';
import { escape } from '../html.ts';
import { docsPage } from './docs-page.ts';

/** What each code means and what to do about it. */
const meanings: Readonly<Record<ErrorCode, string>> = {
  validation_error: 'The request is not what the operation takes: malformed JSON, an unknown field or query parameter, a value out of range. `details` names each fault and its path. Mend the request; a repeat will not help.',
  invalid_parameter: 'A parameter has a value that it cannot have; `details` names it.',
  invalid_cursor: 'The cursor is not one of this list with this sort, these filters and this tenant. Begin again without it.',
  cursor_expired: 'The cursor is older than 24 hours. Begin again without it.',
  payload_too_large: 'The body is larger than the operation takes.',
  unauthenticated: 'There is no credential, or it is unknown, expired or revoked. Send `Authorization: Bearer <key>`.',
  totp_invalid: 'The code of the authenticator is wrong, too old, or was used before. Wait for the next one.',
  permission_denied: 'The credential is valid and may not do this.',
  totp_required: 'This needs a session that was stepped up by a fresh code: `POST /auth/sessions/totp`.',
  totp_locked: 'Too many wrong codes. `retry_after_seconds` and `Retry-After` say when codes are looked at again.',
  quota_exceeded: 'The organization has used up a quota. `quota` names it, `resets_at` says when it begins anew; it is null where room comes only from deleting.',
  not_found: 'Nothing of this kind is known here by this id or path, or the caller may not know of it.',
  duplicate_content: 'The workspace holds a live object with the same content; `existing_id` names it.',
  idempotency_key_reused: 'The Idempotency-Key was used for another request. Use a new key for a new request.',
  idempotency_in_progress: 'The first request with this Idempotency-Key is still running. Repeat it after `Retry-After`.',
  invalid_transition: 'What this is about is not in a state in which this can be done to it.',
  already_exists: 'What this would create exists already.',
  rate_limit_exceeded:
    'Too many requests. `scope` says of whom: the token (without a credential, the address), the organization, or this endpoint. Wait for `Retry-After` seconds and 50 to 500 ms more by chance; make the pause 1.5 times as long with each further refusal, and give up after five. `X-RateLimit-Remaining` says beforehand how close the limit is: slow down below a tenth of `X-RateLimit-Limit`.',
  internal_error: 'Something went wrong on our side. The request id helps to find it.',
  unavailable: 'The server is stopping, or a part of it does not answer. Repeat the request after `Retry-After`.',
};

/** Every code with an anchor of its own: where the `type` of a problem leads. */
export function errorsPage(): string {
  const codes = Object.keys(errorStatus) as ErrorCode[];
  const entries = codes.map((code) => `<article id="${code}"><h3><b>${errorStatus[code]}</b>${code}</h3><p>${prose(meanings[code])}</p></article>`);
  return docsPage(
    'Quadrivium: errors',
    `<h1>Errors</h1>
<p><a href="/docs">API reference</a></p>
<p>Over REST the body of a refusal is <code>{ "error": { "code", "message", "request_id", "status" } }</code> and whatever the code brings along; of 429 it is a problem (<code>application/problem+json</code>) with <code>type</code>, <code>title</code>, <code>status</code>, <code>detail</code>, <code>scope</code>, <code>code</code> and <code>request_id</code>. Over GraphQL the same stands in <code>extensions</code>.</p>
${entries.join('\n')}`,
  );
}

/** What stands between backquotes as code. */
const prose = (text: string): string => escape(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
