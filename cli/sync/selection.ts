import { matchesGlob } from '../../src/card/model/constants.ts'
import { UsageError } from '../exit-codes.ts'
import type { LoadedManifests } from '../manifests/index.ts'

/**
 * Returns the files that `--only` selects. A file without a valid id may describe any agent. With `acceptUnmatched`, a glob may match
 * none of the files.
 */
export const selectFiles = (
  { drafts, invalid }: Pick<LoadedManifests, 'drafts' | 'invalid'>,
  only: readonly string[] | undefined,
  acceptUnmatched = false,
): Pick<LoadedManifests, 'drafts' | 'invalid'> => {
  const matches = createFilter(only)
  const ids = [...drafts, ...invalid].flatMap(({ id }) => id ?? [])
  if (!acceptUnmatched && invalid.every(({ id }) => id !== undefined)) rejectUnmatchedGlobs(only, ids)
  return {
    drafts: drafts.filter(({ id }) => matches(id)),
    invalid: invalid.filter(({ id }) => id === undefined || matches(id)),
  }
}

/** Returns a function that checks whether one of the globs matches an id. Without globs, every id matches. */
export const createFilter = (globs: readonly string[] = []): ((id: string) => boolean) =>
  globs.length === 0 ? () => true : id => globs.some(glob => matchesGlob(glob, id))

/** Throws a UsageError for a glob that matches none of the ids, and suggests one that does. */
export const rejectUnmatchedGlobs = (globs: readonly string[] = [], ids: readonly string[]): void => {
  for (const glob of globs) {
    if (ids.some(id => matchesGlob(glob, id))) continue
    const suggestion = suggestGlob(glob, ids)
    throw new UsageError(
      `--only ${glob} matches no agent.${suggestion === undefined ? '' : ` Did you mean ${suggestion}?`}`,
    )
  }
}

/** Returns the glob with its beginning replaced by the most similar beginning of an id; undefined if none is similar. */
const suggestGlob = (glob: string, ids: readonly string[]): string | undefined => {
  const [start = '', ...rest] = glob.split('*')
  const isExact = rest.length === 0
  const candidates = ids
    .flatMap(id => (isExact ? [id] : [start.length - 1, start.length, start.length + 1].map(end => id.slice(0, end))))
    .filter(text => text !== '')
    .map(text => ({ text, suggestion: [text, ...rest].join('*'), distance: editDistance(start, text) }))
    .filter(({ distance, suggestion }) => distance <= maxDistance(start) && ids.some(id => matchesGlob(suggestion, id)))
    .sort((one, other) => one.distance - other.distance)
  return candidates[0]?.suggestion
}

const maxDistance = (text: string): number => Math.max(1, Math.floor(text.length / 3))

/** Returns how many letters must be inserted, deleted, replaced or swapped with their neighbour to make one text the other. */
const editDistance = (left: string, right: string): number => {
  let beforeLast: number[] = []
  let last = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let row = 1; row <= left.length; row++) {
    const current = [row]
    for (let column = 1; column <= right.length; column++) {
      const isSame = left[row - 1] === right[column - 1]
      const isSwap = row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]
      current[column] = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (isSame ? 0 : 1),
        isSwap ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    beforeLast = last
    last = current
  }
  return at(last, right.length)
}

const at = (row: readonly number[], column: number): number => row[column] ?? Number.POSITIVE_INFINITY
