import type { Setting } from '../compare.ts'
import { cardOfSize } from '../requests.ts'
import { cpuMilliseconds, portOf, register, type Server, startHost, startKv, startWorker } from '../servers.ts'
import { type Figure, interval, median } from '../stats.ts'

const SIZES = [
  { name: 'PUT of a 2 KB card', bytes: 2_000 },
  { name: 'PUT of a 200 KB card', bytes: 200_000 },
]
const PUTS_PER_BATCH = 10
const WARM_UP_BATCHES = 2

/** The CPU time of a registration, all threads of the host's process together, beside a Worker that only reads the body. */
export const registrations = async ({ bundle, directory, effort }: Setting): Promise<Figure[]> => {
  const kv = await startKv(0)
  const host = await startHost(bundle, kv, directory())
  const sink = await startWorker('sink')
  const batches = Math.max(5, Math.round(effort.rounds / 4))
  const figures: Figure[] = []
  for (const { name, bytes } of SIZES) {
    const [ofHost, ofSink]: [number[], number[]] = [[], []]
    for (let index = 0; index < batches + WARM_UP_BATCHES; index++) {
      // Every body is a new revision.
      const cards = Array.from({ length: PUTS_PER_BATCH }, (_, put) => cardOfSize(bytes, `1.${index}.${put}`))
      ofHost.push(await putMilliseconds(host, cards))
      ofSink.push(await putMilliseconds(sink, cards))
    }
    const [own, base] = [ofHost.slice(WARM_UP_BATCHES), ofSink.slice(WARM_UP_BATCHES)]
    figures.push({
      name: `${name}: CPU time, beside a Worker that reads the body`,
      unit: 'ratio',
      value: interval(own.map((spent, batch) => spent / (base[batch] ?? spent))),
      better: 'lower',
      note: `${median(own).toFixed(2)} ms beside ${median(base).toFixed(2)} ms`,
    })
  }
  await Promise.all([host, kv, sink].map(server => server.stop()))
  return figures
}

const putMilliseconds = async (server: Server, cards: readonly unknown[]): Promise<number> => {
  const before = cpuMilliseconds(server.pid)
  for (const card of cards) await register(portOf(server), 'weather', card)
  return (cpuMilliseconds(server.pid) - before) / cards.length
}
