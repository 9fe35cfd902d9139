import type { GraphQLFormattedError } from 'graphql';
import { errorStatus } from '#platform/errors.ts';

const refusedByGraphql = new Set(['GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED', 'BAD_USER_INPUT', 'OPERATION_RESOLUTION_FAILURE', 'BAD_REQUEST']);

/** The catalogue's code and status on every error; what is not a refusal shows nothing of its cause. */
export function presentError(formatted: GraphQLFormattedError): GraphQLFormattedError {
  const { serviceName: _serviceName, stacktrace: _stacktrace, code, ...fields } = formatted.extensions ?? {};
  if (typeof code === 'string' && code in errorStatus) return { ...formatted, extensions: { code, ...fields } };
  if (typeof code === 'string' && refusedByGraphql.has(code)) return { ...formatted, extensions: { code: 'validation_error', status: 400 } };
  return { message: 'Something went wrong on our side; the request id helps to find it.', ...(formatted.path && { path: formatted.path }), extensions: { code: 'internal_error', status: 500 } };
}
