import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parse, print } from 'graphql';
import { DomainError } from '#platform/errors.ts';
import { documentTokensMax } from './document-rules.ts';

/** What of a request says which document is meant. */
export interface Named {
  readonly query?: unknown;
  readonly documentId?: unknown;
  readonly extensions?: unknown;
}

/**
 * The registered documents, by the SHA-256 of their text. A request names one by `documentId`, or as Apollo's clients do by
 * `extensions.persistedQuery.sha256Hash`. With PERSISTED_ONLY nothing else is served; a text counts however it is formatted.
 */
export class PersistedDocuments {
  readonly #texts: ReadonlyMap<string, string>;
  readonly #isOnly: boolean;

  constructor(isOnly: boolean) {
    const file = new URL('generated/persisted-documents.json', import.meta.resolve('#supergraph'));
    this.#texts = new Map(Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>));
    this.#isOnly = isOnly;
  }

  /** The text to run; what it throws is the refusal. Undefined: the request names no document at all. */
  textOf({ query, documentId, extensions }: Named): unknown {
    const hash = documentId ?? (extensions as { persistedQuery?: { sha256Hash?: unknown } } | null | undefined)?.persistedQuery?.sha256Hash;
    if (hash !== undefined && (query == null || query === '')) return (typeof hash === 'string' ? this.#texts.get(hash) : undefined) ?? refuse();
    if (!this.#isOnly || query == null) return query;
    return (typeof query === 'string' ? this.#texts.get(hashOf(query)) : undefined) ?? refuse();
  }
}

function refuse(): never {
  const message = 'This document is not registered. Registered are those of schema/operations; `npm run schema` prints them with their hashes into schema/generated/persisted-documents.json.';
  throw new DomainError('validation_error', message, { details: [{ path: 'query', message: 'is not a registered document' }] });
}

function hashOf(query: string): string {
  try {
    return createHash('sha256').update(print(parse(query, { maxTokens: documentTokensMax }))).digest('hex');
  } catch {
    return refuse();
  }
}
