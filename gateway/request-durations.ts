import type { Metric } from 'prom-client';

/** Upper bounds of the buckets, in seconds. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, Infinity];
const name = 'http_request_duration_seconds';

/** Requests to one route, with one method and status; `counts` has one for each bucket. */
class Series {
  readonly #labels: Readonly<Record<string, string>>;
  readonly #counts = bounds.map(() => 0);
  #sum = 0;

  constructor(labels: Readonly<Record<string, string>>) {
    this.#labels = labels;
  }

  observe(seconds: number): void {
    let bucket = 0;
    while (seconds > bounds[bucket]!) bucket += 1;
    this.#counts[bucket]! += 1;
    this.#sum += seconds;
  }

  get values(): object[] {
    const labels = this.#labels;
    let count = 0;
    const buckets = bounds.map((bound, index) => ({ metricName: `${name}_bucket`, labels: { le: bound === Infinity ? '+Inf' : bound, ...labels }, value: (count += this.#counts[index]!) }));
    return [...buckets, { metricName: `${name}_sum`, labels, value: this.#sum }, { metricName: `${name}_count`, labels, value: count }];
  }
}

/** A histogram for prom-client's registry, whose own hashes the labels at every observation: 3 µs a request. */
export class RequestDurations {
  /** By route, method and status. */
  readonly #series = new Map<object, Map<string, Map<number, Series>>>();

  /** `key` stands for the route: the same object each time. */
  observe(key: object, method: string, route: string, status: number, seconds: number): void {
    let ofRoute = this.#series.get(key);
    if (ofRoute === undefined) this.#series.set(key, (ofRoute = new Map()));
    let ofMethod = ofRoute.get(method);
    if (ofMethod === undefined) ofRoute.set(method, (ofMethod = new Map()));
    let series = ofMethod.get(status);
    if (series === undefined) ofMethod.set(status, (series = new Series({ method, route, status: String(status) })));
    series.observe(seconds);
  }

  readonly metric = {
    name,
    get: async () => ({
      name,
      help: 'Time from a request to its answer, by route and status.',
      type: 'histogram',
      aggregator: 'sum',
      values: [...this.#series.values()].flatMap((ofRoute) => [...ofRoute.values()]).flatMap((ofMethod) => [...ofMethod.values()]).flatMap(({ values }) => values),
    }),
  } as unknown as Metric;
}
