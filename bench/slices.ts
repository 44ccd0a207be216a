import { cpuMilliseconds } from './cpu-time.ts'
import type { Load } from './load.ts'
import { seededRandom } from './random.ts'

/** One server under load. */
export type Contestant = { name: string; load: Load; pid: number }

/** One slice: answers a second, and the server's CPU time for each in milliseconds. */
export type Measured = { rate: number; cpu: number; busy: number }

/** What the rounds brought for one contestant: its ratios to the baseline's slice of the same round. */
export type Rounds = { name: string; throughput: number[]; cpu: number[]; slices: Measured[] }

/**
 * Loads one server at a time, in short slices, every one of them once a round and in another order each time: what the
 * machine does to one slice it does to its neighbours, so that a ratio within a round holds where absolute figures do not.
 */
export const interleave = async (
  baseline: Contestant,
  others: readonly Contestant[],
  rounds: number,
  milliseconds: number,
): Promise<{ baseline: Measured[]; others: Rounds[] }> => {
  const random = seededRandom(rounds)
  const baselines: Measured[] = []
  const results = others.map(({ name }) => ({ name, throughput: [], cpu: [], slices: [] }) as Rounds)
  for (let round = 0; round < rounds; round++) {
    const measured = new Map<Contestant, Measured>()
    for (const contestant of shuffled([baseline, ...others], random))
      measured.set(contestant, await slice(contestant, milliseconds))
    const base = measured.get(baseline) as Measured
    baselines.push(base)
    for (const [index, other] of others.entries()) {
      const { rate, cpu, busy } = measured.get(other) as Measured
      results[index]?.slices.push({ rate, cpu, busy })
      results[index]?.throughput.push(rate / base.rate)
      results[index]?.cpu.push(base.cpu / cpu)
    }
  }
  return { baseline: baselines, others: results }
}

const shuffled = <Item>(items: Item[], random: () => number): Item[] =>
  items
    .map(item => ({ item, place: random() }))
    .sort((left, right) => left.place - right.place)
    .map(({ item }) => item)

const slice = async ({ load, pid }: Contestant, milliseconds: number): Promise<Measured> => {
  const before = cpuMilliseconds(pid)
  const { responses, seconds } = await load.run(milliseconds)
  const spent = cpuMilliseconds(pid) - before
  return { rate: responses / seconds, cpu: spent / responses, busy: spent / (seconds * 1000) }
}
