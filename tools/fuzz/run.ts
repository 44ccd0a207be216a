import { existsSync } from 'node:fs'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { agentCard } from '../../test/support/cards/cards.ts'
import { readHostConfig } from '../../test/support/global-setup.ts'
import { main, startHostRuntime, token } from '../../test/support/runtime.ts'
import { checkResponse, type FuzzResponse } from './checks.ts'
import { createRandom, type FuzzRequest, makeRequest } from './requests.ts'

// `npm run fuzz`: sends random requests to the built Worker, and reports those whose responses break a promise of docs/reference.

const { values } = parseArgs({ options: { seconds: { type: 'string' }, seed: { type: 'string' } } })
const seconds = Number(values.seconds ?? 60)
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32))
if (!(seconds > 0) || !Number.isInteger(seed) || !existsSync('out/index.js')) {
  console.error('Usage: npm run fuzz [-- --seconds 60 --seed 1], after npm run build')
  process.exit(2)
}

const BATCH = 50
/** How many times as long as a plain request one may take, for each 4 KiB that it sends: quadratic work takes far longer. */
const MAX_RATIO = 100
/** How often a slow request is repeated, as the machine may have been busy. */
const REPETITIONS = 4
const TIMEOUT_MS = 60_000

/** An A2A agent that accepts everything. */
const agent = createServer(async (request, response) => {
  const sent = await text(request)
  const id = (sent.startsWith('{') && JSON.parse(sent).id) ?? null
  const result = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } }
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result }))
})
await new Promise<void>(listening => agent.listen(0, '127.0.0.1', listening))
const agentOrigin = `http://127.0.0.1:${(agent.address() as AddressInfo).port}`

const config = readHostConfig()
const rateLimits = Object.fromEntries(Object.keys(config.rateLimits).map(name => [name, 1e9]))
const runtime = await startHostRuntime(config, { [main]: { vars: { ALLOWED_ORIGINS: agentOrigin }, rateLimits } })
const { hostname, port } = runtime.urls[main]

/** Sends a request; undefined where the connection ended without a response. */
const send = ({ method, path, headers, body, cut }: FuzzRequest): Promise<FuzzResponse | undefined> =>
  new Promise(resolve => {
    const names = [...new Set(headers.map(([name]) => name))]
    const grouped = Object.fromEntries(
      names.map(name => [name, headers.flatMap(([other, value]) => (other === name ? [value] : []))]),
    )
    const length = body && { 'Content-Length': String(body.length) }
    const request = httpRequest(
      { hostname, port, method, path, headers: { ...grouped, ...length }, timeout: TIMEOUT_MS },
      response => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        // A stream of changes lasts a quarter of an hour, and its heartbeats keep it from timing out.
        if (path.includes('/events') && response.headers['content-type'] === 'text/event-stream') response.destroy()
        response.once('close', () =>
          resolve({
            status: response.statusCode ?? 0,
            type: response.headers['content-type'] ?? '',
            body: Buffer.concat(chunks),
          }),
        )
      },
    )
    request.once('error', () => resolve(undefined)).once('timeout', () => request.destroy())
    if (cut === undefined) request.end(body)
    else request.write(body?.subarray(0, cut) ?? '', () => request.destroy())
  })

const plain: FuzzRequest = { method: 'GET', path: '/agents/steady/.well-known/agent-card.json', headers: [] }

const measure = async (request: FuzzRequest): Promise<{ response: FuzzResponse | undefined; milliseconds: number }> => {
  const start = performance.now()
  const response = await send(request)
  return { response, milliseconds: performance.now() - start }
}

const register = (id: string, document: object): Promise<FuzzResponse | undefined> =>
  send({
    method: 'PUT',
    path: `/agents/${id}`,
    headers: [
      ['Authorization', `Bearer ${token}`],
      ['Content-Type', 'application/json'],
    ],
    body: Buffer.from(JSON.stringify(document)),
  })

let found = 0
const report = (what: string, index: number, { body, ...request }: FuzzRequest): void => {
  found++
  console.log(
    `\n${what}\n  request ${index} of --seed ${seed}: ${JSON.stringify({ ...request, body: body?.toString('latin1') }).slice(0, 4000)}`,
  )
}

/** Returns whether a request is slow however often it is sent. */
const isSlow = async (request: FuzzRequest, limit: number, first: number): Promise<boolean> => {
  let least = first
  for (let count = 0; count < REPETITIONS && least > limit; count++)
    least = Math.min(least, (await measure(request)).milliseconds)
  return least > limit
}

console.log(`npm run fuzz -- --seed ${seed}`)
const echo = { card: agentCard(`${agentOrigin}`), extended: { description: 'More' }, route: 'gateway' }
for (const [id, document] of [
  ['steady', { card: agentCard('https://steady.example') }],
  ['echo', echo],
] as const) {
  const status = (await register(id, document))?.status
  if (status !== 201) throw new Error(`the host does not register ${id}: ${status}`)
}

const random = createRandom(seed)
const statuses = new Map<number, number>()
const end = performance.now() + seconds * 1000
let index = 0
let plainMs = Number.POSITIVE_INFINITY
const known = (await measure(plain)).response?.body.toString()
while (performance.now() < end) {
  const times: number[] = []
  for (let count = 0; count < 5; count++) {
    const { response, milliseconds } = await measure(plain)
    times.push(milliseconds)
    if (response?.status !== 200 || response.body.toString() !== known)
      report(`a plain request is answered with ${response?.status}`, index, plain)
  }
  plainMs = Math.max(1, Math.min(...times))
  for (let count = 0; count < BATCH; count++, index++) {
    const request = makeRequest(random)
    const { response, milliseconds } = await measure(request)
    for (const line of runtime.logs.splice(0))
      if (/"event":"unexpected"|[Uu]ncaught/.test(line)) report(`logged: ${line.slice(0, 1000)}`, index, request)
    if (request.cut !== undefined) continue
    statuses.set(response?.status ?? 0, (statuses.get(response?.status ?? 0) ?? 0) + 1)
    const wrong = checkResponse(request, response)
    if (wrong !== undefined) report(wrong, index, request)
    const limit = MAX_RATIO * plainMs * (1 + (request.body?.length ?? 0) / 4096)
    if (await isSlow(request, limit, milliseconds))
      report(`slow: ${milliseconds.toFixed(0)} ms; a plain request takes ${plainMs.toFixed(1)} ms`, index, request)
  }
}

await runtime.close()
agent.close()
agent.closeAllConnections()
const counts = [...statuses]
  .sort(([left], [right]) => left - right)
  .map(([status, count]) => `${status || 'cut'}: ${count}`)
console.log(`\n${index} requests (${counts.join(', ')}), ${found} findings, seed ${seed}`)
process.exit(found > 0 ? 1 : 0)
