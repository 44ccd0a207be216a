import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What an agent under test was asked. */
export type Asked = { method: string; path: string; headers: IncomingHttpHeaders; body: string }

/** An agent under test: it does what the last `answer` says. */
export type UpstreamServer = {
  origin: string
  asked: Asked[]
  answer: (how: (response: ServerResponse, request: IncomingMessage) => void) => void
  /** Resolves when the connection of the newest request is gone before its answer was whole. */
  left: () => Promise<void>
  close: () => void
}

/** Starts an agent on a port of its own. */
export const startUpstream = async (): Promise<UpstreamServer> => {
  const asked: Asked[] = []
  let how: Parameters<UpstreamServer['answer']>[0] = response => response.end()
  let left = Promise.withResolvers<void>()
  const server = createServer(async (request, response) => {
    const gone = Promise.withResolvers<void>()
    left.promise = gone.promise
    response.on('close', () => {
      if (!response.writableFinished) gone.resolve()
    })
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    asked.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers, body })
    how(response, request)
  })
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    answer: next => {
      how = next
      asked.length = 0
      left = Promise.withResolvers<void>()
    },
    left: () => left.promise,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
