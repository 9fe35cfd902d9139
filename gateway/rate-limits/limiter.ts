import { LRUCache } from 'lru-cache';
import type { Clock } from '#platform/clock.ts';
import { DomainError } from '#platform/errors.ts';
import type { Principal } from '#platform/principal.ts';
import { capacityOf } from '#platform/sliding-window.ts';
import type { Rate } from '#platform/sliding-window.ts';
import { clientOf } from './client-address.ts';
import { endpoints } from './policy.ts';
import type { Policy } from './policy.ts';
import type { Layer, LimitStore, Standing } from './store.ts';

export type Kind = 'read' | 'write';

/** What is counted: who asks, what for, and how often at once. */
export interface Ask {
  readonly principal: Principal | null;
  readonly address: string;
  readonly kind: Kind;
  readonly cost: number;
  /** Names of endpoint rules, each as often as it is used. */
  readonly endpoints: readonly string[];
}

/** What the answer tells of it. */
export interface Verdict {
  readonly standings: readonly Standing[];
  /** Of the tightest layer, or of the one that refused. */
  readonly headers: Readonly<Record<string, string>>;
  readonly refusal: DomainError | null;
}

/** Applies the policy: which layers a request counts for, and what the answer says of it. */
export class Limiter {
  readonly #policy: Policy;
  readonly #store: LimitStore;
  readonly #clock: Clock;
  /** Addresses whose credentials are not looked at until then, because too many were not valid. */
  readonly #shut = new LRUCache<string, { verdict: Verdict; untilMs: number }>({ max: 50_000 });

  constructor(policy: Policy, store: LimitStore, clock: Clock) {
    this.#policy = policy;
    this.#store = store;
    this.#clock = clock;
  }

  take(ask: Ask): Promise<Verdict> {
    return this.#take(this.#layersOf(ask));
  }

  /** Counts a credential that is not valid. */
  async takeRefused(address: string): Promise<Verdict> {
    const client = clientOf(address);
    const verdict = await this.#take([addressLayer(client, 'refused', this.#policy.address.refused, 1)]);
    if (verdict.refusal !== null) this.#shut.set(client, { verdict, untilMs: this.#nowMs() + verdict.standings[0]!.waitMs });
    return verdict;
  }

  /** The refusal that meets every credential from there, before it is looked up; null: it may be tried. */
  shutOut(address: string): Verdict | null {
    if (this.#shut.size === 0) return null;
    const shut = this.#shut.get(clientOf(address));
    if (shut === undefined || shut.untilMs <= this.#nowMs()) return null;
    const elapsedMs = this.#nowMs() - (shut.untilMs - shut.verdict.standings[0]!.waitMs);
    return this.#verdictOf(shut.verdict.standings.map((standing) => ({ ...standing, waitMs: standing.waitMs - elapsedMs, resetMs: standing.resetMs - elapsedMs })));
  }

  /** An endpoint's rule counts what was done: takes back what a refused request spent, and answers how things stand without it. */
  async giveBackEndpoints({ standings }: Verdict): Promise<Verdict> {
    await this.#store.giveBack(standings.flatMap(({ layer }) => (layer.scope === 'endpoint' ? [layer] : [])));
    return this.#verdictOf(standings.filter(({ layer }) => layer.scope !== 'endpoint'));
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  async #take(layers: readonly Layer[]): Promise<Verdict> {
    return this.#verdictOf(await this.#store.take(layers));
  }

  #layersOf({ principal, address, kind, cost, endpoints: names }: Ask): Layer[] {
    if (principal === null) return [addressLayer(clientOf(address), kind, this.#policy.address[kind], cost)];
    const { organizationId, plan, isServiceAccount, credentialId } = principal;
    const rates = this.#policy[isServiceAccount ? 'service_account' : 'token'][plan];
    const own = `{${organizationId}}:${credentialId}`;
    const name = 'requests' in rates ? 'token' : kind === 'read' ? 'token-read' : 'token-write';
    const layers: Layer[] = [{ scope: 'token', name, key: own, rate: 'requests' in rates ? rates.requests : rates[kind], cost }];
    if (this.#policy.organization !== null) layers.push({ scope: 'org', name: 'org', key: `{${organizationId}}`, rate: this.#policy.organization[plan], cost });
    for (const endpoint of new Set(names)) {
      const key = endpoints[endpoint as keyof typeof endpoints].per === 'token' ? own : `{${organizationId}}`;
      layers.push({ scope: 'endpoint', name: `endpoint ${endpoint}`, key, rate: this.#policy.endpoint[endpoint]!, cost: names.filter((one) => one === endpoint).length });
    }
    return layers;
  }

  #verdictOf(standings: readonly Standing[]): Verdict {
    let tightest = standings[0]!;
    for (const standing of standings) if (isTighter(standing, tightest)) tightest = standing;
    return { standings, headers: this.#headersOf(tightest, standings), refusal: tightest.waitMs > 0 ? refusalOf(tightest) : null };
  }

  /** The contract's four, and draft-ietf-httpapi-ratelimit-headers-10. `Remaining` is 0 while the burst is used. */
  #headersOf({ layer, count, resetMs }: Standing, standings: readonly Standing[]): Record<string, string> {
    const remaining = Math.max(0, layer.rate.limit - count);
    return {
      'x-ratelimit-limit': String(layer.rate.limit),
      'x-ratelimit-remaining': String(remaining),
      'x-ratelimit-reset': String(Math.ceil((this.#nowMs() + resetMs) / 1000)),
      'x-ratelimit-scope': layer.scope,
      'ratelimit': `"${layer.name}";r=${remaining};t=${Math.ceil(resetMs / 1000)}`,
      'ratelimit-policy': standings.map(({ layer: { name, rate } }) => `"${name}";q=${rate.limit};w=${Math.ceil(rate.windowMs / 1000)}`).join(', '),
    };
  }

  #nowMs(): number {
    return this.#clock.now().getTime();
  }
}

const addressLayer = (client: string, kind: Kind | 'refused', rate: Rate, cost: number): Layer => ({ scope: 'token', name: `address-${kind}`, key: `{${client}}`, rate, cost });

/** Who refuses longest, else who has least room left. */
function isTighter(one: Standing, other: Standing): boolean {
  if (one.waitMs !== other.waitMs) return one.waitMs > other.waitMs;
  return capacityOf(one.layer.rate) - one.count < capacityOf(other.layer.rate) - other.count;
}

function refusalOf({ layer, waitMs }: Standing): DomainError {
  const seconds = Math.ceil(waitMs / 1000);
  const whose = layer.name.startsWith('address') ? 'your address' : layer.scope === 'token' ? 'this credential' : layer.scope === 'org' ? 'your organization' : layer.name.slice('endpoint '.length);
  const per = layer.rate.windowMs === 60_000 ? 'a minute' : layer.rate.windowMs === 3_600_000 ? 'an hour' : `in ${Math.round(layer.rate.windowMs / 1000)} seconds`;
  return new DomainError('rate_limit_exceeded', `The limit of ${layer.rate.limit} ${per} for ${whose} is used up. Try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`, {
    scope: layer.scope,
    retry_after_seconds: seconds,
  });
}
