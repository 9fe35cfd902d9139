import type { GraphQLError, GraphQLFormattedError } from 'graphql';
import { DomainError, errorStatus } from '#platform/errors.ts';
import type { ErrorCode, Fault } from '#platform/errors.ts';
import { snakePath } from './present.ts';

export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * The one shape of a refusal over REST: `{ error: { code, message, request_id, status, … } }`; but of 429 a problem (RFC 9457),
 * as interface 7.2 has it. `origin` is where the caller reached us.
 */
export function errorAnswer(error: DomainError, requestId: string, origin: string): ErrorAnswer {
  const { details, retry_after_seconds: retryAfter, ...fields } = error.fields as { details?: readonly Fault[]; retry_after_seconds?: number };
  const headers = { ...(retryAfter !== undefined && { 'retry-after': String(Math.ceil(retryAfter)) }), ...(error.status === 401 && { 'www-authenticate': 'Bearer' }) };
  if (error.code === 'rate_limit_exceeded') {
    const type = `${origin}/docs/api-errors#rate_limit_exceeded`;
    // What an operation refuses by itself, such as too many tries to sign in, is a limit of its endpoint.
    const { scope = 'endpoint' } = fields as { scope?: string };
    return {
      status: error.status,
      headers: { ...headers, 'content-type': 'application/problem+json' },
      body: { type, title: 'Rate limit exceeded', status: error.status, detail: error.message, scope, code: error.code, request_id: requestId },
    };
  }
  return {
    status: error.status,
    headers,
    body: {
      error: {
        code: error.code,
        message: error.message,
        request_id: requestId,
        status: error.status,
        ...(details && { details }),
        // A replayed refusal brings the request id of its first answer.
        ...fields,
      },
    },
  };
}

/** An error of the graph as the refusal it stands for. */
export function refusalOfGraph(error: GraphQLError | GraphQLFormattedError): DomainError {
  const { code, status: _status, serviceName: _serviceName, ...fields } = error.extensions ?? {};
  if (typeof code === 'string' && code in errorStatus) return new DomainError(code as ErrorCode, error.message, inRestSpelling(fields));
  // Anything else that graphql-js says of a request without running it: the request does not fit the graph.
  return new DomainError('internal_error', 'Something went wrong on our side; the request id helps to find it.', {}, { cause: error });
}

/** The graph names a fault by its own field names. */
function inRestSpelling({ details, ...fields }: { details?: readonly Fault[] } & Record<string, unknown>): Record<string, unknown> {
  return { ...fields, ...(details && { details: details.map(({ path, message }) => ({ path: snakePath(path), message })) }) };
}
