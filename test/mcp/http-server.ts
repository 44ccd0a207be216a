import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** What an MCP server under test was asked: the HTTP method, or that of MCP, and the headers. */
export type Asked = { method: string; headers: IncomingMessage['headers'] }

/** Answers a request, or leaves the connection where it answers nothing. */
export type Handle = (request: Request) => Promise<Response | undefined> | Response | undefined

/** An HTTP server under test: it does what the last `serve` says. */
export type HttpServer = { url: string; asked: Asked[]; serve: (handle: Handle) => void; close: () => void }

/** Starts a server on a port of its own. */
export const startHttpServer = async (): Promise<HttpServer> => {
  const asked: Asked[] = []
  let handle: Handle = () => undefined
  const server = createServer(async (incoming, outgoing) => {
    const body = Buffer.concat(await Array.fromAsync(incoming))
    asked.push({ method: methodOf(body) ?? incoming.method ?? '', headers: incoming.headers })
    const answer = await handle(
      new Request(new URL(incoming.url ?? '/', url), {
        method: incoming.method ?? 'GET',
        headers: Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, `${value}`]),
        ...(body.length > 0 && { body }),
      }),
    )
    if (!answer) return void outgoing.destroy()
    outgoing.writeHead(answer.status, Object.fromEntries(answer.headers)).flushHeaders()
    if (!answer.body) return void outgoing.end()
    // Who asked may leave before the end.
    await pipeline(Readable.fromWeb(answer.body as never), outgoing).catch(() => undefined)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  return {
    url,
    asked,
    serve: next => {
      handle = next
      asked.length = 0
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

const methodOf = (body: Buffer): string | undefined => {
  try {
    return JSON.parse(body.toString()).method
  } catch {
    return undefined
  }
}
