/** An A2A agent that needs a bearer token: STOCK_TOKEN=… node examples/stock-agent.mjs */
import { createServer } from 'node:http'

const token = process.env.STOCK_TOKEN
if (!token) throw new Error('Set STOCK_TOKEN to the token that callers need.')

const fail = (code, message) => ({ error: { code, message } })

const call = (method, params, version = '1.0') => {
  if (version !== '1.0') return fail(-32009, 'This agent supports A2A 1.0.')
  if (/PushNotification/.test(method)) return fail(-32003, 'This agent sends no push notifications.')
  if (/Streaming|Subscribe/.test(method)) return fail(-32004, 'This agent does not stream.')
  if (/Task/.test(method)) return fail(-32001, 'This agent has no tasks.')
  if (method !== 'SendMessage') return fail(-32601, 'This agent only answers SendMessage.')
  const text = `There are 12 of "${params.message.parts[0].text}" in stock.`
  return { result: { message: { messageId: crypto.randomUUID(), role: 'ROLE_AGENT', parts: [{ text }] } } }
}

const respond = async request => {
  const { id, method, params } = await new Response(request).json()
  return JSON.stringify({ jsonrpc: '2.0', id, ...call(method, params, request.headers['a2a-version']) })
}

createServer((request, response) => {
  if (request.headers.authorization !== `Bearer ${token}`) return response.writeHead(401).end()
  response.setHeader('Content-Type', 'application/json')
  respond(request).then(
    body => response.end(body),
    () => response.writeHead(400).end(),
  )
}).listen(9000, '127.0.0.1', () => console.log('The agent listens on http://127.0.0.1:9000/'))
