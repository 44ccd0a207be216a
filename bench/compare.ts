import { Load, type Requests } from './load.ts'
import { type Builds, buildsOf, cpuMilliseconds, portOf, type Server } from './servers.ts'
import { BESIDE_OTHER, column, compareBuilds, type Figure, IN_OTHER, median, ratios, seededRandom } from './stats.ts'

/**
 * How long to measure: rounds, the milliseconds of a slice, and the milliseconds of load before the first round; and
 * what: `only` is part of the names of the figures of calls.
 */
export type Effort = { rounds: number; milliseconds: number; warmUp: number; only?: string }

/** Checks whether the figure of a call with this name is to be measured. */
export const isMeasured = (name: string, { only = '' }: Effort): boolean => name.includes(only)

/** What every scenario needs. */
export type Setting = Builds & { effort: Effort }

/**
 * A server in a comparison, and the requests sent to it. Its other build gets `otherRequests`, if they differ. `isAbove`
 * compares what the two builds take above the baseline, too.
 */
export type Entrant = Pick<Figure, 'name' | 'better' | 'note'> & {
  server: Server
  requests: Requests
  otherRequests?: Requests
  isAbove?: boolean
}

/** One slice: responses per second, CPU milliseconds for each, and the share of its core that the server was busy. */
type Slice = { rate: number; cpu: number; busy: number }

/** A server under load, and its other build. */
type Lane = { load: Load; pid: number; other?: Lane }

/**
 * Compares servers with a baseline. Loads one server at a time in short slices, each of them once a round and in another order
 * each time: what disturbs one slice disturbs its neighbours, so ratios within a round are stable where absolute figures are not.
 * The figures of the other build follow those of all entrants.
 */
export const compare = async (baseline: Entrant, others: readonly Entrant[], effort: Effort): Promise<Figure[]> => {
  const entrants = [baseline, ...others]
  const lanes: Lane[] = []
  for (const { server, requests, otherRequests } of entrants)
    lanes.push(await openLane(effort, server, requests, otherRequests))
  const slices = await sampleInTurn(lanes, effort.rounds, lane => measure(lane, effort.milliseconds))
  for (const { load } of lanes.flatMap(buildsOf)) load.close()
  const [base = [], otherBase = base] = slices[0] ?? []
  const figures = entrants.map(({ name, better, note }, index): Figure => {
    const { cpu, ...figure } = compareSlices(name, slices[index]?.[0], base)
    return { ...figure, ...(index > 0 && { cpu }), ...(better && { better }), ...(note !== undefined && { note }) }
  })
  const besideOther = entrants.flatMap(({ name, isAbove }, index): Figure[] => {
    const [own = [], other] = slices[index] ?? []
    if (index === 0 || !other) return []
    return [
      compareSlices(name + IN_OTHER, other, otherBase),
      compareSlices(name + BESIDE_OTHER, own, other),
      ...(isAbove ? compareBuilds(`${name}: CPU time above it`, [above(own, base), above(other, otherBase)]) : []),
    ]
  })
  return [...figures, ...besideOther]
}

const openLane = async (effort: Effort, server: Server, requests: Requests, others = requests): Promise<Lane> => {
  const load = await Load.open(portOf(server), requests)
  await load.run(effort.warmUp)
  const other = server.other && (await openLane(effort, server.other, others))
  return { load, pid: server.pid, ...(other && { other }) }
}

const compareSlices = (name: string, own: readonly Slice[] = [], base: readonly Slice[] = []) => ({
  ...{ name, unit: 'ratio' as const, value: ratios(column(own, 'rate'), column(base, 'rate')) },
  cpu: ratios(column(base, 'cpu'), column(own, 'cpu')),
  rate: median(column(own, 'rate')),
  busy: median(column(own, 'busy')),
})

/** Returns the CPU milliseconds that requests take above those of the baseline. */
const above = (own: readonly Slice[], base: readonly Slice[]): number[] =>
  own.map(({ cpu }, round) => cpu - (base[round]?.cpu ?? cpu))

/** Loads a server, in every build, for a time in milliseconds before anything is measured. */
export const warmUp = async (server: Server, requests: Requests, milliseconds: number): Promise<void> => {
  for (const build of buildsOf(server)) {
    const load = await Load.open(portOf(build), requests)
    await load.run(milliseconds)
    load.close()
  }
}

const shuffle = <T>(items: readonly T[], random: () => number): T[] =>
  items
    .map(item => ({ item, place: random() }))
    .sort((left, right) => left.place - right.place)
    .map(({ item }) => item)

const measure = async ({ load, pid }: Lane, milliseconds: number): Promise<Slice> => {
  const before = cpuMilliseconds(pid)
  const { responses, seconds } = await load.run(milliseconds)
  const spent = cpuMilliseconds(pid) - before
  return { rate: responses / seconds, cpu: spent / responses, busy: spent / (seconds * 1000) }
}

/**
 * Takes a sample of each server in each of its builds, round by round, and in another order each round. Returns the samples
 * by server and by build.
 */
export const sampleInTurn = async <S extends { other?: S }, T>(
  servers: readonly S[],
  rounds: number,
  sample: (build: S, round: number) => Promise<T>,
): Promise<T[][][]> => {
  const random = seededRandom(rounds)
  const sampled = servers.map(server => buildsOf(server).map(build => ({ build, samples: [] as T[] })))
  for (let round = 0; round < rounds; round++)
    for (const { build, samples } of shuffle(sampled.flat(), random)) samples.push(await sample(build, round))
  return sampled.map(builds => builds.map(({ samples }) => samples))
}
