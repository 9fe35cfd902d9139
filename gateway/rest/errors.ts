import type { GraphQLError, GraphQLFormattedError } from 'graphql';
import { DomainError, errorStatus } from '#platform/errors.ts';
import type { ErrorCode, Fault } from '#platform/errors.ts';
import { snakePath } from './present.ts';

export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly error: Record<string, unknown> };
}

/** The one shape of a refusal over REST: `{ error: { code, message, request_id, status, … } }`. */
export function errorAnswer(error: DomainError, requestId: string): ErrorAnswer {
  const { details, retry_after_seconds: retryAfter, ...fields } = error.fields as { details?: readonly Fault[]; retry_after_seconds?: number };
  return {
    status: error.status,
    headers: { ...(retryAfter !== undefined && { 'retry-after': String(Math.ceil(retryAfter)) }), ...(error.status === 401 && { 'www-authenticate': 'Bearer' }) },
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
