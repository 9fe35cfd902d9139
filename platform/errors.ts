import type { z } from 'zod';

/**
 * The catalogue of errors: code → HTTP status. REST and GraphQL render from it; nothing else decides a status.
 * Source: decisions 4 and interface 7.
 */
export const errorStatus = {
  validation_error: 400,
  invalid_parameter: 400,
  invalid_cursor: 400,
  cursor_expired: 400,
  payload_too_large: 400,
  unauthenticated: 401,
  totp_invalid: 401,
  permission_denied: 403,
  totp_required: 403,
  totp_locked: 403,
  quota_exceeded: 403,
  not_found: 404,
  duplicate_content: 409,
  idempotency_key_reused: 409,
  idempotency_in_progress: 409,
  invalid_transition: 409,
  already_exists: 409,
  rate_limit_exceeded: 429,
  internal_error: 500,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof errorStatus;

/** One fault of the input: where it is (as the caller wrote it) and what was expected there. */
export interface Fault {
  readonly path: string;
  readonly message: string;
}

/**
 * A refusal that the caller is meant to see. Everything else that is thrown is our own fault and shows as `internal_error`.
 * `fields` stand beside code and message in the answer (for example `existing_id`); `retry_after_seconds` also becomes a header.
 */
export class DomainError extends Error {
  readonly code: ErrorCode;
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, fields: Readonly<Record<string, unknown>> = {}, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DomainError';
    this.code = code;
    this.fields = fields;
  }

  get status(): number {
    return errorStatus[this.code];
  }

  /** graphql-js copies these into the error it reports. */
  get extensions(): Record<string, unknown> {
    return { code: this.code, status: this.status, ...this.fields };
  }
}

/** For arrays of outcomes in which a refusal is a value. */
export const isAccepted = <T>(outcome: T | DomainError): outcome is T => !(outcome instanceof DomainError);

export const validationError = (details: readonly Fault[]): DomainError =>
  new DomainError('validation_error', details.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join('; '), { details });

/** zod's issues as faults; an unknown key is named at its own path. */
function faultsOf(error: z.ZodError): Fault[] {
  return error.issues.flatMap((issue) => {
    const path = issue.path.reduce<string>((joined, step) => (typeof step === 'number' ? `${joined}[${step}]` : joined ? `${joined}.${String(step)}` : String(step)), '');
    if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message.endsWith('received undefined') ? 'is required' : issue.message }];
    return issue.keys.map((key) => ({ path: path ? `${path}.${key}` : key, message: 'is not a known field' }));
  });
}

/** An input's refusal: `validation_error`, unless a check names a code of its own. */
export function refusalOf(error: z.ZodError): DomainError {
  const faults = faultsOf(error);
  const named = error.issues.find((issue) => issue.code === 'custom' && issue.params?.code !== undefined);
  const refusal = validationError(faults);
  return named?.code === 'custom' ? new DomainError(named.params!.code as ErrorCode, refusal.message, refusal.fields) : refusal;
}

/** Identical for what does not exist and for what the caller may not know of. */
export const notFound = (what: string, id: string): DomainError => new DomainError('not_found', `No ${what} has the id '${id.slice(0, 100)}'.`);

/** A repeat after signing in, with another code, or when there is room again, is a new try. */
const newTryCodes: ReadonlySet<ErrorCode> = new Set(['permission_denied', 'totp_required', 'totp_locked', 'quota_exceeded']);

/** Errors decided by the operation itself: kept with an idempotency key and replayed (decisions 6). */
export function isKept(error: unknown): error is DomainError {
  if (!(error instanceof DomainError)) return false;
  if (error.status === 404) return true;
  if (error.status === 409) return error.code !== 'idempotency_in_progress' && error.code !== 'idempotency_key_reused';
  return error.status === 403 && !newTryCodes.has(error.code);
}
