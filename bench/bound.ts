import type { Interval } from './interval.ts'

/** What a figure must be: at least, or at most. */
export type Bound = { least: number } | { most: number }

/** `inconclusive`: the bound lies within the interval, so that this run cannot tell. */
export type Verdict = 'pass' | 'fail' | 'inconclusive'

/** Whether an interval keeps a bound: only an interval wholly on the wrong side of it fails. */
export const verdict = ({ low, high }: Interval, bound: Bound): Verdict => {
  const [kept, missed] =
    'least' in bound ? [low >= bound.least, high < bound.least] : [high <= bound.most, low > bound.most]
  return kept ? 'pass' : missed ? 'fail' : 'inconclusive'
}
