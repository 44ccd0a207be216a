import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** What one slice of load brought: answers, and the seconds until the last of them. */
export type Slice = { responses: number; seconds: number }

/** What a load sends and expects. `next` gives the next whole request, ready for the wire. */
export type Requests = { next: () => Buffer; status: number }

/** `closes`: whether its server said that it would close it after an answer. */
type Connection = { socket: Socket; head: string; missing: number; closes: boolean }

const headEnd = '\r\n\r\n'

/**
 * A lean HTTP/1.1 client for load: keep-alive connections, one request at a time on each, heads read and bodies counted.
 * It takes a fraction of what general load generators take for a request, and can ask for another path every time. Where the
 * server closes a connection after its answer, another is opened in its place.
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

  /** Sends on every connection for so long, then waits for the last answers. */
  run(milliseconds: number): Promise<Slice> {
    return this.#send(milliseconds, Number.POSITIVE_INFINITY)
  }

  /** Sends so many requests, one at least on every connection. */
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
    // A server may have closed it since: it was idle while others had their turn.
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

  /** Makes the slice under way fail. */
  #fail(error: Error): void {
    this.#done.reject(error)
  }

  /** Takes in what one connection received; always true, to go on reading. */
  #receive(index: number, bytes: Buffer, size: number): boolean {
    const connection = this.#connections[index]
    if (!connection) return true
    if (connection.missing === 0) connection.missing = this.#begin(connection, bytes, size)
    else connection.missing -= size
    if (connection.missing === 0 && connection.head === '') this.#answered(index, connection)
    return true
  }

  /** Reads the head of a response; how many bytes of its body are still to come. */
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

  #answered(index: number, { socket, closes }: Connection): void {
    this.#responses++
    const goesOn = this.#left-- > 0 && performance.now() < this.#end
    if (closes) this.#reconnect(index, goesOn)
    else if (goesOn) socket.write(this.#requests.next())
    if (!goesOn && --this.#busy === 0) this.#done.resolve()
  }

  #reconnect(index: number, goesOn: boolean): void {
    this.#connect(index).then(
      socket => goesOn && socket.write(this.#requests.next()),
      error => this.#fail(error),
    )
  }
}
