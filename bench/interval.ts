import { seededRandom } from './random.ts'

/** A median and the interval that holds it with 95% confidence. */
export type Interval = { median: number; low: number; high: number }

const resamples = 2_000

/** The median of samples with its bootstrap interval (percentiles of resampled medians, same seed every time). */
export const interval = (samples: readonly number[]): Interval => {
  const random = seededRandom(1)
  const medians = Array.from({ length: resamples }, () =>
    median(Array.from(samples, () => samples[Math.floor(random() * samples.length)] ?? 0)),
  ).sort((left, right) => left - right)
  return {
    median: median([...samples]),
    low: medians[Math.floor(resamples * 0.025)] ?? Number.NaN,
    high: medians[Math.ceil(resamples * 0.975) - 1] ?? Number.NaN,
  }
}

/** The median; sorts what it is given. */
export const median = (samples: number[]): number => {
  samples.sort((left, right) => left - right)
  const middle = samples.length >> 1
  return samples.length % 2 === 1
    ? (samples[middle] ?? Number.NaN)
    : ((samples[middle - 1] ?? Number.NaN) + (samples[middle] ?? Number.NaN)) / 2
}
