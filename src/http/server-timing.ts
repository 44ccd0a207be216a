/** The metrics of `Server-Timing`, each with what its time was spent on. */
export const TIMING_METRICS = [
  /** Checking credentials: tokens in KV, and JWTs with the keys of their issuer. */
  'auth',
  /** Reading the agent, its card and what calls are checked against; 0 if they are in memory. */
  'kv',
  /** Receiving the call. */
  'body',
  /** Rate limits, and checking the call. */
  'gate',
  /** The agent, until its whole response or the headers of its stream. */
  'upstream',
  /** The whole request. */
  'total',
] as const

type Metric = (typeof TIMING_METRICS)[number]

/** Measures one request, in whole milliseconds. The clock of Workers stands still between operations of the network. */
export class ServerTiming {
  readonly #startedAt = Date.now()
  readonly #durations = new Map<Metric, number>()
  #lapStartedAt = this.#startedAt

  /** Starts to measure a request whose client prefers `server-timing` (RFC 7240 §2). */
  static start(headers: Headers): ServerTiming | undefined {
    const preferences = headers.get('Prefer')?.replace(/"(?:[^"\\]|\\.)*"?/g, '') ?? ''
    return /(?:^|,)[ \t]*server-timing[ \t]*(?:[;,]|$)/i.test(preferences) ? new ServerTiming() : undefined
  }

  /** Counts the time since the last lap, or since the start, for a metric. */
  lap(metric: Exclude<Metric, 'total'>): void {
    const now = Date.now()
    this.#durations.set(metric, (this.#durations.get(metric) ?? 0) + now - this.#lapStartedAt)
    this.#lapStartedAt = now
  }

  /** Reports the durations to a page of any origin. Only for callers that may know that the agent exists. */
  addTo({ headers }: Response): void {
    this.#durations.set('total', Date.now() - this.#startedAt)
    const measured = TIMING_METRICS.filter(name => this.#durations.has(name))
    headers.set('Server-Timing', measured.map(name => `${name};dur=${this.#durations.get(name)}`).join(', '))
    headers.set('Preference-Applied', 'server-timing')
    headers.set('Timing-Allow-Origin', '*')
    headers.append('Vary', 'Prefer')
  }
}
