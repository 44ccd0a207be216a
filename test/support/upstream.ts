import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** A request as the server received it. */
export type ReceivedRequest = { method: string; path: string; headers: IncomingHttpHeaders; body: string }

/** Writes the response to a request whose body has been read. */
export type Responder = (response: ServerResponse, request: IncomingMessage, body: Buffer) => void

/** Answers as `fetch` does; without a response, the connection is cut. */
export type FetchHandler = (request: Request) => Promise<Response | undefined> | Response | undefined

/** How a server listens: over TLS, or on the first free one of these ports. */
export type ListenOptions = { tls?: { key: string; cert: string }; ports?: Iterable<number> }

/** An HTTP server on this machine that records its requests and responds as the test specifies. */
export class UpstreamServer {
  readonly requests: ReceivedRequest[] = []
  readonly #server: Server
  readonly #scheme: 'http' | 'https'
  #respond: Responder = response => void response.end()
  #listener: RequestListener | undefined
  #disconnected: Promise<void> = new Promise(() => undefined)

  constructor({ tls }: ListenOptions = {}) {
    const receive = (request: IncomingMessage, response: ServerResponse) => void this.#receive(request, response)
    this.#scheme = tls ? 'https' : 'http'
    this.#server = tls ? createTlsServer(tls, receive) : createServer(receive)
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get origin(): string {
    return `${this.#scheme}://127.0.0.1:${this.port}`
  }

  /** Listens on the first free one of `ports`, or on any free port. */
  async listen(ports: Iterable<number> = [0]): Promise<this> {
    for (const port of ports) if (await this.#tryPort(port)) return this
    throw new Error('no port is free')
  }

  /** Sets the responder for the next requests, and clears the recorded ones. */
  respond(next: Responder): void {
    this.#respond = next
    this.requests.length = 0
    this.#disconnected = new Promise(() => undefined)
  }

  /** Like `respond`, with a handler in the form of `fetch`. */
  serve(handle: FetchHandler): void {
    this.respond((response, request, body) => void this.#send(handle, response, request, body))
  }

  /** Passes every request to a listener that reads the body itself, which is not recorded then. */
  listenWith(listener: RequestListener): void {
    this.#listener = listener
  }

  /** Resolves when the connection of the newest request closes before its response is complete. */
  disconnected(): Promise<void> {
    return this.#disconnected
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise(closed => this.#server.close(closed))
  }

  #tryPort(port: number): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const fail = (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? resolve(false) : reject(error))
      this.#server.once('error', fail).listen(port, '127.0.0.1', () => {
        this.#server.off('error', fail)
        resolve(true)
      })
    })
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#disconnected = new Promise(resolve =>
      response.on('close', () => {
        if (!response.writableFinished) resolve()
      }),
    )
    const { method = '', url: path = '', headers } = request
    if (this.#listener) {
      this.requests.push({ method, path, headers, body: '' })
      return this.#listener(request, response)
    }
    const body = Buffer.concat(await Array.fromAsync(request))
    this.requests.push({ method, path, headers, body: body.toString() })
    this.#respond(response, request, body)
  }

  async #send(handle: FetchHandler, response: ServerResponse, request: IncomingMessage, body: Buffer): Promise<void> {
    const result = await handle(
      new Request(new URL(request.url ?? '/', this.origin), {
        method: request.method ?? 'GET',
        headers: Object.entries(request.headers).map(([name, value]): [string, string] => [name, `${value}`]),
        ...(body.length > 0 && { body }),
      }),
    )
    if (!result) return void response.destroy()
    response.writeHead(result.status, Object.fromEntries(result.headers)).flushHeaders()
    if (!result.body) return void response.end()
    // The client may leave before the end.
    await pipeline(Readable.fromWeb(result.body as never), response).catch(() => undefined)
  }
}

/** Starts a server on a port of its own. */
export const startUpstream = (options: ListenOptions = {}): Promise<UpstreamServer> =>
  new UpstreamServer(options).listen(options.ports)

/** Content types that agents respond with. */
export const json = { 'Content-Type': 'application/json' }
export const html = { 'Content-Type': 'text/html' }
export const stream = { 'Content-Type': 'text/event-stream' }

/** Responds at once. */
export const reply =
  (status: number, headers: Record<string, string>, body: string | Buffer) =>
  (response: ServerResponse): void =>
    void response.writeHead(status, headers).end(body)
