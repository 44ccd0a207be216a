import { createSigningKey } from '../../cli/signing-key.ts'
import type { Setting } from '../compare.ts'
import { cardOfSize } from '../requests.ts'
import { cpuMilliseconds, portOf, register, type Server, startHost, startKv, startWorker } from '../servers.ts'
import { type Figure, type Interval, interval, median } from '../stats.ts'

const SIZES = [
  { name: 'PUT of a 2 KB card', bytes: 2_000 },
  { name: 'PUT of a 200 KB card', bytes: 200_000 },
]
const PUTS_PER_BATCH = 10
const WARM_UP_BATCHES = 2

/** What a registration that signs the card may take, beside one that does not. */
const MAX_SIGNING_FACTOR = 1.5

/**
 * The CPU time of a registration, all threads of the host's process together, beside a Worker that only reads the body; and at a host that
 * signs cards, beside one that does not.
 */
export const registrations = async ({ bundle, directory, effort }: Setting): Promise<Figure[]> => {
  const kv = await startKv(0)
  const host = await startHost(bundle, kv, directory())
  const signing = await startHost(bundle, kv, directory(), {
    PUBLIC_URL: 'https://cards.example.com',
    SIGNING_KEY: JSON.stringify(createSigningKey()),
  })
  const sink = await startWorker('sink')
  const batches = Math.max(5, Math.round(effort.rounds / 4))
  const figures: Figure[] = []
  for (const { name, bytes } of SIZES) {
    const [ofHost, ofSigning, ofSink]: [number[], number[], number[]] = [[], [], []]
    for (let index = 0; index < batches + WARM_UP_BATCHES; index++) {
      // Every body is a new revision.
      const cards = Array.from({ length: PUTS_PER_BATCH }, (_, put) => cardOfSize(bytes, `1.${index}.${put}`))
      ofHost.push(await putMilliseconds(host, cards))
      ofSigning.push(await putMilliseconds(signing, cards))
      ofSink.push(await putMilliseconds(sink, cards))
    }
    const [own, signed, base] = [ofHost, ofSigning, ofSink].map(batches => batches.slice(WARM_UP_BATCHES))
    figures.push(
      {
        name: `${name}: CPU time, beside a Worker that reads the body`,
        unit: 'ratio',
        value: compare(own, base),
        better: 'lower',
        note: describe(own, base),
      },
      {
        name: `${name}, signed: CPU time, beside one that is not`,
        unit: 'ratio',
        value: compare(signed, own),
        bound: { max: MAX_SIGNING_FACTOR },
        note: describe(signed, own),
      },
    )
  }
  await Promise.all([host, signing, kv, sink].map(server => server.stop()))
  return figures
}

const compare = (spent: readonly number[] = [], base: readonly number[] = []): Interval =>
  interval(spent.map((each, batch) => each / (base[batch] ?? each)))

const describe = (spent: readonly number[] = [], base: readonly number[] = []): string =>
  `${median([...spent]).toFixed(2)} ms beside ${median([...base]).toFixed(2)} ms`

const putMilliseconds = async (server: Server, cards: readonly unknown[]): Promise<number> => {
  const before = cpuMilliseconds(server.pid)
  for (const card of cards) await register(portOf(server), 'weather', card)
  return (cpuMilliseconds(server.pid) - before) / cards.length
}
