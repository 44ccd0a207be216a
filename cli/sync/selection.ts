import { matchesGlob } from '../../src/card/model/index.ts'
import { didYouMean } from '../did-you-mean.ts'
import { UsageError } from '../errors.ts'
import type { LoadedManifests } from '../manifests/index.ts'

/** Returns the files that `--only` selects, and those without an id. Unless `acceptUnmatched`, each glob must match. */
export const selectFiles = (
  { drafts, invalid }: Omit<LoadedManifests, 'skipped'>,
  only: readonly string[] | undefined,
  acceptUnmatched = false,
) => {
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
  const isMatched = (glob: string): boolean => ids.some(id => matchesGlob(glob, id))
  const glob = globs.find(each => !isMatched(each))
  if (glob === undefined) return
  const similar = similarGlobs(glob, ids).filter(isMatched)
  throw new UsageError(`--only ${glob} matches no agent.${didYouMean(glob, similar)}`)
}

/** Returns the glob with its beginning replaced by those of the ids, up to a letter longer or shorter. */
const similarGlobs = (glob: string, ids: readonly string[]): string[] => {
  const [start = '', ...rest] = glob.split('*')
  if (rest.length === 0) return [...ids]
  const ends = [start.length - 1, start.length, start.length + 1]
  return ids.flatMap(id => ends.map(end => [id.slice(0, Math.max(0, end)), ...rest].join('*')))
}
