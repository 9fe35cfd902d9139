import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import Fastify, { LogController } from 'fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Config } from '#platform/config.ts';
import { DomainError, validationError } from '#platform/errors.ts';
import { errorAnswer } from './rest/errors.ts';

/** What is done before an answer where no hook comes along. */
type Enter = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** The listener: request ids, bodies as bytes, one rendering of errors. It knows no route. */
export function createHttp(config: Config, logger: Logger, enterUnreadable: Enter = async () => {}): FastifyInstance {
  const tls = config.tlsCert === null ? {} : { https: { cert: readFileSync(config.tlsCert), key: readFileSync(config.tlsKey!) } };
  const http = Fastify({
    ...tls,
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    // What is logged of a request names it itself.
    childLoggerFactory: (parent) => parent,
    genReqId: ({ headers }) => requestIdOf(headers['x-request-id']),
    trustProxy: trustedProxies(config),
    forceCloseConnections: 'idle',
    return503OnClosing: true,
    routerOptions: { maxParamLength: 1000 },
    // A path that the router cannot even read.
    frameworkErrors: async (_error, request: FastifyRequest, reply: FastifyReply) => {
      const refusal = await enterUnreadable(request, reply).then(() => unreadable(request), (error: unknown) => refusalOfHttp(error, request));
      const { status, headers, body } = errorAnswer(refusal, request.id, originOf(request, config));
      void reply.code(status).headers({ ...headers, 'x-request-id': request.id }).send(body);
    },
  }) as unknown as FastifyInstance;

  // Bodies stay bytes here: what they must be, and what is said when they are not, is the route's.
  http.removeAllContentTypeParsers();
  http.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

  http.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    if (config.trustProxy !== null && request.headers['x-forwarded-proto'] === 'http') {
      reply.redirect(`https://${request.host}${request.url}`, 301);
      return;
    }
    done();
  });

  http.setErrorHandler(async (error, request, reply) => {
    if ((error as { code?: string }).code === 'FST_ERR_CTP_BODY_TOO_LARGE') await drain(request.raw);
    const refusal = refusalOfHttp(error, request);
    if (refusal.status >= 500) request.log.error({ err: refusal.cause ?? refusal, requestId: request.id, url: request.url }, 'a request failed');
    const { status, headers, body } = errorAnswer(refusal, request.id, originOf(request, config));
    return reply.code(status).headers(headers).send(body);
  });

  http.setNotFoundHandler((request) => {
    throw nothingAt(request);
  });
  return http;
}

const unreadable = (request: FastifyRequest): DomainError =>
  (request.raw.url?.length ?? 0) > 1000 ? nothingAt(request) : validationError([{ path: '', message: 'the path is not valid percent-encoding' }]);

function nothingAt({ method, url }: FastifyRequest): DomainError {
  const path = url.split('?')[0]!.slice(0, 200);
  const message = /^\/v0(\/|$)/.test(path) ? 'Version 0 of the API is gone; use /v1.' : `There is no ${method} ${path}. The paths are listed at /docs.`;
  return new DomainError('not_found', message);
}

/** Where the caller reached us. */
export const originOf = (request: FastifyRequest, { baseUrl }: Pick<Config, 'baseUrl'>): string => baseUrl ?? `${request.protocol}://${request.host}`;

/** The caller's id when it is fit to be kept (decisions 4). */
const requestIdOf = (given: string | string[] | undefined): string =>
  typeof given === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : `req_${randomUUID()}`;

/** "true" is one proxy, the nearest: the address it saw is the last it appended, whatever the client wrote before. */
function trustedProxies({ trustProxy }: Config): false | string[] | ((address: string, hop: number) => boolean) {
  if (trustProxy === null || trustProxy === 'false') return false;
  return trustProxy === 'true' ? (_address, hop) => hop < 1 : trustProxy.split(',').map((address) => address.trim());
}

/** A client still writing when the connection closes sees a broken pipe, not the answer: so its body is read to the end, for a while. */
async function drain(body: Readable): Promise<void> {
  body.resume();
  await finished(body, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
}

/** What Fastify itself refuses, in our words. */
function refusalOfHttp(error: unknown, request: FastifyRequest): DomainError {
  if (error instanceof DomainError) return error;
  const { code, statusCode, message } = error as { code?: string; statusCode?: number; message?: string };
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new DomainError('payload_too_large', `The body is larger than ${request.routeOptions.bodyLimit} bytes.`, { details: [{ path: '', message: 'is too large' }] });
  }
  if (statusCode === 503) return new DomainError('unavailable', 'The server is stopping; try again shortly.', { retry_after_seconds: 1 });
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) return validationError([{ path: '', message: message ?? 'is malformed' }]);
  return new DomainError('internal_error', 'Something went wrong on our side; the request id helps to find it.', {}, { cause: error });
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The JSON object in a request's body; an empty body is an empty object. */
export function jsonBody(request: FastifyRequest): Record<string, unknown> {
  const body = request.body as Buffer | undefined;
  if (body === undefined || body === null || body.length === 0) return {};
  if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')) {
    throw validationError([{ path: 'content-type', message: 'must be application/json' }]);
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(utf8.decode(body));
  } catch (error) {
    throw validationError([{ path: '', message: `is not valid JSON: ${(error as Error).message.slice(0, 200)}` }]);
  }
  if (parsed === null || typeof parsed !== 'object' || Array.isArray(parsed)) throw validationError([{ path: '', message: 'must be a JSON object' }]);
  return parsed as Record<string, unknown>;
}
