import { type Setting, sampleInTurn } from '../compare.ts'
import { cardOfSize, idOf } from '../requests.ts'
import { adminToken, cpuMilliseconds, originOf, portOf, register, type Server, startHost } from '../servers.ts'
import { column, type Figure, speedFigures } from '../stats.ts'

const AGENTS = 400
const IN_PARALLEL = 16
const ROUNDS = 5

const headers = { Authorization: `Bearer ${adminToken}`, 'Content-Type': 'application/x-ndjson' }

/** CPU time of the host for each agent that is registered by itself, in a batch or by an import. Each round has new agents. */
export const throughput = async (setting: Setting): Promise<Figure[]> => {
  const host = await startHost(setting)
  const [registered = []] = await sampleInTurn([host], ROUNDS, async (build, round) => {
    const ids = Array.from({ length: 2 * AGENTS }, (_, index) => idOf(2 * AGENTS * round + index))
    return {
      single: await perAgent(build, () => putAll(build, ids.slice(0, AGENTS))),
      batched: await perAgent(build, () => postBatch(build, ids.slice(AGENTS))),
    }
  })
  const [imported = []] = await sampleInTurn([host], ROUNDS, async build => {
    const file = await (await fetch(`${originOf(build)}/export`, { headers })).text()
    const target = await startHost({ bundle: build.bundle, directory: setting.directory })
    const spent = await perAgent(target, () => post(target, '/import', file))
    await target.stop()
    return spent / (2 * ROUNDS)
  })
  await host.stop()
  return [
    ...speedFigures(
      `PUT of an agent, ${IN_PARALLEL} at once`,
      registered.map(each => column(each, 'single')),
    ),
    ...speedFigures(
      `agent in a batch of ${AGENTS}`,
      registered.map(each => column(each, 'batched')),
    ),
    ...speedFigures(`agent in an import of ${(2 * AGENTS * ROUNDS).toLocaleString('en')}`, imported),
  ]
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
