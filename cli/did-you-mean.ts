import { distance } from 'fastest-levenshtein'
import type { Finding } from '../src/card/model/index.ts'
import { getAt, isJsonObject, type Json, parsePointer } from '../src/json/index.ts'

/** Returns the question whether a similar name was meant, for the end of a message; '' if none is similar. */
export const didYouMean = (unknown: string, known: readonly string[]): string => {
  const closest = findClosest(unknown, known)
  return closest === undefined ? '' : ` Did you mean "${closest}"?`
}

/** Returns a name of which at most three letters are wrong; of short names, half of them. */
const findClosest = (unknown: string, known: readonly string[]): string | undefined => {
  if (unknown === '' || unknown.length > 200) return undefined
  const [closest] = known
    .map(name => ({ name, mistakes: countMistakes(unknown.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, mistakes }) => mistakes <= Math.min(3, Math.floor(name.length / 2)))
    .sort((one, other) => one.mistakes - other.mistakes)
  return closest?.name
}

/** A beginning, such as `goph` or `1`, is one mistake. */
const countMistakes = (unknown: string, name: string): number =>
  name.startsWith(unknown) ? Math.min(1, name.length - unknown.length) : distance(unknown, name)

/** Adds to the message about an unknown field of a manifest which of its known fields was meant. */
export const suggestField = <Error extends Finding>(error: Error): Error => {
  const [known, names = ''] = / Known fields: ([\w$, ]+)/.exec(error.message) ?? []
  if (known === undefined) return error
  const suggestion = didYouMean(parsePointer(error.pointer).at(-1) ?? '', names.split(', '))
  return { ...error, message: error.message.replace(known, suggestion + known) }
}

/** Adds to the message about a missing field which unknown one, as cards may have, may be a misspelling of it. */
export const suggestMisspelling = <Error extends Finding>(error: Error, document: Json): Error => {
  if (error.message !== 'is missing') return error
  const missing = parsePointer(error.pointer).at(-1) ?? ''
  const parent = getAt(document, error.pointer.slice(0, error.pointer.lastIndexOf('/')))
  // Without its `card`, a manifest is read as a card without a name.
  const wanted = missing === 'name' ? [missing, 'card'] : [missing]
  const [suggestion] = Object.keys(isJsonObject(parent) ? parent : {}).flatMap(key => {
    if (wanted.includes(key)) return [` It has no value: write one after "${key}".`]
    const meant = findClosest(key, wanted)
    return meant === undefined ? [] : [` Did you write "${key}" for "${meant}"?`]
  })
  return suggestion === undefined ? error : { ...error, message: `${error.message}.${suggestion}` }
}
