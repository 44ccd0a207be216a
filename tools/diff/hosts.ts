import { Agent, request as httpRequest, type RequestOptions } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '../../src/json/json.ts'
import type { IssuerServer } from '../../test/support/issuer.ts'
import {
  token as adminToken,
  type HostConfig,
  main,
  type Runtime,
  startHostRuntime,
} from '../../test/support/runtime.ts'
import { makeSigningKey } from '../../test/support/signing-key.ts'
import { AGENT_SECRET, manifestOf, rootAgent, SERVICE, type TestedAgent, tokenRequests } from './agents.ts'
import type { CallRequest } from './cases.ts'
import { type Headers, jwts } from './headers.ts'
import { toBytes } from './mutate.ts'
import { PAGE_PLACEHOLDER } from './parameters.ts'
import { makeResponse } from './responses.ts'
import { type Exchange, pairsOf, type Respond, ScriptedAgent } from './scripted-agent.ts'

/** A response as the caller receives it. `isCut` is set if its connection ended before the end of the body. */
export type HostResponse = { status: number; headers: Headers; body: string; isCut: boolean }

/** A response, or the error of the connection that ended without one. */
export type Received = HostResponse | { failed: string }

/** What happened in a case on one host. */
export type Outcome = { responses: Received[]; exchanges: Exchange[] }

/** Requests to one agent, and how it responds to each; `origin` is where it listens. */
export type CallSequence = {
  agent: TestedAgent
  steps: readonly CallRequest[]
  respondTo: (step: number, origin: string) => Respond
}

/** What both hosts share: their key, and the issuer of JWTs with the tokens that it has signed. */
export type Shared = { signingKey: string; issuer: IssuerServer; jwts: Record<string, string> }

/** Makes what both hosts share. */
export const share = async (issuer: IssuerServer): Promise<Shared> => {
  const inTenHours = Math.floor(Date.now() / 1000) + 36_000
  const signed = Object.entries(jwts).map(async ([name, { claims, header }]) => {
    const all = { aud: 'weather-api', sub: 'somebody', exp: inTenHours, ...claims }
    return [name, await issuer.sign(all, header)] as const
  })
  return { signingKey: JSON.stringify(makeSigningKey()), issuer, jwts: Object.fromEntries(await Promise.all(signed)) }
}

/** Returns the header that frames a body: Node.js adds none to requests whose methods have no body. */
const framingOf = ({ isChunked }: CallRequest, body: Buffer): [string, string[]] =>
  isChunked ? ['Transfer-Encoding', ['chunked']] : ['Content-Length', [String(body.length)]]

const TIMEOUT_MS = 120_000
const MAX_WAIT_FOR_LOG_MS = 60_000

/** A host under comparison, with the scripted agent that only this host calls. */
export class DiffHost {
  readonly agent: ScriptedAgent
  readonly #runtime: Runtime
  readonly #connections = new Agent({ keepAlive: true, maxSockets: 64 })
  readonly #shared: Shared
  /** The values of placeholders, and the names that stand for them in comparisons. */
  readonly values = new Map<string, string>()
  #markers = 0

  private constructor(agent: ScriptedAgent, runtime: Runtime, shared: Shared) {
    this.agent = agent
    this.#runtime = runtime
    this.#shared = shared
  }

  /** Starts a build, and registers the agents and tokens. */
  static async start(config: HostConfig, agents: readonly TestedAgent[], shared: Shared): Promise<DiffHost> {
    const fallback: Respond = request => makeResponse({ seed: 1, isGood: true, caseNumber: 0 }, request, agent.origin)
    const agent: ScriptedAgent = await ScriptedAgent.start(fallback)
    const { origin: issuer } = shared.issuer
    const runtime = await startHostRuntime(config, {
      [main]: {
        vars: {
          ALLOWED_ORIGINS: `${agent.origin} ${issuer}`,
          PUBLIC_URL: 'https://cards.example',
          ROOT_AGENT: rootAgent.id,
          SIGNING_KEY: shared.signingKey,
          AGENT_TOKEN: AGENT_SECRET,
          EMPTY_TOKEN: '',
        },
        rateLimits: Object.fromEntries(Object.keys(config.rateLimits).map(name => [name, 1e9])),
        services: { [SERVICE]: agent.origin },
      },
    })
    const host = new DiffHost(agent, runtime, shared)
    await host.#prepare(agents, { agent: agent.origin, issuer })
    return host
  }

  /** Sends requests to an agent, one after another. `respondTo` is how the agent responds to one of them. */
  async run({ agent: { id }, steps, respondTo }: CallSequence): Promise<Received[]> {
    const responses: Received[] = []
    let page = ''
    for (const [index, step] of steps.entries()) {
      this.agent.script(id, respondTo(index, this.agent.origin))
      const response = await this.#send(step, page)
      responses.push(response)
      if ('body' in response) page = /"nextPageToken":"([^"]+)"/.exec(response.body)?.[1] ?? page
    }
    return responses
  }

  /** Returns the lines that the host has logged, once it has written all of those before. */
  async takeLogs(): Promise<string[]> {
    const traceId = (++this.#markers).toString(16).padStart(32, '0')
    const headers: Headers = [['traceparent', `00-${traceId}-00000000000000ff-01`]]
    await this.#send({ method: 'POST', path: '/agents/marker/a2a', headers }, '')
    const end = performance.now() + MAX_WAIT_FOR_LOG_MS
    const { logs } = this.#runtime
    while (!logs.some(line => line.includes(traceId))) {
      if (performance.now() > end) throw new Error('the host has not written its log')
      await sleep(1)
    }
    return logs.splice(0).filter(line => !line.includes(traceId))
  }

  /**
   * Returns what the host has observed of an agent. The order of its names depends on when the counts were sent. A call
   * whose path leads to the agent itself may have deleted it.
   */
  async observed(id: string): Promise<string> {
    const response = await this.#asAdmin('GET', `/agents/${id}/observed`, undefined, 404)
    return JSON.stringify(JSON.parse(response.body, (_, value) => (isObject(value) ? sortNames(value) : value)))
  }

  async close(): Promise<void> {
    this.#connections.destroy()
    await this.#runtime.close()
    await this.agent.close()
  }

  async #prepare(agents: readonly TestedAgent[], origins: { agent: string; issuer: string }): Promise<void> {
    this.values.set('token:admin', adminToken)
    this.values.set('issuer', new URL(origins.issuer).host)
    for (const [name, value] of Object.entries(this.#shared.jwts)) this.values.set(`jwt:${name}`, value)
    for (const [name, request] of Object.entries(tokenRequests)) {
      const issued = JSON.parse((await this.#asAdmin('POST', '/tokens', request)).body) as { id: string; token: string }
      this.values.set(`token:${name}`, issued.token)
      this.values.set(`id:${name}`, issued.id)
    }
    const lines = [...agents, rootAgent].map(agent => ({ id: agent.id, manifest: manifestOf(agent, origins) }))
    const { body } = await this.#asAdmin('POST', '/agents:batch', lines)
    for (const line of body.trim().split('\n')) if (!/"status":20[01]/.test(line)) throw new Error(line)
    for (const { id } of agents) this.agent.take(id)
    await this.takeLogs()
  }

  /** Sends a request as an administrator: JSON, or lines of it. */
  async #asAdmin(
    method: string,
    path: string,
    body?: JsonObject | JsonObject[],
    alsoExpected = 200,
  ): Promise<HostResponse> {
    const headers: Headers = [
      ['Host', 'cards.example'],
      ['Authorization', `Bearer ${adminToken}`],
      ['Content-Type', Array.isArray(body) ? 'application/x-ndjson' : 'application/json'],
    ]
    const text = Array.isArray(body) ? body.map(line => JSON.stringify(line)).join('\n') : JSON.stringify(body)
    const step = { method, path, headers, ...(body && { body: toBytes(text ?? '') }) }
    const response = await this.#send(step, '')
    if ('failed' in response || (response.status >= 400 && response.status !== alsoExpected))
      throw new Error(`${method} ${path}: ${JSON.stringify(response)}`)
    return response
  }

  #send(step: CallRequest, page: string): Promise<Received> {
    const fill = (text: string): string =>
      text.replaceAll(PAGE_PLACEHOLDER, page).replace(/%%([\w:-]+)%%/g, (all, name) => this.values.get(name) ?? all)
    const headers = new Map<string, string[]>()
    for (const [name, value] of step.headers) headers.set(name, [...(headers.get(name) ?? []), fill(value)])
    const body = step.body === undefined ? undefined : Buffer.from(fill(step.body), 'latin1')
    const { hostname, port } = this.#runtime.urls[main]
    if (body) headers.set(...framingOf(step, body))
    const options = {
      ...{ hostname, port, method: step.method, path: fill(step.path), agent: this.#connections, timeout: TIMEOUT_MS },
      headers: Object.fromEntries(
        [...headers].map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
      ),
    }
    return sendRequest(options, body)
  }
}

const MAX_ATTEMPTS = 8

/**
 * Sends a request; again where the host has closed the connection: one that was kept alive, or that of a large body
 * that it does not read, whose response may be lost.
 */
const sendRequest = (options: RequestOptions, body: Buffer | undefined, attempt = 1): Promise<Received> =>
  new Promise(resolve => {
    const request = httpRequest(options, response => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.once('error', () => undefined)
      response.once('close', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: pairsOf(response.rawHeaders),
          body: Buffer.concat(chunks).toString('latin1'),
          isCut: !response.complete,
        }),
      )
    })
    request.once('error', (error: NodeJS.ErrnoException) => {
      const wasClosed = attempt < MAX_ATTEMPTS && ['ECONNRESET', 'EPIPE'].includes(error.code ?? '')
      resolve(wasClosed ? sendRequest(options, body, attempt + 1) : { failed: error.code ?? error.message })
    })
    request.once('timeout', () => request.destroy(new Error('timeout')))
    request.end(body)
  })

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const sortNames = (object: object): object => Object.fromEntries(Object.entries(object).sort())
