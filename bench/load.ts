import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** What one slice of load brought: answers, and the seconds until the last of them. */
export type Slice = { responses: number; seconds: number }

/** What a load sends and expects. `next` gives the next whole request, ready for the wire. */
export type Requests = { next: () => Buffer; status: number }

type Connection = { socket: Socket; head: string; missing: number }

const headEnd = '\r\n\r\n'

/**
 * A lean HTTP/1.1 client for load: keep-alive connections, one request at a time on each, heads read and bodies counted.
 * It takes a fraction of what general load generators take for a request, and can ask for another path every time.
 */
export class Load {
  readonly #requests: Requests
  readonly #connections: Connection[]
  #end = 0
  #left = Number.POSITIVE_INFINITY
  #busy = 0
  #responses = 0
  #done: PromiseWithResolvers<void> = Promise.withResolvers()

  private constructor(requests: Requests, sockets: Socket[]) {
    this.#requests = requests
    this.#connections = sockets.map(socket => ({ socket, head: '', missing: 0 }))
  }

  /** Opens the connections. */
  static async open(port: number, requests: Requests, connections = 32): Promise<Load> {
    const buffer = Buffer.allocUnsafe(65_536)
    let load: Load | undefined
    const sockets = await Promise.all(
      Array.from({ length: connections }, async (_, index) => {
        const callback = (size: number, bytes: Uint8Array) => load?.receive(index, bytes as Buffer, size) ?? true
        const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread: { buffer, callback } })
        socket.on('error', error => load?.fail(error))
        socket.on('end', () => load?.fail(new Error('the server closed a connection')))
        await once(socket, 'connect')
        return socket
      }),
    )
    load = new Load(requests, sockets)
    return load
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
    for (const { socket } of this.#connections) socket.write(this.#requests.next())
    await this.#done.promise
    return { responses: this.#responses, seconds: (performance.now() - begin) / 1000 }
  }

  /** Closes the connections. */
  close(): void {
    for (const { socket } of this.#connections) socket.destroy()
  }

  /** Makes the slice under way fail. */
  fail(error: Error): void {
    this.#done.reject(error)
  }

  /** Takes in what one connection received; always true, to go on reading. */
  receive(index: number, bytes: Buffer, size: number): boolean {
    const connection = this.#connections[index]
    if (!connection) return true
    if (connection.missing === 0) connection.missing = this.#begin(connection, bytes, size)
    else connection.missing -= size
    if (connection.missing === 0 && connection.head === '') this.#answered(connection)
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
    const status = Number(text.slice(9, 12))
    if (status !== this.#requests.status) this.fail(new Error(`expected ${this.#requests.status}: ${text}`))
    const length = status === 304 ? 0 : Number(/\r\ncontent-length: (\d+)/i.exec(text.slice(0, end + 2))?.[1])
    if (Number.isNaN(length)) this.fail(new Error(`a response without Content-Length: ${text}`))
    return end + headEnd.length + length - text.length
  }

  #answered({ socket }: Connection): void {
    this.#responses++
    if (this.#left-- > 0 && performance.now() < this.#end) socket.write(this.#requests.next())
    else if (--this.#busy === 0) this.#done.resolve()
  }
}
