import { writeSync } from 'node:fs'
import { Agent, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import httpProxy from 'http-proxy'

// With connections kept alive, which it does not do of itself: without, every call would pay for two new ones.
// The target comes as an argument, the port goes out on descriptor 3 as workerd tells it.
const proxy = httpProxy.createProxyServer({ target: process.argv[2] ?? '', agent: new Agent({ keepAlive: true }) })
const server = createServer((request, response) => proxy.web(request, response))
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  writeSync(3, `${JSON.stringify({ event: 'listen', socket: 'rival', port })}\n`)
})
