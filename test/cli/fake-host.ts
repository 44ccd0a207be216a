import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { matchesGlob } from '../../src/card/model/constants.ts'
import { VERSION } from '../../src/version.ts'

/** A request that the host received. */
export type Seen = { method: string; path: string; headers: IncomingMessage['headers']; body: string }

/** Responds to a request instead of the host; returns whether it did. */
export type Fault = (seen: Seen, response: ServerResponse) => boolean

type Agent = { manifest: unknown; served: string }

type BatchLine = { id: string; manifest: unknown; ifMatch?: string; ifNoneMatch?: string }

const tagOf = (value: unknown): string => `"${createHash('sha256').update(JSON.stringify(value)).digest('hex')}"`

/** The API of a host in memory, as far as the commands need it, with injected faults. */
export class FakeHost {
  readonly agents = new Map<string, Agent>()
  readonly seen: Seen[] = []
  /** Called first for every request, in order, until one responds. */
  faults: Fault[] = []
  /** How many requests for a card still get the previous one. */
  slowReads = 0
  pageSize = 100
  /** Whether writes are published to the edge. */
  publishes = true
  /** Whether it makes another card of an unchanged manifest than before. */
  upgraded = false
  /** Why it refuses a line of a batch. */
  refuseLine: (id: string) => readonly [status: number, code: string, detail: string] | undefined = () => undefined
  /** The agent of the root card. */
  rootAgent: string | undefined = ''
  /** The MCP server card of all agents; undefined for none. */
  mcpServerCard: object | undefined
  token = 'the-secret-admin-token'
  /** The agents that the token may read and write. */
  scope = '*'
  /** What it reports about every agent that is registered. */
  issues: object[] = []
  /** What it reports about the token. */
  ownToken: Record<string, unknown> = { id: 'admin', scopes: ['admin'], agents: ['*'], tiers: ['*'], expires: null }
  /** What it reports about itself. */
  health = {
    ...{ service: 'calling-card', version: VERSION, status: 'ok', registry: 'reachable', unpublished: 0 },
    ...{ oldestStaleCard: null, webhook: null, missing: [] as string[], misconfigured: [] },
  }
  /** What only the holder of an admin token learns from it besides. */
  missingOfManifests: string[] = []
  /** Responds to first contacts instead of the host; returns whether it did. */
  healthFault: Fault = () => false
  /** The requests for its health, which are not among those in `seen` and never get a fault. */
  readonly contacts: Seen[] = []
  #server: Server | undefined
  #waiting: { matches: (seen: Seen) => boolean; found: (seen: Seen) => void }[] = []

  async listen(port = 0): Promise<this> {
    this.#server = createServer((request, response) => void this.#receive(request, response)).listen(port, '127.0.0.1')
    await once(this.#server, 'listening')
    return this
  }

  get url(): string {
    const address = this.#server?.address() as AddressInfo | undefined
    return `http://127.0.0.1:${address?.port}`
  }

  async close(): Promise<void> {
    this.#server?.closeAllConnections()
    await new Promise(resolve => this.#server?.close(resolve))
  }

  /** Makes it as it was created. */
  reset(): void {
    Object.assign(this, new FakeHost())
    this.#waiting = []
  }

  /** Registers an agent as somebody else. */
  register(id: string, manifest: unknown): void {
    this.agents.set(id, { manifest, served: tagOf(manifest) })
  }

  /** Waits for the next request that matches, until it has a response. */
  next(matches: (seen: Seen) => boolean): Promise<Seen> {
    return new Promise(found => this.#waiting.push({ matches, found }))
  }

  /** The methods and paths of all writes, in order. */
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
    if (seen.path === '/health') {
      this.contacts.push(seen)
      const missing = seen.headers.authorization === `Bearer ${this.token}` ? this.missingOfManifests : []
      if (!this.healthFault(seen, response))
        json(response, 200, { ...this.health, missing: [...this.health.missing, ...missing] })
      return
    }
    this.seen.push(seen)
    if (!this.faults.some(fault => fault(seen, response))) this.#respond(seen, response)
    for (const waiter of this.#waiting.filter(({ matches }) => matches(seen))) {
      this.#waiting = this.#waiting.filter(other => other !== waiter)
      waiter.found(seen)
    }
  }

  #respond(seen: Seen, response: ServerResponse): ServerResponse {
    const { pathname, searchParams } = new URL(seen.path, this.url)
    const [, id = '', rest = ''] = /^\/agents\/([^/]+)(\/.*)?$/.exec(pathname) ?? []
    const isAuthorized = seen.headers.authorization === `Bearer ${this.token}`
    if (rest === '/.well-known/agent-card.json') return this.#card(id, isAuthorized, response)
    if (rest === '/mcp/server-card')
      return this.mcpServerCard
        ? json(response, 200, this.mcpServerCard)
        : problem(response, 404, 'not-found', 'No MCP.')
    if (pathname === '/.well-known/agent-card.json') return this.#card(this.rootAgent ?? '', isAuthorized, response)
    const isListOfSet = ['set', 'id', 'writable'].some(name => searchParams.has(name))
    if (pathname === '/agents' && seen.method === 'GET' && (isAuthorized || !isListOfSet))
      return this.#list(searchParams, isAuthorized, response)
    if (!isAuthorized) return problem(response, 401, 'unauthorized', 'No.')
    if (pathname === '/tokens/self') return json(response, 200, this.ownToken)
    if (pathname === '/agents:batch') return this.#putAll(seen.body, response)
    if (!matchesGlob(this.scope, id)) return problem(response, 403, 'forbidden', `The token cannot write ${id}.`)
    const agent = this.agents.get(id)
    if (rest === '/manifest' && agent) return json(response, 200, agent.manifest, tagOf(agent.manifest))
    if (rest === '/tasks' && seen.method === 'DELETE' && agent) return response.writeHead(204).end()
    const isUnknown = !agent && seen.method !== 'PUT' && seen.headers['if-match'] === undefined
    if (rest !== '' || isUnknown) return problem(response, 404, 'agent-not-found', 'No agent.')
    if (!isPreconditionMet(seen, agent)) return problem(response, 412, 'precondition-failed', 'It has changed.')
    if (seen.method === 'PUT') return this.#put(id, JSON.parse(seen.body), agent, response)
    this.agents.delete(id)
    return response.writeHead(204).end()
  }

  #card(id: string, isAuthorized: boolean, response: ServerResponse): ServerResponse {
    const agent = this.agents.get(id)
    if (!agent || (isInternal(agent) && !isAuthorized)) return problem(response, 404, 'agent-not-found', 'No agent.')
    if (this.slowReads > 0) {
      this.slowReads--
      return json(response, 200, {}, '"old"')
    }
    return json(response, 200, { name: id }, agent.served)
  }

  #list(query: URLSearchParams, isAuthorized: boolean, response: ServerResponse): ServerResponse {
    const [set, cursor] = [query.get('set'), query.get('cursor') ?? '']
    const ids = query.getAll('id')
    if (ids.some(id => !matchesGlob(this.scope, id))) return problem(response, 403, 'forbidden', 'Not these agents.')
    const isListOfSet = set !== null || ids.length > 0
    const isVisible = (id: string): boolean =>
      ids.length > 0
        ? ids.includes(id)
        : query.has('writable')
          ? matchesGlob(this.scope, id)
          : set === null
            ? isAuthorized || !isInternal(this.agents.get(id))
            : setOf(this.agents.get(id)) === set
    const visible = [...this.agents.keys()].sort().filter(id => id > cursor && isVisible(id))
    const shown = visible.slice(0, this.pageSize)
    const agents = shown.map(id => {
      const [agent, ownSet] = [this.agents.get(id), setOf(this.agents.get(id))]
      return {
        ...listed(id, this.url),
        ...(isAuthorized && { visibility: isInternal(agent) ? 'internal' : 'public' }),
        ...(isAuthorized && ownSet !== undefined && { set: ownSet }),
        ...(isListOfSet && matchesGlob(this.scope, id) && { etag: tagOf(agent?.manifest) }),
      }
    })
    return json(response, 200, { agents, ...(visible.length > shown.length && { cursor: shown.at(-1) }) })
  }

  #putAll(body: string, response: ServerResponse): ServerResponse {
    const results = body.split('\n').map((text, index) => {
      const { id, manifest, ifMatch, ifNoneMatch } = JSON.parse(text) as BatchLine
      const before = this.agents.get(id)
      const headers = { 'if-match': ifMatch, 'if-none-match': ifNoneMatch }
      const refusal = this.refuseLine(id)
      if (refusal) return { line: index + 1, id, ...failure(...refusal) }
      if (!isPreconditionMet({ headers }, before))
        return { line: index + 1, id, ...failure(412, 'precondition-failed', 'It has changed.') }
      return { line: index + 1, id, status: before ? 200 : 201, agent: this.#receipt(id, manifest, before) }
    })
    const text = results.map(result => JSON.stringify(result)).join('\n')
    return response.writeHead(200, { 'Content-Type': 'application/x-ndjson' }).end(`${text}\n`)
  }

  #put(id: string, manifest: unknown, before: Agent | undefined, response: ServerResponse): ServerResponse {
    return json(response, before ? 200 : 201, this.#receipt(id, manifest, before), tagOf(manifest))
  }

  #receipt(id: string, manifest: unknown, before: Agent | undefined) {
    const etag = tagOf(manifest)
    this.agents.set(id, { manifest, served: etag })
    return {
      id,
      seq: 1,
      changed: this.upgraded || etag !== (before && tagOf(before.manifest)),
      published: this.publishes,
      root: this.agents.size === 1,
      etags: { manifest: etag, 'agent-card.json': etag },
      urls: { card: `${this.url}/agents/${id}/.well-known/agent-card.json`, agent: `${this.url}/agents/${id}` },
      report: {
        dialect: 'gopherhole',
        filled: [],
        converted: [],
        dropped: {},
        lossy: [],
        signatures: [],
        issues: this.issues,
      },
    }
  }
}

const setOf = (agent: Agent | undefined): string | undefined => (agent?.manifest as { set?: string } | undefined)?.set

const isInternal = (agent: Agent | undefined): boolean =>
  (agent?.manifest as { visibility?: string } | undefined)?.visibility === 'internal'

const failure = (status: number, code: string, detail: string) => ({
  status,
  error: { type: 'about:blank', title: code, status, code, detail },
})

const isPreconditionMet = ({ headers }: Pick<Seen, 'headers'>, agent: Agent | undefined): boolean => {
  if (headers['if-none-match'] === '*') return agent === undefined
  return headers['if-match'] === undefined || (agent !== undefined && headers['if-match'] === tagOf(agent.manifest))
}

/** Returns an agent as lists have it. */
export const listed = (id: string, url = 'https://cards.example.com') => {
  const card = `${url}/agents/${id}/.well-known/agent-card.json`
  return { id, name: id, description: id, version: '1', card, url: '' }
}

/** Responds with JSON, behind a proxy that compresses it and so makes its entity tag weak. */
export const json = (response: ServerResponse, status: number, body: unknown, etag?: string): ServerResponse =>
  response
    .writeHead(status, { 'Content-Type': 'application/json', ...(etag && { ETag: `W/${etag}` }) })
    .end(JSON.stringify(body))

/** Responds with problem details, as the host does. */
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

/** Returns a fault for the first `count` requests that match. */
export const times = (
  count: number,
  matches: (seen: Seen) => boolean,
  respond: (response: ServerResponse) => void,
): Fault => {
  let left = count
  return (seen, response) => {
    if (left === 0 || !matches(seen)) return false
    left--
    respond(response)
    return true
  }
}

/** Matches registrations, of one agent if it is named. */
export const isPut =
  (id?: string) =>
  ({ method, path }: Seen): boolean =>
    method === 'PUT' && (id === undefined || path === `/agents/${id}`)
