import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join, normalize, relative, resolve, sep } from 'node:path'
import type { Diagnostic, ParsedFile } from '../../src/card/file/index.ts'
import { Manifest } from '../../src/card/manifest/index.ts'
import { formatPointer, isJsonObject, type JsonObject, omit } from '../../src/json/index.ts'
import { didYouMean } from '../did-you-mean.ts'

/** The file names, in order of preference, of what every other file of a folder inherits. */
export const DEFAULTS_NAMES = ['defaults.yaml', 'defaults.yml', 'defaults.json']

/** Checks whether an absolute path is in a folder, or the folder itself. */
export const isIn = (path: string, folder: string): boolean => {
  const way = relative(folder, path)
  return !isAbsolute(way) && way.split(sep)[0] !== '..'
}

/** Returns the defaults file of a folder, if it has one. */
export const findDefaults = (folder: string, cwd: string): string | undefined =>
  DEFAULTS_NAMES.map(name => join(folder, name)).find(path => existsSync(resolve(cwd, path)))

/** The fields that the files of a folder inherit, and the files where they are written, the innermost first. */
export type Defaults = { manifest: JsonObject; sources: ParsedFile[] }

/**
 * Returns the folders whose defaults the files of a folder inherit, the outermost first: from the current folder on, so
 * that a single file inherits the same as in its folder, or, outside of it, from the named folder `root` on.
 */
export const foldersAbove = (folder: string, root: string, cwd: string): string[] => {
  const top = isIn(resolve(cwd, folder), cwd) ? resolve(cwd) : resolve(cwd, root)
  const folders = [normalize(folder)]
  for (let path = normalize(folder); resolve(cwd, path) !== top && dirname(path) !== path; path = dirname(path))
    folders.unshift(dirname(path))
  return folders
}

const INHERITABLE = Object.keys(Manifest.entries).filter(name => name !== 'id' && name !== 'hosts')

/** Checks that a defaults file has only manifest fields that more than one agent can have. */
export const readDefaults = (source: ParsedFile): Defaults | { problems: Diagnostic[] } => {
  const start = { file: source.file, line: 1, column: 1 }
  const value = isJsonObject(source.value) ? omit(source.value, '$schema') : (source.value ?? {})
  if (!isJsonObject(value))
    return { problems: [{ ...start, pointer: '', message: 'must be an object, such as `set: my-team`' }] }
  const problems = Object.keys(value).flatMap((name): Diagnostic[] => {
    if (INHERITABLE.includes(name)) return []
    const pointer = formatPointer(name)
    const message =
      name in Manifest.entries
        ? 'belongs to one agent and cannot be inherited: write it into the file of that agent'
        : `is not a field of a manifest.${didYouMean(name, INHERITABLE)} Fields of the card go under \`card\``
    return [{ ...start, ...source.locate(pointer), pointer, message }]
  })
  return problems.length > 0 ? { problems } : { manifest: value, sources: [source] }
}

const ENDPOINT_FIELDS = {
  card: ['url', 'supportedInterfaces', 'additionalInterfaces', 'preferredTransport'],
  upstream: ['url', 'card', 'mcp', 'service'],
} as const

/**
 * Returns a manifest with what it inherits from the defaults of its folder. Objects merge member by member, the
 * manifest's own values win, and an own `null` removes an inherited member. A manifest that names its own endpoint
 * inherits no endpoint and no upstream: its calls, and the upstream's secret, would go to the wrong agent.
 */
export const applyDefaults = (defaults: JsonObject, own: JsonObject): JsonObject =>
  merge(inheritedBy(own, defaults), own)

/** Returns the fields that a file needs to make a manifest with the defaults of its folder: all but their set. */
export const removeDefaults = (defaults: JsonObject, manifest: JsonObject): JsonObject => {
  const inherited = inheritedBy(manifest, defaults)
  const own = subtract(inherited, manifest)
  return manifest.set !== undefined && inherited.set === manifest.set ? omit(own, 'set') : own
}

const inheritedBy = (own: JsonObject, defaults: JsonObject): JsonObject => {
  const hasEndpoint = (['card', 'upstream'] as const).some(part => {
    const value = own[part]
    return isJsonObject(value) && ENDPOINT_FIELDS[part].some(field => value[field] !== undefined)
  })
  if (!hasEndpoint) return defaults
  const { upstream: _, ...rest } = defaults
  return isJsonObject(rest.card) ? { ...rest, card: omit(rest.card, ...ENDPOINT_FIELDS.card) } : rest
}

const merge = (inherited: JsonObject, own: JsonObject): JsonObject => {
  const merged: JsonObject = { ...inherited }
  for (const [name, value] of Object.entries(own)) {
    const base = inherited[name]
    if (value === null && base !== undefined) delete merged[name]
    else merged[name] = isJsonObject(value) && isJsonObject(base) ? merge(base, value) : value
  }
  return merged
}

const subtract = (inherited: JsonObject, manifest: JsonObject): JsonObject => {
  const own: JsonObject = { ...manifest }
  for (const [name, base] of Object.entries(inherited)) {
    const value = manifest[name]
    if (value === undefined) own[name] = null
    else if (isJsonObject(value) && isJsonObject(base)) own[name] = subtract(base, value)
  }
  return own
}
