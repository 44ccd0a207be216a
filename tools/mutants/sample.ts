import { createHash } from 'node:crypto'
import type { Mutant } from './mutators.ts'

/** A mutant and the path of its file. */
export type LocatedMutant = Mutant & { path: string }

/**
 * Picks up to `count` mutants: of each kind in turn, one in the file that has the fewest so far. Which one, the seed and the mutant
 * decide, so that a change elsewhere hardly changes the sample.
 */
export const pickSample = <Candidate extends LocatedMutant>(
  mutants: readonly Candidate[],
  { count, seed }: { count: number; seed: number },
): Candidate[] => {
  const ranked = mutants
    .map(mutant => ({ mutant, rank: rankOf(mutant, seed) }))
    .sort((left, right) => (left.rank < right.rank ? -1 : 1))
    .map(({ mutant }) => mutant)
  const kinds = [...Map.groupBy(ranked, ({ kind }) => kind)].sort().map(([, ofKind]) => ofKind)
  const picked: Candidate[] = []
  const uses = new Map<string, number>()
  while (picked.length < Math.min(count, ranked.length)) {
    for (const ofKind of kinds) {
      const counts = ofKind.map(({ path }) => uses.get(path) ?? 0)
      const [next] = ofKind.splice(counts.indexOf(Math.min(...counts)), 1)
      if (!next || picked.length === count) continue
      picked.push(next)
      uses.set(next.path, (uses.get(next.path) ?? 0) + 1)
    }
  }
  return picked
}

const rankOf = ({ path, kind, start, end, replacement }: LocatedMutant, seed: number): string =>
  createHash('sha256')
    .update(JSON.stringify([seed, path, kind, start, end, replacement]))
    .digest('hex')
