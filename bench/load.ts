import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** The result of one slice of load: responses, and the seconds until the last of them. */
export type Slice = { responses: number; seconds: number }

/** What a load sends and expects. `next` returns the next whole request as bytes. */
export type Requests = { next: () => Buffer; status: number }

/** `missing`: the bytes of the body that have not arrived. `closes`: the server announced that it closes the connection. */
type Connection = { socket: Socket; head: string; missing: number; closes: boolean }

const headEnd = '\r\n\r\n'

/**
 * A small HTTP/1.1 client for load: keep-alive connections, one request at a time on each. It reads heads and counts the bytes of
 * bodies, which takes a fraction of the CPU time of general load generators, and it can send another request each time. When a
 * server closes a connection after a response, the client opens a new one.
 */
export class Load {
  readonly #port: number
  readonly #requests: Requests
  readonly #connections: Connection[] = []
  readonly #buffer = Buffer.allocUnsafe(65_536)
  #end = 0
  #left = Number.POSITIVE_INFINITY
  #busy = 0
  #responses = 0
  #done: PromiseWithResolvers<void> = Promise.withResolvers()

  private constructor(port: number, requests: Requests) {
    this.#port = port
    this.#requests = requests
  }

  /** Opens the connections. */
  static async open(port: number, requests: Requests, connections = 32): Promise<Load> {
    const load = new Load(port, requests)
    await Promise.all(Array.from({ length: connections }, (_, index) => load.#connect(index)))
    return load
  }

  async #connect(index: number): Promise<Socket> {
    const callback = (size: number, bytes: Uint8Array) => this.#receive(index, bytes as Buffer, size)
    const onread = { buffer: this.#buffer, callback }
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true, onread })
    const connection = { socket, head: '', missing: 0, closes: false }
    this.#connections[index] = connection
    socket.on('error', error => this.#fail(error))
    socket.on('end', () => {
      if (!connection.closes) this.#fail(new Error('the server closed a connection'))
    })
    await once(socket, 'connect')
    return socket
  }

  /** Sends on every connection for a time, then waits for the last responses. */
  run(milliseconds: number): Promise<Slice> {
    return this.#send(milliseconds, Number.POSITIVE_INFINITY)
  }

  /** Sends a number of requests, at least one on every connection. */
  requests(count: number): Promise<Slice> {
    return this.#send(Number.POSITIVE_INFINITY, count)
  }

  async #send(milliseconds: number, count: number): Promise<Slice> {
    const begin = performance.now()
    this.#end = begin + milliseconds
    this.#left = count - this.#connections.length
    this.#responses = 0
    this.#busy = this.#connections.length
    this.#done = Promise.withResolvers()
    // The server may have closed a connection that was idle during the slices of others.
    for (const [index, { socket }] of this.#connections.entries())
      if (socket.writable) socket.write(this.#requests.next())
      else this.#reconnect(index, true)
    await this.#done.promise
    return { responses: this.#responses, seconds: (performance.now() - begin) / 1000 }
  }

  /** Closes the connections. */
  close(): void {
    for (const { socket } of this.#connections) socket.destroy()
  }

  /** Fails the current slice. */
  #fail(error: Error): void {
    this.#done.reject(error)
  }

  /** Handles received bytes. Returns true, which keeps the socket reading. */
  #receive(index: number, bytes: Buffer, size: number): boolean {
    const connection = this.#connections[index]
    if (!connection) return true
    if (connection.missing === 0) connection.missing = this.#begin(connection, bytes, size)
    else connection.missing -= size
    if (connection.missing === 0 && connection.head === '') this.#finish(index, connection)
    return true
  }

  /** Reads the head of a response. Returns how many bytes of its body have not arrived. */
  #begin(connection: Connection, bytes: Buffer, size: number): number {
    const text = connection.head + bytes.toString('latin1', 0, size)
    const end = text.indexOf(headEnd)
    if (end < 0) {
      connection.head = text
      return 0
    }
    connection.head = ''
    connection.closes = /\r\nconnection: close\r/i.test(text.slice(0, end + 2))
    const status = Number(text.slice(9, 12))
    if (status !== this.#requests.status) this.#fail(new Error(`expected ${this.#requests.status}: ${text}`))
    const length = status === 304 ? 0 : Number(/\r\ncontent-length: (\d+)/i.exec(text.slice(0, end + 2))?.[1])
    if (Number.isNaN(length)) this.#fail(new Error(`a response without Content-Length: ${text}`))
    return end + headEnd.length + length - text.length
  }

  #finish(index: number, { socket, closes }: Connection): void {
    this.#responses++
    const continues = this.#left-- > 0 && performance.now() < this.#end
    if (closes) this.#reconnect(index, continues)
    else if (continues) socket.write(this.#requests.next())
    if (!continues && --this.#busy === 0) this.#done.resolve()
  }

  #reconnect(index: number, continues: boolean): void {
    this.#connect(index).then(
      socket => continues && socket.write(this.#requests.next()),
      error => this.#fail(error),
    )
  }
}
