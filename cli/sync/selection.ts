import { distance } from 'fastest-levenshtein'
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
    .map(text => ({ text, suggestion: [text, ...rest].join('*'), mistakes: distance(start, text) }))
    .filter(({ mistakes, suggestion }) => mistakes <= maxDistance(start) && ids.some(id => matchesGlob(suggestion, id)))
    .sort((one, other) => one.mistakes - other.mistakes)
  return candidates[0]?.suggestion
}

/** In a text of one letter, any other letter would be a mistake of it. */
const maxDistance = (text: string): number => (text.length < 2 ? 0 : Math.max(1, Math.floor(text.length / 3)))
