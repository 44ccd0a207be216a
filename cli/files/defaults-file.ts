import { Manifest } from '../../src/card/manifest/manifest.ts'
import { formatPointer, isJsonObject, type JsonObject } from '../../src/json/json.ts'
import type { Problem } from './problem.ts'
import type { Source } from './source.ts'

/** The file names, in order of preference, of what every other file of a folder inherits. */
export const defaultsNames = ['defaults.yaml', 'defaults.yml', 'defaults.json']

/** What a folder's files inherit, and where it is written. */
export type Defaults = { manifest: JsonObject; source: Source }

const inheritable = Object.keys(Manifest.entries).filter(name => name !== 'id' && name !== 'hosts')

/** Checks that the defaults hold fields of a manifest that more than one agent can have. */
export const readDefaults = (source: Source): Defaults | { problems: Problem[] } => {
  const { value, file } = source
  if (value === null) return { manifest: {}, source }
  if (!isJsonObject(value))
    return { problems: [{ file, line: 1, column: 1, pointer: '', message: 'must be an object' }] }
  const problems = Object.keys(value).flatMap(name => {
    if (inheritable.includes(name)) return []
    const place = formatPointer(name)
    return [{ file, ...(source.find(place) ?? { line: 1, column: 1 }), pointer: place, message: refusal(name) }]
  })
  return problems.length > 0 ? { problems } : { manifest: value, source }
}

const refusal = (name: string): string =>
  name in Manifest.entries
    ? 'belongs to one agent, and cannot be inherited'
    : 'is not a field of a manifest; fields of the card go under `card`'
