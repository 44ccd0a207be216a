import type { Requests } from './load.ts'
import { zipf } from './zipf.ts'

/** The id of the agent at a rank of popularity; of one width, so that KV can make its card from another's. */
export const idOf = (rank: number): string => `agent-${String(rank).padStart(6, '0')}`

/** The path of an agent's card. */
export const pathOf = (id: string): string => `/agents/${id}/.well-known/agent-card.json`

/** One agent's card, over and over; with an entity tag, a conditional request that is to be answered 304. */
export const sameCard = (id: string, etag?: string): Requests => {
  const request = get(id, etag === undefined ? '' : `If-None-Match: ${etag}\r\n`)
  return { next: () => request, status: etag === undefined ? 200 : 304 }
}

/** Cards of `agents` agents as Zipf's law draws them. */
export const zipfCards = (agents: number, seed: number): Requests => {
  const draw = zipf(agents, seed)
  const requests = eachCard(agents)
  return { next: () => requests[draw()] as Buffer, status: 200 }
}

/** The cards of `agents` agents in turn, the least popular first, so that a cache ends up with the most popular ones. */
export const everyCard = (agents: number): Requests => {
  const requests = eachCard(agents)
  let asked = 0
  return { next: () => requests[agents - 1 - (asked++ % agents)] as Buffer, status: 200 }
}

const eachCard = (agents: number): Buffer[] => Array.from({ length: agents }, (_, rank) => get(idOf(rank), ''))

const get = (id: string, header: string): Buffer =>
  Buffer.from(
    `GET ${pathOf(id)} HTTP/1.1\r\nHost: cards.example.com\r\nUser-Agent: bench\r\nAccept: application/json\r\n${header}\r\n`,
  )
