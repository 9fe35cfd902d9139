import type { EntityManager } from '@mikro-orm/core';
import type { Context, Platform, RequestContext } from '../context.ts';
import type { Database } from '../database/database.ts';
import type { Migration } from '../database/migrator.ts';
import type { ExportFile } from '../exports/export-file.ts';
import type { JobHandler } from '../jobs/worker.ts';
import type { OperationFacts } from '../operation.ts';
import type { EventRenderer } from '../webhooks/event-renderer.ts';

/** The constructor of a class with decorators (an entity or a resolver). */
export type DecoratedClass = abstract new (...args: never[]) => object;

/** What a slice can be asked to do on opening its outside doors. */
export interface PortsOptions extends Platform {
  readonly database: Database;
}

export interface Closable {
  close(): Promise<void>;
}

/** The organization that demo data is made for, at the gateway's first start. */
export interface Demo {
  readonly organizationId: string;
  readonly workspaceIds: readonly string[];
  /** By role: sovereign, architect, admin … */
  readonly users: Readonly<Record<string, { readonly id: string; readonly numericId: number }>>;
  readonly now: Date;
}

/**
 * A field of `Subscription`. It is its query, answered again at each event: so who may see the answer is decided anew every
 * time, and the selection may reach any area.
 */
export interface LiveField {
  /** The type of event that tells of it; its subject is the entity. */
  readonly event: string;
  /** The query that answers with the entity, and its argument, which is the subscription's too. */
  readonly query: string;
  readonly argument: string;
  /**
   * What the event's subject is called in the entity, and a selection by which to tell whether what a subscriber waits for
   * has happened already: whoever subscribes a moment late is answered at once.
   */
  readonly id: string;
  readonly selection: string;
  readonly hasHappened: (entity: never) => boolean;
}

/**
 * A slice as the rest of the system sees it: its door. One of these is the only export of a slice's `index.ts`.
 */
export interface Subgraph<Ports extends Closable = Closable> {
  readonly name: string;
  /** Classes with a table, for the ORM. */
  readonly entities: readonly DecoratedClass[];
  readonly resolvers: readonly DecoratedClass[];
  /** Types that GraphQL reaches only through a reference or an interface. */
  readonly orphanedTypes?: readonly DecoratedClass[];
  /** `__resolveReference` per type: the entity that a key names, or null. */
  readonly references: Readonly<Record<string, (reference: never, ctx: Context<Ports>) => unknown>>;
  readonly operations: readonly { readonly facts: OperationFacts }[];
  readonly migrations: readonly Migration[];
  /** How the events that the slice records are shown to webhooks. */
  readonly events?: readonly EventRenderer<Ports>[];
  /** The fields of its `Subscription` type. */
  readonly live?: Readonly<Record<string, LiveField>>;
  /** What the slice gives to a full export of an organization. */
  readonly exports?: readonly ExportFile[];
  /** Inserts the slice's part of the demo data; a second call inserts nothing. */
  seed?(em: EntityManager, demo: Demo): Promise<void>;
  openPorts(options: PortsOptions): Promise<Ports>;
  /** Background work: handlers of jobs, and what is done every so often (`every`). */
  jobs(config: Platform['config']): readonly JobHandler<Context<Ports>>[];
}

/** A slice at work in this process: its doors open, ready to build contexts. */
export interface OpenSubgraph {
  readonly subgraph: Subgraph;
  contextOf(request: RequestContext): Context<Closable>;
  close(): Promise<void>;
}

export async function openSubgraph(subgraph: Subgraph, options: PortsOptions): Promise<OpenSubgraph> {
  const ports = await subgraph.openPorts(options);
  const { database, ...platform } = options;
  return {
    subgraph,
    contextOf: (request) => new SliceContext(platform, request, ports, database),
    close: () => ports.close(),
  };
}

/** Plain fields, but the entity manager is forked only when somebody asks for it. */
class SliceContext implements Context<Closable> {
  readonly config; readonly clock; readonly logger; readonly secrets; readonly groupCommit; readonly exportAreas;
  readonly principal; readonly requestId; readonly idempotency; readonly client; readonly answer;
  readonly ports: Closable;
  readonly reader: EntityManager;
  readonly #database: Database;
  #em: EntityManager | undefined;

  constructor(platform: Platform, request: RequestContext, ports: Closable, database: Database) {
    this.config = platform.config;
    this.clock = platform.clock;
    this.logger = platform.logger;
    this.secrets = platform.secrets;
    this.groupCommit = platform.groupCommit;
    this.exportAreas = platform.exportAreas;
    this.principal = request.principal;
    this.requestId = request.requestId;
    this.idempotency = request.idempotency;
    this.client = request.client;
    this.answer = request.answer;
    this.ports = ports;
    this.reader = database.orm.em;
    this.#database = database;
  }

  get em(): EntityManager {
    return (this.#em ??= this.#database.orm.em.fork());
  }
}
