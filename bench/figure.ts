import { type Bound, type Verdict, verdict } from './bound.ts'
import type { Interval } from './interval.ts'

/** One line of the bench's result. A figure without a bound is for comparison. */
export type Figure = {
  name: string
  unit: 'ratio' | 'ms' | 'bytes'
  value: Interval
  /** The same ratio by the servers' CPU time, which the load generator cannot hide. */
  cpu?: Interval
  /** Answers a second, and the share of its core that the server was busy. */
  rate?: number
  busy?: number
  bound?: Bound
  verdict?: Verdict
  note?: string
}

/** A figure judged by its bound. */
export const judged = (figure: Figure & { bound: Bound }): Figure => ({
  ...figure,
  verdict: verdict(figure.value, figure.bound),
})

/** A figure without uncertainty. */
export const exact = (value: number): Interval => ({ median: value, low: value, high: value })
