import { exact, type Figure, judged } from './figure.ts'
import { interval, median } from './interval.ts'
import { Load, type Requests } from './load.ts'
import type { Server } from './server.ts'
import { interleave } from './slices.ts'

/** How long to measure. */
export type Effort = { rounds: number; milliseconds: number; warmUp: number }

/** Someone in a comparison: the server, what is asked of it, what is asked before to warm it, and what it must reach. */
export type Entrant = { name: string; server: Server; requests: Requests } & Pick<Figure, 'bound' | 'note'>

/** Compares servers with the first of them, the baseline, and closes all connections again. */
export const compare = async (
  baseline: Entrant,
  others: readonly Entrant[],
  { rounds, milliseconds, warmUp }: Effort,
): Promise<Figure[]> => {
  const enter = async ({ name, server, requests }: Entrant) => {
    const load = await Load.open(Object.values(server.ports)[0] ?? 0, requests)
    await load.run(warmUp)
    return { name, load, pid: server.pid }
  }
  const first = await enter(baseline)
  const rest = []
  for (const other of others) rest.push(await enter(other))
  const result = await interleave(first, rest, rounds, milliseconds)
  for (const { load } of [first, ...rest]) load.close()
  const own: Figure = { name: baseline.name, unit: 'ratio', value: exact(1), ...typical(result.baseline) }
  return [
    own,
    ...result.others.map(({ name, throughput, cpu, slices }, index) => {
      const { bound, note } = others[index] ?? {}
      const figure: Figure = {
        name,
        unit: 'ratio',
        value: interval(throughput),
        cpu: interval(cpu),
        ...typical(slices),
        ...(note !== undefined && { note }),
      }
      return bound ? judged({ ...figure, bound }) : figure
    }),
  ]
}

const typical = (slices: { rate: number; busy: number }[]) => ({
  rate: median(slices.map(({ rate }) => rate)),
  busy: median(slices.map(({ busy }) => busy)),
})
