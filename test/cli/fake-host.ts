import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One request as the host saw it. */
export type Seen = { method: string; path: string; headers: IncomingMessage['headers']; body: string }

/** Answers a request in the host's place, and says whether it did. */
export type Fault = (seen: Seen, response: ServerResponse) => boolean

type Agent = { manifest: unknown; served: string }

const tagOf = (value: unknown): string => `"${createHash('sha256').update(JSON.stringify(value)).digest('hex')}"`

/** The registry's HTTP contract in memory, as far as the command needs it, with faults to order. */
export class FakeHost {
  readonly agents = new Map<string, Agent>()
  readonly seen: Seen[] = []
  /** Asked first for every request; a fault that answers is what the client gets. */
  faults: Fault[] = []
  /** How many reads of a card are answered with the old one after a write. */
  slowReads = 0
  pageSize = 100
  /** Whether the edge takes what is written. */
  publishes = true
  /** Whether it makes another card of a manifest than it did when it took it. */
  upgraded = false
  /** The agent that the host name stands for. */
  rootAgent: string | undefined
  token = 'the-secret-admin-token'
  readonly #server: Server
  #waiting: { matches: (seen: Seen) => boolean; found: (seen: Seen) => void }[] = []

  constructor() {
    this.#server = createServer((request, response) => void this.#receive(request, response))
  }

  async listen(port = 0): Promise<this> {
    this.#server.listen(port, '127.0.0.1')
    await once(this.#server, 'listening')
    return this
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise(resolve => this.#server.close(resolve))
  }

  /** Registers an agent as somebody else would. */
  register(id: string, manifest: unknown): void {
    this.agents.set(id, { manifest, served: tagOf(manifest) })
  }

  /** The next request that matches, once it has been answered. */
  next(matches: (seen: Seen) => boolean): Promise<Seen> {
    return new Promise(found => this.#waiting.push({ matches, found }))
  }

  /** The writes that arrived, in order. */
  get writes(): string[] {
    return this.seen.filter(({ method }) => method !== 'GET').map(({ method, path }) => `${method} ${path}`)
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const seen: Seen = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    }
    this.seen.push(seen)
    if (!this.faults.some(fault => fault(seen, response))) this.#answer(seen, response)
    for (const waiter of this.#waiting.filter(({ matches }) => matches(seen))) {
      this.#waiting = this.#waiting.filter(other => other !== waiter)
      waiter.found(seen)
    }
  }

  #answer(seen: Seen, response: ServerResponse): ServerResponse {
    const { pathname, searchParams } = new URL(seen.path, this.url)
    const [, id = '', rest = ''] = /^\/agents\/([^/]+)(\/.*)?$/.exec(pathname) ?? []
    if (rest === '/.well-known/agent-card.json') return this.#card(id, response)
    if (pathname === '/.well-known/agent-card.json') return this.#card(this.rootAgent ?? '', response)
    const authorised = seen.headers.authorization === `Bearer ${this.token}`
    if (pathname === '/agents' && seen.method === 'GET')
      return this.#list(searchParams.get('cursor') ?? '', authorised, response)
    if (!authorised) return problem(response, 401, 'unauthorised', 'No.')
    const agent = this.agents.get(id)
    if (rest === '/manifest' && agent) return json(response, 200, agent.manifest, tagOf(agent.manifest))
    if (rest !== '' || (!agent && seen.method !== 'PUT')) return problem(response, 404, 'agent-not-found', 'No agent.')
    if (!holds(seen, agent)) return problem(response, 412, 'precondition-failed', 'It has changed.')
    if (seen.method === 'PUT') return this.#put(id, JSON.parse(seen.body), agent, response)
    this.agents.delete(id)
    return response.writeHead(204).end()
  }

  #card(id: string, response: ServerResponse): ServerResponse {
    const agent = this.agents.get(id)
    if (!agent || isInternal(agent)) return problem(response, 404, 'agent-not-found', 'No agent.')
    if (this.slowReads > 0) {
      this.slowReads--
      return json(response, 200, {}, '"old"')
    }
    return json(response, 200, {}, `W/${agent.served}`)
  }

  #list(cursor: string, authorised: boolean, response: ServerResponse): ServerResponse {
    const ids = [...this.agents.keys()].sort().filter(id => id > cursor)
    const visible = ids.filter(id => authorised || !isInternal(this.agents.get(id)))
    const shown = visible.slice(0, this.pageSize)
    const agents = shown.map(id => ({ id, name: id, description: id, version: '1', card: '', url: '' }))
    return json(response, 200, { agents, ...(visible.length > shown.length && { cursor: shown.at(-1) }) })
  }

  #put(id: string, manifest: unknown, before: Agent | undefined, response: ServerResponse): ServerResponse {
    const etag = tagOf(manifest)
    this.agents.set(id, { manifest, served: etag })
    const body = {
      id,
      seq: 1,
      changed: this.upgraded || etag !== (before && tagOf(before.manifest)),
      published: this.publishes,
      root: this.agents.size === 1,
      etags: { manifest: etag, 'agent-card.json': etag },
      urls: { card: `${this.url}/agents/${id}/.well-known/agent-card.json`, agent: `${this.url}/agents/${id}` },
      report: { dialect: 'gopherhole', filled: [], converted: [], dropped: {}, issues: [] },
    }
    return json(response, before ? 200 : 201, body, etag)
  }
}

const isInternal = (agent: Agent | undefined): boolean =>
  (agent?.manifest as { visibility?: string } | undefined)?.visibility === 'internal'

const holds = ({ headers }: Seen, agent: Agent | undefined): boolean => {
  if (headers['if-none-match'] === '*') return agent === undefined
  return headers['if-match'] === undefined || (agent !== undefined && headers['if-match'] === tagOf(agent.manifest))
}

const json = (response: ServerResponse, status: number, body: unknown, etag?: string): ServerResponse =>
  response
    .writeHead(status, { 'Content-Type': 'application/json', ...(etag && { ETag: etag }) })
    .end(JSON.stringify(body))

/** Answers a problem, as the host does. */
export const problem = (
  response: ServerResponse,
  status: number,
  code: string,
  detail: string,
  more: { errors?: { pointer: string; message: string }[]; headers?: Record<string, string> } = {},
): ServerResponse =>
  response
    .writeHead(status, { 'Content-Type': 'application/problem+json', ...more.headers })
    .end(JSON.stringify({ type: 'about:blank', title: code, status, code, detail, errors: more.errors }))

/** A fault for the first `times` requests that match. */
export const times = (
  count: number,
  matches: (seen: Seen) => boolean,
  answer: (response: ServerResponse) => void,
): Fault => {
  let left = count
  return (seen, response) => {
    if (left === 0 || !matches(seen)) return false
    left--
    answer(response)
    return true
  }
}

/** Whether a request is a registration, of one agent if it is named. */
export const isPut =
  (id?: string) =>
  ({ method, path }: Seen): boolean =>
    method === 'PUT' && (id === undefined || path === `/agents/${id}`)
