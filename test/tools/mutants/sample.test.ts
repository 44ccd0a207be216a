import { describe, expect, it } from 'vitest'
import type { MutantKind } from '../../../tools/mutants/mutators.ts'
import { pickSample } from '../../../tools/mutants/sample.ts'

/** Makes so many mutants of a kind in a file. */
const mutantsOf = (path: string, kind: MutantKind, count: number) =>
  Array.from({ length: count }, (_, start) => ({
    path,
    kind,
    start,
    end: start + 1,
    line: 1,
    form: 'expression' as const,
    original: 'a',
    replacement: 'b',
  }))

const mutants = [
  ...mutantsOf('a.ts', 'string', 500),
  ...mutantsOf('b.ts', 'string', 20),
  ...mutantsOf('b.ts', 'call', 2),
  ...mutantsOf('c.ts', 'number', 30),
]

describe('a sample of mutants', () => {
  it('has as many of each kind as there are, and is spread over the files', () => {
    const sample = pickSample(mutants, { count: 20, seed: 1 })
    const counts = Map.groupBy(sample, ({ path, kind }) => `${path} ${kind}`)
    expect(Object.fromEntries([...counts].map(([name, { length }]) => [name, length]))).toEqual({
      'a.ts string': 6,
      'b.ts string': 3,
      'b.ts call': 2,
      'c.ts number': 9,
    })
  })

  it('is the same for the same seed, in whatever order the mutants are found', () => {
    const options = { count: 20, seed: 1 }
    const sample = pickSample(mutants, options)
    expect(pickSample(mutants.toReversed(), options)).toEqual(sample)
    expect(pickSample(mutants, { count: 20, seed: 2 })).not.toEqual(sample)
  })

  it('is every mutant where there are fewer', () => {
    expect(pickSample(mutants, { count: 1000, seed: 1 })).toHaveLength(mutants.length)
  })
})
