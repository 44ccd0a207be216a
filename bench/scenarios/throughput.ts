import { type Setting, sampleInTurn } from '../compare.ts'
import { cardOfSize, idOf } from '../requests.ts'
import { adminToken, cpuMilliseconds, originOf, portOf, register, type Server, startHost } from '../servers.ts'
import { column, type Figure, speedFigures } from '../stats.ts'

const AGENTS_PER_ROUND = 10
const IN_PARALLEL = 16
const ROUNDS = 5

const headers = { Authorization: `Bearer ${adminToken}`, 'Content-Type': 'application/x-ndjson' }

/** CPU time of the host for each agent that is registered by itself, in a batch or by an import. Each round has new agents. */
export const throughput = async (setting: Setting): Promise<Figure[]> => {
  const host = await startHost(setting)
  const agents = AGENTS_PER_ROUND * setting.effort.rounds
  const [registered = []] = await sampleInTurn([host], ROUNDS, async (build, round) => {
    const ids = Array.from({ length: 2 * agents }, (_, index) => idOf(2 * agents * round + index))
    return {
      single: await perAgent(build, agents, () => putAll(build, ids.slice(0, agents))),
      batched: await perAgent(build, agents, () => postBatch(build, ids.slice(agents))),
    }
  })
  const [imported = []] = await sampleInTurn([host], ROUNDS, async build => {
    const file = await (await fetch(`${originOf(build)}/export`, { headers })).text()
    const target = await startHost({ bundle: build.bundle, directory: setting.directory })
    const spent = await perAgent(target, 2 * ROUNDS * agents, () => post(target, '/import', file))
    await target.stop()
    return spent
  })
  await host.stop()
  return [
    ...speedFigures(
      `PUT of an agent, ${IN_PARALLEL} at once`,
      registered.map(each => column(each, 'single')),
    ),
    ...speedFigures(
      `agent in a batch of ${agents}`,
      registered.map(each => column(each, 'batched')),
    ),
    ...speedFigures(`agent in an import of ${(2 * ROUNDS * agents).toLocaleString('en')}`, imported),
  ]
}

const perAgent = async (host: Server, agents: number, work: () => Promise<void>): Promise<number> => {
  const before = cpuMilliseconds(host.pid)
  await work()
  return (cpuMilliseconds(host.pid) - before) / agents
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
