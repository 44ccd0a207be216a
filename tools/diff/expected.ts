import type { Case } from './cases.ts'
import type { Difference } from './compare.ts'

/**
 * A difference that is meant: it is counted, and not reported. Observations and lines without an agent have no case.
 */
export type ExpectedDifference = { reason: string; matches: (difference: Difference, testCase?: Case) => boolean }

/** Every difference from the reference commit that is meant. */
export const expectedDifferences: readonly ExpectedDifference[] = []
