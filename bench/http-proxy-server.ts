import { writeSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import httpProxy from 'http-proxy'

// As its own documentation sets it up. The target comes as an argument, the port goes out on descriptor 3 as workerd tells it.
const proxy = httpProxy.createProxyServer({ target: process.argv[2] ?? '' })
const server = createServer((request, response) => proxy.web(request, response))
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  writeSync(3, `${JSON.stringify({ event: 'listen', socket: 'rival', port })}\n`)
})
