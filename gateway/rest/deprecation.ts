/** What is said of a row that will end; interface 9 gives callers at least 12 months. */
export interface Deprecation {
  /** Both are dates, as in `2026-05-01`; a day begins at 00:00 UTC. */
  readonly since: string;
  readonly sunset: string;
  /** The path to use instead. */
  readonly replacement: string;
}

/** RFC 9745, RFC 8594 and RFC 5829, on every answer of such a row. `reference` is where /docs describes it. */
export const deprecationHeaders = ({ since, sunset, replacement }: Deprecation, reference: string) => ({
  deprecation: `@${Date.parse(since) / 1000}`,
  sunset: new Date(sunset).toUTCString(),
  link: `<${replacement}>; rel="successor-version", <${reference}>; rel="deprecation"; type="text/html"`,
});

export const deprecationText = ({ since, sunset, replacement }: Deprecation): string => `Deprecated since ${since}, ends on ${sunset}: use ${replacement}`;
