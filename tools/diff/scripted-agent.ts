import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AgentRequest, AgentResponse } from './received-call.ts'

/** Chooses the response to a request of an agent. `index` counts the requests since the script was set. */
export type Respond = (request: AgentRequest, index: number) => AgentResponse

/** Requests and responses of an agent, in order. */
export type Exchange = { request: AgentRequest; response: AgentResponse }

/**
 * A server for all agents of one host. The first segment of a path is the id of the agent. It records every request.
 */
export class ScriptedAgent {
  readonly #server: Server
  readonly #scripts = new Map<string, { respond: Respond; count: number }>()
  readonly #exchanges = new Map<string, Exchange[]>()
  readonly #fallback: Respond

  private constructor(fallback: Respond) {
    this.#fallback = fallback
    this.#server = createServer((request, response) => void this.#receive(request, response))
    this.#server.keepAliveTimeout = 600_000
  }

  /** Starts a server. `fallback` responds where no script is set, as while agents are registered. */
  static async start(fallback: Respond, port = 0): Promise<ScriptedAgent> {
    const agent = new ScriptedAgent(fallback)
    await new Promise<void>(listening => agent.#server.listen(port, '127.0.0.1', listening))
    return agent
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Sets how an agent responds from now on. */
  script(id: string, respond: Respond): void {
    this.#scripts.set(id, { respond, count: 0 })
  }

  /** Returns the exchanges of an agent since the last call, and forgets its script. */
  take(id: string): Exchange[] {
    const exchanges = this.#exchanges.get(id) ?? []
    this.#exchanges.delete(id)
    this.#scripts.delete(id)
    return exchanges
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise(closed => this.#server.close(closed))
  }

  async #receive(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of incoming) chunks.push(chunk)
    } catch {
      return
    }
    const { method = '', url: path = '', rawHeaders } = incoming
    const headers = pairsOf(rawHeaders)
    const request: AgentRequest = { method, path, headers, body: Buffer.concat(chunks).toString('latin1') }
    const id = path.split('/')[1] ?? ''
    const script = this.#scripts.get(id)
    const response = script ? script.respond(request, script.count++) : this.#fallback(request, 0)
    const exchanges = this.#exchanges.get(id) ?? []
    exchanges.push({ request, response })
    this.#exchanges.set(id, exchanges)
    write(outgoing, response)
  }
}

/** Returns headers, as Node.js lists them, as pairs. */
export const pairsOf = (rawHeaders: readonly string[]): [name: string, value: string][] =>
  rawHeaders.flatMap((name, index): [string, string][] =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? '']] : [],
  )

const write = (outgoing: ServerResponse, { status, headers, body, framing }: AgentResponse): void => {
  const bytes = Buffer.from(body, 'latin1')
  const names = [...new Set(headers.map(([name]) => name))]
  for (const name of names)
    outgoing.setHeader(
      name,
      headers.flatMap(([each, value]) => (each === name ? [value] : [])),
    )
  outgoing.sendDate = false
  if (framing === 'length' && ![204, 304].includes(status)) outgoing.setHeader('Content-Length', bytes.length)
  if (framing === 'short') outgoing.setHeader('Content-Length', bytes.length + 10)
  outgoing.writeHead(status)
  if (framing === 'length' || framing === 'chunked') {
    if (framing === 'chunked') outgoing.write(bytes)
    return void outgoing.end(framing === 'chunked' ? undefined : bytes)
  }
  // The connection ends after what was written, which reaches the host.
  outgoing.flushHeaders()
  outgoing.write(bytes, () => outgoing.socket?.end())
}
