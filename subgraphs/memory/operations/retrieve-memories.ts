import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { decodeCursor, encodeCursor } from '#platform/cursor.ts';
import { DomainError } from '#platform/errors.ts';
import { query } from '#platform/operation.ts';
import { workspaceScope } from '#platform/requirements.ts';
import { RetrieveMode } from '../entities/retrieval.ts';
import type { Retrieval, RetrievalResult } from '../entities/retrieval.ts';
import { fuse } from '../fusion.ts';
import type { Ranked } from '../fusion.ts';
import { highlight } from '../ports/keyword/highlight.ts';
import type { MemoryPorts } from '../ports/ports.ts';
import type { RetrieveFilter } from '../queries/filter.ts';
import { findBySeq } from '../queries/find-by-seq.ts';
import { nearestPassages } from '../queries/nearest-passages.ts';
import { keepRanking, loadRanking } from '../queries/rankings.ts';
import type { Ranking } from '../queries/rankings.ts';

/** A ranking holds the best so many objects; `total` counts them. Meilisearch's bound is the same. */
const rankedMax = 1000;

const words = z.string().trim().min(1, 'must not be blank').max(2000).refine((text) => !text.includes('\0') && text.isWellFormed(), 'must be well-formed Unicode without NUL characters');

const input = z
  .strictObject({
    q: words.nullish(),
    keyword: words.nullish(),
    mode: z.enum(RetrieveMode).nullish(),
    limit: z.number().int('must be a whole number').min(1, 'must be 1 to 100').max(100, 'must be 1 to 100').nullish(),
    cursor: z.string().min(1).nullish(),
    category: z.string().nullish(),
    department: z.string().nullish(),
    tags: z.array(z.string()).nullish(),
    createdAfter: z.date().nullish(),
    createdBefore: z.date().nullish(),
    workspaceId: z.string().nullish(),
    minRelevance: z.number().min(0, 'must be 0 to 1').max(1, 'must be 0 to 1').nullish(),
  })
  .refine(({ q, keyword }) => q != null || keyword != null, { path: ['q'], message: 'is required, unless keyword is given' })
  .refine(({ q, mode }) => mode !== RetrieveMode.SEMANTIC || q != null, { path: ['q'], message: 'is required by mode=semantic' });

type Input = z.output<typeof input>;

/** What is asked, with every default filled in: the identity of the list that cursors are bound to. */
interface Question {
  readonly workspaceId: string;
  readonly mode: RetrieveMode;
  readonly meaning: string;
  readonly words: string;
  readonly filter: RetrieveFilter;
  readonly minRelevance: number;
}

/**
 * Searches a workspace by meaning, by words, or by both. The first page freezes the ranking; further pages walk it, so that
 * nothing is repeated or skipped whatever is stored in between.
 */
export const retrieveMemories = query({
  name: 'retrieveMemories',
  requires: 'vaultRead',
  input,
  run: async (ctx: Context<MemoryPorts>, asked): Promise<Retrieval> => {
    const startedAt = performance.now();
    const question = questionOf(ctx, asked);
    const limit = asked.limit ?? 10;
    const { ranking, offset } = asked.cursor == null ? { ranking: await rank(ctx, question), offset: 0 } : await resume(ctx, question, asked.cursor);
    const results = await resultsOf(ctx, question.workspaceId, ranking.terms, ranking.results.slice(offset, offset + limit));
    const next = offset + limit;
    const hasMore = next < ranking.results.length;
    return {
      query: asked.q ?? asked.keyword!,
      mode: question.mode,
      results,
      total: ranking.results.length,
      hasMore,
      nextCursor: hasMore ? await freeze(ctx, question, ranking, next) : null,
      tookMs: Math.round(performance.now() - startedAt),
    };
  },
});

function questionOf(ctx: Context<MemoryPorts>, asked: Input): Question {
  const byDefault = asked.q == null ? RetrieveMode.KEYWORD : asked.keyword == null ? RetrieveMode.SEMANTIC : RetrieveMode.HYBRID;
  return {
    workspaceId: workspaceScope(ctx.principal!, asked.workspaceId, 'read'),
    mode: asked.mode ?? byDefault,
    meaning: asked.q ?? asked.keyword!,
    words: asked.keyword ?? asked.q!,
    filter: {
      category: asked.category ?? null,
      department: asked.department ?? null,
      tags: asked.tags ?? [],
      createdAfter: asked.createdAfter ?? null,
      createdBefore: asked.createdBefore ?? null,
    },
    minRelevance: asked.minRelevance ?? 0,
  };
}

async function rank(ctx: Context<MemoryPorts>, question: Question): Promise<Ranking> {
  const byMode: Record<RetrieveMode, () => Promise<Ranking>> = {
    [RetrieveMode.SEMANTIC]: async () => ({ terms: [], results: await byMeaning(ctx, question) }),
    [RetrieveMode.KEYWORD]: async () => {
      const { hits, terms } = await byWords(ctx, question, 'tiered');
      return { terms, results: hits.map(({ seq, score }) => ({ seq, score, start: 0, end: 0 })) };
    },
    [RetrieveMode.HYBRID]: async () => {
      const [{ hits, terms }, meanings] = await Promise.all([byWords(ctx, question, 'bm25'), byMeaning(ctx, question)]);
      return { terms, results: fuse(hits, meanings) };
    },
  };
  const { terms, results } = await byMode[question.mode]();
  return { terms, results: results.filter(({ score }) => score >= question.minRelevance).slice(0, rankedMax) };
}

function byWords(ctx: Context<MemoryPorts>, { workspaceId, words: text, filter }: Question, ranking: 'tiered' | 'bm25') {
  return ctx.ports.keywords.search(ctx.em, { workspaceId, text, filter, limit: rankedMax, ranking });
}

async function byMeaning(ctx: Context<MemoryPorts>, { workspaceId, meaning, filter }: Question): Promise<Ranked[]> {
  const { embedder } = ctx.ports;
  const vector = await embedder.embedQuery(meaning);
  const passages = await nearestPassages(ctx.em, { workspaceId, vector, model: embedder.model, filter, limit: rankedMax, exactMax: ctx.config.vectorExactMax });
  return passages.map(({ seq, start, end, similarity }) => ({ seq, start, end, score: Math.min(1, Math.max(0, similarity)) }));
}

/** A page as it is shown: what was deleted or rewritten since the ranking was made is left out. */
export async function resultsOf(ctx: Context<MemoryPorts>, workspaceId: string, terms: readonly string[], ranked: readonly Ranked[]): Promise<RetrievalResult[]> {
  const objects = await findBySeq(ctx.em, workspaceId, ranked.map(({ seq }) => seq));
  return ranked.flatMap(({ seq, score, start, end }) => {
    const object = objects.get(seq);
    if (!object) return [];
    const { id, content, metadata, createdAt } = object;
    const marked = terms.length > 0 ? highlight(content, terms) : [];
    const highlights = marked.length > 0 ? marked : highlight(content.slice(start, end), [], { whole: true });
    return [{ id, content, metadata, createdAt, relevanceScore: score, highlights }];
  });
}

const listOf = (question: Question) => ['retrieveMemories', question];

async function freeze(ctx: Context<MemoryPorts>, question: Question, ranking: Ranking, next: number): Promise<string> {
  const expiresAt = new Date(ctx.clock.now().getTime() + ctx.config.cursorTtlSeconds * 1000);
  const digest = await keepRanking(ctx.em, question.workspaceId, ranking, expiresAt);
  return encodeCursor(ctx, listOf(question), { key: `${digest} ${next}`, side: 'after' });
}

async function resume(ctx: Context<MemoryPorts>, question: Question, cursor: string): Promise<{ ranking: Ranking; offset: number }> {
  const [digest, offset] = String(decodeCursor(ctx, listOf(question), cursor).key).split(' ');
  const ranking = await loadRanking(ctx.em, digest!);
  if (!ranking) throw new DomainError('cursor_expired', 'The results behind this cursor are gone; start again without a cursor.');
  return { ranking, offset: Number(offset) };
}
