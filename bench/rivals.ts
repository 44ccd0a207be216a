import { join } from 'node:path'
import { workerBundle } from './bundle.ts'
import { type Server, startNode, startWorkerd } from './server.ts'
import type { Binding } from './workerd-config.ts'

/** An answer as a host sent it: what the others are to send too. */
export type Answer = { body: Uint8Array; headers: Record<string, string> }

/** The runtime writes these itself. */
const connectionHeaders = ['content-length', 'connection', 'keep-alive', 'date']

/** Fetches what a host answers, to bake it into the others. */
export const answerOf = async (url: string, init?: RequestInit): Promise<Answer> => {
  const response = await fetch(url, init)
  if (response.status !== 200) throw new Error(`${url}: ${response.status}`)
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !connectionHeaders.includes(name)))
  return { body: new Uint8Array(await response.arrayBuffer()), headers }
}

/** A Worker of bench/workers; those that answer with a card are given it when they start. */
export const startRival = async (
  name: 'constant' | 'itty' | 'sink' | 'reader',
  card?: Answer,
  more: Record<string, Binding> = {},
): Promise<Server> =>
  startWorkerd({
    services: {
      rival: {
        modules: { 'index.js': await workerBundle(name) },
        ...(card && {
          bindings: { BODY: { data: card.body }, HEADERS: { json: card.headers }, ...more },
        }),
      },
    },
    sockets: ['rival'],
  })

/** The A2A SDK's own way to serve a card: Express with `agentCardHandler`. */
export const startExpress = (card: Answer): Promise<Server> =>
  startNode(join(import.meta.dirname, 'express-server.ts'), [new TextDecoder().decode(card.body)])

/** A Worker that holds the most popular cards, as many as fit into so many bytes, and reads the others from KV. */
export const startConstants = async (
  card: Answer,
  agents: number,
  kv: Server,
  memoryBytes = Number.POSITIVE_INFINITY,
): Promise<Server> =>
  startWorkerd({
    services: {
      rival: {
        modules: { 'index.js': await workerBundle('constants') },
        bindings: {
          CARDS: { kv: 'kv' },
          BODY: { data: card.body },
          HEADERS: { json: card.headers },
          AGENTS: { text: String(agents) },
          MEMORY: { text: String(memoryBytes) },
        },
      },
      kv: { port: kv.ports.kv ?? 0 },
    },
    sockets: ['rival'],
  })
