import { GraphQLError } from 'graphql';
import type { ExecutionResult } from 'graphql';
import type { Context } from '../context.ts';
import { DomainError, validationError } from '../errors.ts';

/** Refusals pass; anything else thrown is our own fault: it goes to the log whole and to the caller as `internal_error`. */
export function maskFaults(result: ExecutionResult, ctx: Pick<Context, 'logger' | 'requestId'>): ExecutionResult {
  if (result.errors === undefined) return result;
  return { ...result, errors: result.errors.map((error) => mask(error, ctx)) };
}

/** What PostgreSQL says of NUL characters in a parameter, wherever a caller put them: in an id, in a filter. */
const unkeepableText = new Set<unknown>(['22021', '22P05']);
const refusal = validationError([{ path: '', message: 'must be well-formed Unicode without NUL characters' }]);

function mask(error: GraphQLError, ctx: Pick<Context, 'logger' | 'requestId'>): GraphQLError {
  const cause = error.originalError;
  if (cause === undefined || cause instanceof DomainError) return error;
  if (cause instanceof GraphQLError && cause.originalError === undefined) return error;
  if (unkeepableText.has((cause as { code?: unknown }).code)) return new GraphQLError(refusal.message, { path: error.path ?? null, extensions: refusal.extensions });
  ctx.logger.error({ err: cause, requestId: ctx.requestId, path: error.path }, 'internal error');
  return new GraphQLError('Something went wrong on our side; the request id helps to find it.', {
    path: error.path ?? null,
    extensions: { code: 'internal_error', status: 500 },
  });
}
