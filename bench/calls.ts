import { join } from 'node:path'
import type { Bound } from './bound.ts'
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
  const refusal = await answerOf(`${origin(host)}${callPath(id)}`, post(refused))
  const reader = await startRival('reader', refusal)
  const logger = await startRival('reader', refusal, { LOG: { text: 'yes' } })
  const blind = await startForwarder('blind', upstream)
  const careful = await startForwarder('careful', upstream)
  const proxy = await startNode(join(import.meta.dirname, 'http-proxy-server.ts'), [upstream])
  const keptAlive = await startNode(join(import.meta.dirname, 'http-proxy-server.ts'), [upstream, 'keep-alive'])

  const calling = (body: string) => (name: string, server: Server, bound?: Bound) => ({
    ...{ name, server, requests: sameCall(id, body) },
    ...(bound && { bound }),
  })
  const refusing = calling(refused)
  const sending = calling(send)
  const [, ...refusals] = await compare(
    refusing('a Worker that reads and answers', reader),
    [
      refusing('a Worker that parses and logs, beside one that reads', logger),
      refusing('refusal, beside a Worker that reads', host, { least: 0.85 }),
    ],
    effort,
  )
  const [, ...besideLogger] = await compare(
    refusing('a Worker that parses, logs and answers', logger),
    [refusing('refusal, beside one that parses and logs', host, { least: 0.85 })],
    effort,
  )
  const [, ...forwarded] = await compare(
    sending('a Worker that forwards blindly', blind),
    [
      sending('careful forwarder, beside a blind one', careful),
      sending('gate, beside a blind forwarder', host, { least: 0.9 }),
    ],
    effort,
  )
  const [, ...besideProxy] = await compare(
    sending('http-proxy on Node', proxy),
    [sending('gate, beside http-proxy on Node', host, { least: 1 })],
    effort,
  )
  const [, ...besideKeptAlive] = await compare(
    sending('http-proxy on Node, connections kept alive', keptAlive),
    [sending('gate, beside http-proxy on Node, connections kept alive', host, { least: 1 })],
    effort,
  )
  const [, ...besideCareful] = await compare(
    sending('a Worker that forwards with care', careful),
    [sending('gate, beside a careful forwarder', host, { least: 0.9 })],
    effort,
  )
  const path = callPath(id)
  const own = origin(host) + path
  const figures = [
    ...refusals,
    ...besideLogger,
    ...forwarded,
    ...besideProxy,
    ...besideKeptAlive,
    ...besideCareful,
    await firstEvents('a blind forwarder', [origin(blind) + path, own], effort.rounds),
    await firstEvents('a careful forwarder', [origin(careful) + path, own], effort.rounds),
    await flood(host, own),
  ]
  await Promise.all([kv, agent, host, reader, logger, blind, careful, proxy, keptAlive].map(server => server.stop()))
  return figures
}

const port = (server: Server): number => Object.values(server.ports)[0] ?? 0
const origin = (server: Server): string => `http://127.0.0.1:${port(server)}`

const post = (body: string): RequestInit => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0' },
  body,
})

const startForwarder = async (name: 'blind' | 'careful', upstream: string): Promise<Server> =>
  startWorkerd({
    services: {
      forwarder: { modules: { 'index.js': await workerBundle(name) }, bindings: { UPSTREAM: { text: upstream } } },
    },
    sockets: ['forwarder'],
  })
