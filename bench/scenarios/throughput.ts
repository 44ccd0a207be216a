import type { Setting } from '../compare.ts'
import { cardOfSize, idOf } from '../requests.ts'
import { adminToken, cpuMilliseconds, originOf, portOf, register, type Server, startHost, startKv } from '../servers.ts'
import { type Figure, interval, median } from '../stats.ts'

const AGENTS = 400
const IN_PARALLEL = 16
const ROUNDS = 5

const headers = { Authorization: `Bearer ${adminToken}`, 'Content-Type': 'application/x-ndjson' }

/** CPU time of the host for each agent that is registered by itself, in a batch or by an import. Each round has new agents. */
export const throughput = async ({ bundle, directory }: Setting): Promise<Figure[]> => {
  const kv = await startKv(0)
  const host = await startHost(bundle, kv, directory())
  const [single, batched, imported]: number[][] = [[], [], []]
  for (let round = 0; round < ROUNDS; round++) {
    const ids = Array.from({ length: 2 * AGENTS }, (_, index) => idOf(2 * AGENTS * round + index))
    single?.push(await perAgent(host, () => putAll(host, ids.slice(0, AGENTS))))
    batched?.push(await perAgent(host, () => postBatch(host, ids.slice(AGENTS))))
  }
  const file = await (await fetch(`${originOf(host)}/export`, { headers })).text()
  for (let round = 0; round < ROUNDS; round++) {
    const target = await startHost(bundle, kv, directory())
    imported?.push((await perAgent(target, () => post(target, '/import', file))) / (2 * ROUNDS))
    await target.stop()
  }
  await Promise.all([host, kv].map(server => server.stop()))
  return [
    { name: `PUT of an agent, ${IN_PARALLEL} at once`, samples: single ?? [] },
    { name: `agent in a batch of ${AGENTS}`, samples: batched ?? [] },
    { name: `agent in an import of ${(2 * AGENTS * ROUNDS).toLocaleString('en')}`, samples: imported ?? [] },
  ].map(({ name, samples }) => ({ name, unit: 'ms', value: interval(samples), rate: 1000 / median(samples) }))
}

const perAgent = async (host: Server, work: () => Promise<void>): Promise<number> => {
  const before = cpuMilliseconds(host.pid)
  await work()
  return (cpuMilliseconds(host.pid) - before) / AGENTS
}

const card = cardOfSize(2_000, '1.0.0')

const putAll = async (host: Server, ids: readonly string[]): Promise<void> => {
  const left = [...ids]
  const worker = async () => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) await register(portOf(host), id, card)
  }
  await Promise.all(Array.from({ length: IN_PARALLEL }, worker))
}

const postBatch = (host: Server, ids: readonly string[]): Promise<void> =>
  post(host, '/agents:batch', ids.map(id => JSON.stringify({ id, manifest: card })).join('\n'))

const post = async (host: Server, path: string, body: string): Promise<void> => {
  const response = await fetch(originOf(host) + path, { method: 'POST', headers, body })
  const text = await response.text()
  if (!response.ok || /"status":[45]/.test(text)) throw new Error(`${path}: ${response.status} ${text.slice(0, 500)}`)
}
