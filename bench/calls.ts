import { join } from 'node:path'
import { workerBundle } from './bundle.ts'
import { callBody, callPath, sameCall } from './call-requests.ts'
import type { Setting } from './card-reads.ts'
import { quickCard } from './cards.ts'
import { compare } from './comparison.ts'
import type { Figure } from './figure.ts'
import { firstEvents } from './first-events.ts'
import { flood } from './flood.ts'
import { register, startHost, startKv } from './host.ts'
import { cores } from './pinning.ts'
import { answerOf, startRival } from './rivals.ts'
import { type Server, startNode, startWorkerd } from './server.ts'

const id = 'weather'
const send = callBody('SendMessage', 'weather in Tokyo')
const refused = callBody('SendMessage', 'weather in Tokyo', ['image/png'])

/** Calls through the gate: refused ones beside a Worker that answers a constant, passed ones beside gateways that check nothing. */
export const calls = async ({ bundle, directory, effort }: Setting): Promise<Figure[]> => {
  const kv = await startKv(0)
  // On the core of the load, which it is a part of: what the agent spends is not the gateway's.
  const agent = await startWorkerd(
    { services: { agent: { modules: { 'agent.js': await workerBundle('agent') } } }, sockets: ['agent'] },
    cores.load,
  )
  const upstream = `http://127.0.0.1:${port(agent)}`
  const host = await startHost(bundle, port(kv), directory(), upstream)
  await register(port(host), id, { card: quickCard(id), route: 'gateway', upstream: { url: upstream } })
  const constant = await startRival('reader', await answerOf(`${origin(host)}${callPath(id)}`, post(refused)))
  const blind = await startBlind(upstream)
  const proxy = await startNode(join(import.meta.dirname, 'http-proxy-server.ts'), [upstream])

  const [, refusals] = await compare(
    { name: 'a Worker that reads and answers', server: constant, requests: sameCall(id, refused) },
    [{ name: 'refusal', server: host, requests: sameCall(id, refused), bound: { least: 0.85 } }],
    effort,
  )
  const [, passed] = await compare(
    { name: 'a Worker that forwards blindly', server: blind, requests: sameCall(id, send) },
    [{ name: 'gate, beside a blind forwarder', server: host, requests: sameCall(id, send), bound: { least: 0.9 } }],
    effort,
  )
  const [, beside] = await compare(
    { name: 'http-proxy', server: proxy, requests: sameCall(id, send) },
    [{ name: 'gate, beside http-proxy on Node', server: host, requests: sameCall(id, send), bound: { least: 1 } }],
    effort,
  )
  const stream = `${callPath(id)}`
  const figures = [
    refusals,
    passed,
    beside,
    await firstEvents(origin(blind) + stream, origin(host) + stream, effort.rounds),
    await flood(host, origin(host) + stream),
  ].filter(figure => figure !== undefined)
  await Promise.all([kv, agent, host, constant, blind, proxy].map(server => server.stop()))
  return figures
}

const port = (server: Server): number => Object.values(server.ports)[0] ?? 0
const origin = (server: Server): string => `http://127.0.0.1:${port(server)}`

const post = (body: string): RequestInit => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0' },
  body,
})

const startBlind = async (upstream: string): Promise<Server> =>
  startWorkerd({
    services: {
      blind: { modules: { 'blind.js': await workerBundle('blind') }, bindings: { UPSTREAM: { text: upstream } } },
    },
    sockets: ['blind'],
  })
