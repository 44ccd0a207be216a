/** A median with its 95% confidence interval. */
export type Interval = { median: number; low: number; high: number }

/** What a figure must be: at least, or at most. */
export type Bound = { min: number } | { max: number }

/** `inconclusive`: the bound lies within the interval, so this run cannot decide. */
export type Verdict = 'pass' | 'fail' | 'inconclusive'

/** One row of the result. */
export type Figure = {
  name: string
  unit: 'ratio' | 'bytes' | 'ms'
  value: Interval
  /** The same ratio by the servers' CPU time, which a slow load generator does not distort. */
  cpu?: Interval
  /** Responses per second, and the share of its core that the server was busy. */
  rate?: number
  busy?: number
  note?: string
  /** Which way is better, for a figure that a regression of the host would change. The others are context. */
  better?: 'higher' | 'lower'
  /** A bound of its own, for a figure that must not depend on the last good run. */
  bound?: Bound
  verdict?: Verdict
}

/** The medians of the last good run by figure name. */
export type Baseline = Record<string, number>

/** How far a figure may fall behind the last good run. */
const TOLERANCE = 0.1

/** Adds the bound and the verdict to a figure. A figure without a bound or an entry in the baseline gets neither. */
export const judge = (figure: Figure, baseline: Baseline): Figure => {
  const bound = figure.bound ?? boundFromBaseline(figure, baseline[figure.name])
  return bound ? { ...figure, bound, verdict: verdictOf(figure.value, bound) } : figure
}

const boundFromBaseline = ({ better }: Figure, lastGood: number | undefined): Bound | undefined => {
  if (better === undefined || lastGood === undefined) return undefined
  return better === 'higher' ? { min: lastGood * (1 - TOLERANCE) } : { max: lastGood * (1 + TOLERANCE) }
}

/** Compares an interval with a bound. It fails only where the whole interval is on the wrong side. */
export const verdictOf = ({ low, high }: Interval, bound: Bound): Verdict => {
  const [kept, missed] = 'min' in bound ? [low >= bound.min, high < bound.min] : [high <= bound.max, low > bound.max]
  return kept ? 'pass' : missed ? 'fail' : 'inconclusive'
}

const RESAMPLES = 2_000

/** Returns the median of samples with its bootstrap interval (percentiles of resampled medians, always the same seed). */
export const interval = (samples: readonly number[]): Interval => {
  const random = seededRandom(1)
  const medians = Array.from({ length: RESAMPLES }, () =>
    median(Array.from(samples, () => samples[Math.floor(random() * samples.length)] ?? 0)),
  ).sort((left, right) => left - right)
  return {
    median: median(samples),
    low: medians[Math.floor(RESAMPLES * 0.025)] ?? Number.NaN,
    high: medians[Math.ceil(RESAMPLES * 0.975) - 1] ?? Number.NaN,
  }
}

/** Returns one value of each sample. */
export const column = <K extends string>(samples: readonly Record<K, number>[] = [], name: K): number[] =>
  samples.map(sample => sample[name])

/** Returns the interval of the ratios of samples to those of a baseline that were taken in turn with them. */
export const ratios = (samples: readonly number[] = [], base: readonly number[] = []): Interval =>
  interval(samples.map((sample, index) => sample / (base[index] ?? sample)))

/** Describes samples in milliseconds beside those of a baseline. */
export const describeRatio = (samples: readonly number[] = [], base: readonly number[] = []): string =>
  `${median(samples).toFixed(2)} ms beside ${median(base).toFixed(2)} ms`

/** What the name of a figure ends with if it is that of the other build, or the ratio of this build to the other one. */
export const [IN_OTHER, BESIDE_OTHER] = [', other build', ', beside the other build']

/** Returns the ratio of samples in milliseconds to those of the other build, if there are any. */
export const compareBuilds = (name: string, [own, other]: readonly (readonly number[])[] = []): Figure[] => {
  const figure = { name: name + BESIDE_OTHER, unit: 'ratio', note: describeRatio(own, other) } as const
  return other ? [{ ...figure, value: ratios(own, other) }] : []
}

/** Returns a figure of samples in milliseconds, and its ratio to the other build's if there is one. */
export const timeFigures = (
  figure: Omit<Figure, 'unit' | 'value'>,
  builds: readonly (readonly number[])[],
): Figure[] => [{ ...figure, unit: 'ms', value: interval(builds[0] ?? []) }, ...compareBuilds(figure.name, builds)]

/** Returns the same, with how often a second it is. */
export const speedFigures = (name: string, builds: readonly (readonly number[])[]): Figure[] =>
  timeFigures({ name, rate: 1000 / median(builds[0] ?? []) }, builds)

/** Returns the interval of a value without uncertainty. */
export const exact = (value: number): Interval => ({ median: value, low: value, high: value })

/** Returns the median of samples. */
export const median = (samples: readonly number[]): number => {
  const sorted = [...samples].sort((left, right) => left - right)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2
}

/** Returns a generator of numbers in [0, 1) that are the same in every run (mulberry32). */
export const seededRandom = (seed: number): (() => number) => {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Returns a generator of ranks 0 … n-1 by Zipf's law with exponent 1: rank r is drawn in proportion to 1 / (r + 1). */
export const zipf = (n: number, seed: number): (() => number) => {
  const random = seededRandom(seed)
  const cumulative = new Float64Array(n)
  let sum = 0
  for (let rank = 0; rank < n; rank++) {
    sum += 1 / (rank + 1)
    cumulative[rank] = sum
  }
  return () => {
    const drawn = random() * sum
    let low = 0
    let high = n - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if ((cumulative[middle] ?? 0) < drawn) low = middle + 1
      else high = middle
    }
    return low
  }
}
