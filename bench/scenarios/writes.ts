import { createSigningKey } from '../../cli/signing-key.ts'
import { type Setting, sampleInTurn } from '../compare.ts'
import { cardOfSize } from '../requests.ts'
import { cpuMilliseconds, portOf, register, type Server, startHost, startWorker } from '../servers.ts'
import { compareBuilds, describeRatio, type Figure, ratios } from '../stats.ts'

const SIZES = [
  { name: 'PUT of a 2 KB card', bytes: 2_000, batchesPerRound: 1 },
  { name: 'PUT of a 200 KB card', bytes: 200_000, batchesPerRound: 1 / 4 },
]
const PUTS_PER_BATCH = 10
const WARM_UP_BATCHES = 2

/** What a registration that signs the card may take, beside one that does not. */
const MAX_SIGNING_FACTOR = 1.5

/**
 * The CPU time of a registration, all threads of the host's process together, beside a Worker that only reads the body; and at a host that
 * signs cards, beside one that does not.
 */
export const registrations = async (setting: Setting): Promise<Figure[]> => {
  const host = await startHost(setting)
  const signing = await startHost(setting, {
    vars: { PUBLIC_URL: 'https://cards.example.com', SIGNING_KEY: JSON.stringify(createSigningKey()) },
  })
  const sink = await startWorker('sink')
  const figures: Figure[] = []
  for (const { name, bytes, batchesPerRound } of SIZES) {
    const batches = Math.max(5, Math.round(setting.effort.rounds * batchesPerRound)) + WARM_UP_BATCHES
    // Every body is a new revision.
    const cards = (batch: number) =>
      Array.from({ length: PUTS_PER_BATCH }, (_, put) => cardOfSize(bytes, `1.${batch}.${put}`))
    const samples = await sampleInTurn([host, signing, sink], batches, (server, batch) =>
      putMilliseconds(server, cards(batch)),
    )
    const [ofHost, ofSigning, ofSink] = samples.map(builds => builds.map(each => each.slice(WARM_UP_BATCHES)))
    figures.push(
      {
        name: `${name}: CPU time, beside a Worker that reads the body`,
        unit: 'ratio',
        value: ratios(ofHost?.[0], ofSink?.[0]),
        better: 'lower',
        note: describeRatio(ofHost?.[0], ofSink?.[0]),
      },
      {
        name: `${name}, signed: CPU time, beside one that is not`,
        unit: 'ratio',
        value: ratios(ofSigning?.[0], ofHost?.[0]),
        bound: { max: MAX_SIGNING_FACTOR },
        note: describeRatio(ofSigning?.[0], ofHost?.[0]),
      },
      ...compareBuilds(`${name}: CPU time`, ofHost),
      ...compareBuilds(`${name}, signed: CPU time`, ofSigning),
    )
  }
  await Promise.all([host, signing, sink].map(server => server.stop()))
  return figures
}

const putMilliseconds = async (server: Server, cards: readonly unknown[]): Promise<number> => {
  const before = cpuMilliseconds(server.pid)
  for (const card of cards) await register(portOf(server), 'weather', card)
  return (cpuMilliseconds(server.pid) - before) / cards.length
}
