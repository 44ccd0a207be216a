import { writeSync } from 'node:fs'
import { Agent, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import httpProxy from 'http-proxy'

// The npm package http-proxy as its README starts it; with `keep-alive` as the second argument, with an agent that keeps its
// connections, without which every call pays for new ones. The target is the first, and the port goes out on descriptor 3 as
// workerd tells it.
const [, , target = '', connections] = process.argv
const agent = connections === 'keep-alive' ? { agent: new Agent({ keepAlive: true }) } : {}
const proxy = httpProxy.createProxyServer({ target, ...agent })
const server = createServer((request, response) => proxy.web(request, response))
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  writeSync(3, `${JSON.stringify({ event: 'listen', socket: 'rival', port })}\n`)
})
