import { createHash } from 'node:crypto'
import { agentCard } from '../../test/support/cards/cards.ts'
import type { UpstreamServer } from '../../test/support/upstream.ts'
import { History } from './history.ts'
import type { SoakHost } from './host.ts'

/** A source of pseudo-random numbers: the same for the same seed. */
export type Random = {
  /** Returns a whole number from 0 to `count` - 1. */
  below: (count: number) => number
  isLikely: (probability: number) => boolean
}

/** Creates a linear congruential generator. */
export const createRandom = (seed: number): Random => {
  let state = seed >>> 0
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  return { below: count => Math.floor(next() * count), isLikely: probability => next() < probability }
}

/** A token that was issued: its key in KV, and its writes. */
export type KnownToken = { kvKey: string; history: History }

/** A part of the receipt of a registration or a refresh. */
type Receipt = { seq: number; published: boolean; outcome?: string }

const AGENTS = 8
const REMOTE_AGENTS = 3

/** Writes agents, tokens and remote cards, and keeps what the host acknowledged. */
export class Workload {
  readonly agents = new Map(Array.from({ length: AGENTS }, (_, index) => [`agent-${index}`, new History()]))
  readonly remoteIds = Array.from({ length: REMOTE_AGENTS }, (_, index) => `remote-${index}`)
  /** By the ids of tokens. */
  readonly tokens = new Map<string, KnownToken>()
  /** By agent, the revision of each acknowledged registration or refresh. */
  readonly revisions = new Map<string, number[]>()
  /** Writes that the host reported as done, and those whose connection was lost. */
  acknowledged = 0
  unanswered = 0
  /** Writes that the host reported as published, and those of them that KV did not have. */
  published = 0
  stale = 0
  readonly #host: SoakHost
  readonly #upstream: UpstreamServer
  /** The number of registrations, and the version of every remote card. */
  #count = 0
  #remoteVersion = 0

  constructor(host: SoakHost, upstream: UpstreamServer) {
    this.#host = host
    this.#upstream = upstream
    upstream.serve(request => Response.json(this.remoteCard(new URL(request.url).pathname.slice(1))))
  }

  /** Registers the agents with remote cards. */
  async prepare(): Promise<void> {
    for (const id of this.remoteIds) {
      const manifest = { upstream: { card: `${this.#upstream.origin}/${id}` } }
      const response = await this.#host.send('PUT', `/agents/${id}`, manifest)
      if (!response.ok) throw new Error(`PUT ${id}: ${response.status} ${await response.text()}`)
    }
  }

  /** Makes one write of a random kind. */
  async write(random: Random): Promise<void> {
    const kind = random.below(10)
    if (kind < 6) await this.#writeAgent(random)
    else if (kind < 8) await this.#writeToken(random)
    else await this.#refresh(random)
  }

  /** Returns the card that the agent with a remote card publishes now: its version is that of the newest write. */
  remoteCard(id: string) {
    return { ...agentCard('https://upstream.example'), name: id, version: `1.${this.#remoteVersion}.0` }
  }

  async #writeAgent(random: Random): Promise<void> {
    const id = `agent-${random.below(AGENTS)}`
    const history = this.agents.get(id) ?? new History()
    if (random.isLikely(0.1)) {
      await this.#record(history, undefined, () => this.#host.send('DELETE', `/agents/${id}`))
      return
    }
    const version = `1.${++this.#count}.0`
    const manifest = {
      card: { ...agentCard('https://agent.example'), name: id, version },
      ...(random.isLikely(0.3) && { extended: { description: `Extended in ${version}` } }),
      ...(random.isLikely(0.3) && { hosts: [`${id}.example.com`] }),
      ...(random.isLikely(0.2) && { visibility: 'internal' }),
      ...(random.isLikely(0.2) && { route: 'gateway', upstream: { url: 'https://inner.example/a2a' } }),
    }
    const response = await this.#record(history, version, () => this.#host.send('PUT', `/agents/${id}`, manifest))
    if (response) await this.#noteReceipt(id, (await response.json()) as Receipt)
  }

  async #writeToken(random: Random): Promise<void> {
    const [id, known] = [...this.tokens].at(random.below(this.tokens.size + 1)) ?? []
    if (id !== undefined && known && random.isLikely(0.5)) {
      await this.#record(known.history, undefined, () => this.#host.send('DELETE', `/tokens/${id}`))
      return
    }
    const history = new History()
    const response = await this.#record(history, 'issued', () =>
      this.#host.send('POST', '/tokens', { scopes: ['read'] }),
    )
    if (!response) return
    const issued = (await response.json()) as { id: string; token: string; published: boolean }
    const kvKey = `token:${createHash('sha256').update(issued.token).digest('hex')}`
    this.tokens.set(issued.id, { kvKey, history })
    if (issued.published) await this.#checkPublished(async () => (await this.#host.readKv(kvKey)) !== undefined)
  }

  async #refresh(random: Random): Promise<void> {
    const id = `remote-${random.below(REMOTE_AGENTS)}`
    if (random.isLikely(0.7)) this.#remoteVersion++
    const response = await this.#record(new History(), undefined, () =>
      this.#host.send('POST', `/agents/${id}/refresh`),
    )
    if (!response) return
    const receipt = (await response.json()) as Receipt
    if (receipt.outcome === 'refreshed') await this.#noteReceipt(id, receipt)
  }

  /** Makes a write and adds it to a history. Returns the response if it was acknowledged. */
  async #record(
    history: History,
    state: string | undefined,
    send: () => Promise<Response>,
  ): Promise<Response | undefined> {
    await this.#host.ready()
    const start = performance.now()
    const response = await send().catch(() => undefined)
    const end = performance.now()
    // An error of the client, such as 404 for an agent that is gone, is no write.
    if (response && response.status >= 400 && response.status < 500) return undefined
    const isAcknowledged = response?.ok === true
    history.add({ state, start, end, isAcknowledged })
    if (isAcknowledged) this.acknowledged++
    else this.unanswered++
    return isAcknowledged ? response : undefined
  }

  async #noteReceipt(id: string, { seq, published }: Receipt): Promise<void> {
    this.revisions.set(id, [...(this.revisions.get(id) ?? []), seq])
    if (!published) return
    await this.#checkPublished(async () => ((await this.#host.readKv(`card:${id}`))?.metadata.seq ?? 0) >= seq)
  }

  /** KV must have what the host reported as published, whatever happens to the host. */
  async #checkPublished(isInKv: () => Promise<boolean>): Promise<void> {
    this.published++
    if (!(await isInKv())) this.stale++
  }
}
