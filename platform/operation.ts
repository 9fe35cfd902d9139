import type { EntityManager } from '@mikro-orm/core';
import type { z } from 'zod';
import { auditEntry, recordAudit } from './audit/record-audit.ts';
import type { Answer, Context } from './context.ts';
import { transaction } from './database/transaction.ts';
import { DomainError, isKept, refusalOf } from './errors.ts';
import type { GroupRun } from './group-commit.ts';
import type { Claim, IdempotencyKey } from './idempotency.ts';
import { findReceipts, fingerprint, inProgress, keepReceipts } from './idempotency.ts';
import { authorize } from './requirements.ts';
import type { Requirement } from './requirements.ts';

/** The declared facts of an operation. All of them together are a register: test/architecture prints and freezes it. */
export interface OperationFacts {
  readonly name: string;
  readonly kind: 'query' | 'command';
  readonly requires: Requirement;
}

export type Operation<Ports, Input, Output> = ((ctx: Context<Ports>, input: Input) => Promise<Output>) & { readonly facts: OperationFacts };

interface Definition<Ports, Schema extends z.ZodType, Output> {
  readonly name: string;
  readonly requires: Requirement;
  readonly input: Schema;
  readonly run: (ctx: Context<Ports>, input: z.output<Schema>) => Promise<Output>;
}

/**
 * The wrapper of every operation does, in this order: authorise, parse, prepare, open the transaction, look for the idempotency key's
 * receipt, run, write the audit entry, keep the receipt (events and jobs are written by `run`), commit. If the process dies before the commit nothing
 * has happened; if it dies after it, the repeat finds the receipt.
 */

/** Something that reads. */
export function query<Ports, Schema extends z.ZodType, Output>(definition: Definition<Ports, Schema, Output>): Operation<Ports, z.input<Schema>, Output> {
  const facts: OperationFacts = { name: definition.name, kind: 'query', requires: definition.requires };
  const run = async (ctx: Context<Ports>, raw: z.input<Schema>): Promise<Output> => {
    authorize(definition.requires, ctx.principal, ctx.clock);
    return definition.run(ctx, parse(definition.input, raw));
  };
  return Object.assign(run, { facts });
}

/** What the audit log says a command was about; by default the `id` of what it answers, or else of what it was given. */
interface Audited {
  readonly subjectsOf?: (input: never, output: never) => readonly string[];
}

interface CommandDefinition<Ports, Schema extends z.ZodType, Output, Prepared> extends Omit<Definition<Ports, Schema, Output>, 'run'>, Audited {
  /** Slow work that must not hold the transaction open, such as hashing a password. It may refuse. */
  readonly prepare?: (ctx: Context<Ports>, input: z.output<Schema>) => Promise<Prepared>;
  /** A refusal that is thrown undoes everything; one that is returned commits what was done, such as the count of wrong codes. */
  readonly run: (ctx: Context<Ports>, input: z.output<Schema>, prepared: Prepared) => Promise<Output | DomainError>;
}

/** Something that changes state, in a transaction of its own. `run` answers a receipt: a plain value that can be replayed exactly. */
export function command<Ports, Schema extends z.ZodType, Output, Prepared = undefined>(
  definition: CommandDefinition<Ports, Schema, Output, Prepared>,
): Operation<Ports, z.input<Schema>, Output> {
  const facts: OperationFacts = { name: definition.name, kind: 'command', requires: definition.requires };
  const underWay = new Set<string>();
  const run = async (ctx: Context<Ports>, raw: z.input<Schema>): Promise<Output> => {
    let result: unknown;
    let call: Call<Ports, z.output<Schema>> | null = null;
    try {
      authorize(definition.requires, ctx.principal, ctx.clock);
      const { input } = (call = { ctx, input: parse(definition.input, raw), key: ctx.idempotency, answer: ctx.answer });
      const runOnce = async (): Promise<unknown> => {
        const prepared = (await definition.prepare?.(ctx, input)) as Prepared;
        const runOne = audited(definition, async (em) => [await definition.run({ ...ctx, em }, input, prepared)]);
        return (await transaction(ctx.em, (em) => withReceipts(em, [call!], runOne)))[0];
      };
      result = definition.prepare && call.key ? await unlessRepeated(call, underWay, runOnce) : await runOnce();
    } catch (error) {
      await leaveTraces(ctx, definition.name, call, error);
      throw error;
    }
    return settle<Output>(result);
  };
  return Object.assign(run, { facts });
}

export interface Call<Ports, Input> {
  readonly ctx: Context<Ports>;
  readonly input: Input;
  readonly key: IdempotencyKey | null;
  readonly answer: Answer;
}

interface GroupDefinition<Ports, Schema extends z.ZodType, Output> extends Omit<Definition<Ports, Schema, Output>, 'run'>, Audited {
  /** A key given in the input counts before the header's (memory store). */
  readonly keyOf?: (input: z.output<Schema>) => string | null | undefined;
  /** Whether this value is kept with the key; by default every value is. */
  readonly keeps?: (output: Output) => boolean;
  /** Runs all calls in the one transaction of `em`. A refusal is returned as a value; a throw undoes the whole group. */
  readonly runGroup: (em: EntityManager, calls: readonly Call<Ports, z.output<Schema>>[]) => Promise<(Output | DomainError)[]>;
}

/** A command whose concurrent calls share transactions (group commit). */
export function groupedCommand<Ports, Schema extends z.ZodType, Output>(
  definition: GroupDefinition<Ports, Schema, Output>,
): Operation<Ports, z.input<Schema>, Output> {
  const facts: OperationFacts = { name: definition.name, kind: 'command', requires: definition.requires };
  const runGroup = audited(definition, definition.runGroup as GroupRun<Call<Ports, z.output<Schema>>>);
  const runAll: GroupRun<Call<Ports, z.output<Schema>>> = (em, calls) => withReceipts(em, calls, runGroup, definition.keeps as ((output: unknown) => boolean) | undefined);
  const run = async (ctx: Context<Ports>, raw: z.input<Schema>): Promise<Output> => {
    try {
      authorize(definition.requires, ctx.principal, ctx.clock);
    } catch (error) {
      await leaveTraces(ctx, definition.name, null, error);
      throw error;
    }
    const input = parse(definition.input, raw);
    const named = definition.keyOf?.(input);
    const key = named ? { key: named, fingerprint: ctx.idempotency?.fingerprint ?? fingerprint([definition.name, raw]) } : ctx.idempotency;
    return settle<Output>(await ctx.groupCommit.run(runAll, { ctx, input, key, answer: ctx.answer }));
  };
  return Object.assign(run, { facts });
}

/** Runs the calls and writes one audit entry for each, in the same transaction. */
const audited = <Ports, Input>({ name, subjectsOf = idOf }: Audited & { name: string }, run: GroupRun<Call<Ports, Input>>): GroupRun<Call<Ports, Input>> => async (em, calls) => {
  const results = await run(em, calls);
  const entries = calls.flatMap(({ ctx, input }, index) => {
    const result = results[index];
    if (ctx.principal === null) return [];
    if (result instanceof Error) return isAudited(result) ? [auditEntry(ctx, { operation: name, subjectIds: idOf(input), outcome: result.code })] : [];
    return [auditEntry(ctx, { operation: name, subjectIds: subjectsOf(input as never, result as never) })];
  });
  await recordAudit(em, entries, calls[0]!.ctx.clock.now());
  return results;
};

const idOf = (...candidates: readonly unknown[]): string[] =>
  candidates.flatMap((one) => (typeof (one as { id?: unknown } | null)?.id === 'string' ? [(one as { id: string }).id] : [])).slice(-1);

/** A refusal undid its transaction, so its receipt and its audit entry go into one of their own: nothing else was done that they could miss. */
async function leaveTraces<Ports, Input>(ctx: Context<Ports>, operation: string, call: Call<Ports, Input> | null, error: unknown): Promise<void> {
  if (ctx.answer.replayed) return;
  const receipt = call !== null && call.key !== null && isKept(error) ? { call, error } : null;
  const outcome = ctx.principal !== null && isAudited(error) ? error.code : null;
  if (receipt === null && outcome === null) return;
  await transaction(ctx.em, async (em) => {
    if (receipt !== null) await keepReceipt(em, receipt.call, receipt.error);
    if (outcome !== null) await recordAudit(em, [auditEntry(ctx, { operation, subjectIds: idOf(call?.input), outcome })], ctx.clock.now());
  });
}

/** Bad input, limits and our own faults are no deeds; a repeat that came too early is none either. */
const isAudited = (error: unknown): error is DomainError =>
  error instanceof DomainError && error.status >= 401 && error.status <= 409 && !error.code.startsWith('idempotency_');

/** Answers calls whose key was used from their receipts, runs the others, keeps their receipts: all in the transaction of `em`. */
export async function withReceipts<Ports, Input>(
  em: EntityManager,
  calls: readonly Call<Ports, Input>[],
  runGroup: GroupRun<Call<Ports, Input>>,
  keeps: (output: unknown) => boolean = () => true,
): Promise<unknown[]> {
  const results = await receiptsOf(em, calls);
  const fresh = calls.flatMap((call, index) => (results[index] === undefined ? [{ call, index }] : []));
  if (fresh.length === 0) return results;
  const done = await runGroup(em, fresh.map(({ call }) => call));
  fresh.forEach(({ index }, position) => (results[index] = done[position]));
  const kept = fresh.flatMap(({ call, index }) => (call.key === null || !(results[index] instanceof Error || keeps(results[index])) ? [] : [{ claim: claimOf(call), requestId: call.ctx.requestId, result: results[index] }]));
  if (kept.length > 0) await keepReceipts(em, kept, calls[0]!.ctx.clock.now());
  return results;
}

async function receiptsOf(em: EntityManager, calls: readonly Call<unknown, unknown>[]): Promise<unknown[]> {
  const results: unknown[] = calls.map(() => undefined);
  const keyed = calls.flatMap((call, index) => (call.key === null ? [] : [{ call, index, claim: claimOf(call) }]));
  if (keyed.length === 0) return results;
  const { clock, config } = calls[0]!.ctx;
  const notBefore = new Date(clock.now().getTime() - config.idempotencyTtlSeconds * 1000);
  const outcomes = await findReceipts(em, keyed.map(({ claim }) => claim), notBefore);
  const running = new Set<string>();
  keyed.forEach(({ call, index, claim }, position) => {
    const outcome = outcomes[position];
    const name = nameOf(claim);
    if (outcome !== undefined) {
      call.answer.replayed = outcome.replayed;
      results[index] = outcome.result;
    } else if (running.has(name)) results[index] = inProgress();
    running.add(name);
  });
  return results;
}

/**
 * A repeat must not be prepared again: the password that the first has changed would be refused, and counted as a guess.
 * So it is answered before, also while the first is being prepared here; in another process it is at worst refused.
 * Who signs in has to prove the password each time: else whoever knows the key could try passwords on the receipt, uncounted.
 */
async function unlessRepeated<Ports, Input>(call: Call<Ports, Input>, underWay: Set<string>, run: () => Promise<unknown>): Promise<unknown> {
  const name = nameOf(claimOf(call));
  if (underWay.has(name)) return inProgress();
  underWay.add(name);
  try {
    const [known] = call.ctx.principal === null ? [] : await transaction(call.ctx.em, (em) => receiptsOf(em, [call]));
    return known === undefined ? await run() : known;
  } finally {
    underWay.delete(name);
  }
}

const nameOf = ({ organizationId, key }: Claim): string => `${organizationId}\n${key}`;

const keepReceipt = (em: EntityManager, call: Call<unknown, unknown>, result: unknown): Promise<void> =>
  keepReceipts(em, [{ claim: claimOf(call), requestId: call.ctx.requestId, result }], call.ctx.clock.now());

/** Who signs in belongs to no organization yet: such keys are one namespace, and only the same request under the same key reads a receipt of it. */
const claimOf = (call: Call<unknown, unknown>): Claim => ({ ...call.key!, organizationId: call.ctx.principal?.organizationId ?? '' });

function settle<Output>(result: unknown): Output {
  if (result instanceof Error) throw result;
  return result as Output;
}

function parse<Schema extends z.ZodType>(schema: Schema, raw: unknown): z.output<Schema> {
  return settle(parseInput(schema, raw));
}

/** The input as the schema understands it, or the refusal that names what is wrong. */
export function parseInput<Schema extends z.ZodType>(schema: Schema, raw: unknown): z.output<Schema> | DomainError {
  const parsed = schema.safeParse(raw);
  return parsed.success ? parsed.data : refusalOf(parsed.error);
}
