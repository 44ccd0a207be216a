/** An A2A agent that needs a bearer token: STOCK_TOKEN=… node examples/stock-agent.mjs */
import { createServer } from 'node:http'

const token = process.env.STOCK_TOKEN
if (!token) throw new Error('Set STOCK_TOKEN to the token that callers need.')

const respond = async request => {
  const { id, params } = await new Response(request).json()
  const text = `There are 12 of "${params.message.parts[0].text}" in stock.`
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_AGENT', parts: [{ text }] }
  return JSON.stringify({ jsonrpc: '2.0', id, result: { message } })
}

createServer((request, response) => {
  if (request.headers.authorization !== `Bearer ${token}`) return response.writeHead(401).end()
  response.setHeader('Content-Type', 'application/json')
  respond(request).then(
    body => response.end(body),
    () => response.writeHead(400).end(),
  )
}).listen(9000, '127.0.0.1', () => console.log('The agent listens on http://127.0.0.1:9000/'))
