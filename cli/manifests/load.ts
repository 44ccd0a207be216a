import { readFileSync, type Stats, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type Diagnostic, type InvalidFile, type ParsedFile, parseFile } from '../../src/card/file/index.ts'
import { decodeUtf8, type JsonObject, type Pointer } from '../../src/json/index.ts'
import { MAX_FILE_BYTES } from '../context.ts'
import { isSystemError, UsageError } from '../errors.ts'
import { type Draft, isDraft, readDrafts } from './draft.ts'
import { CARDS_FOLDER, findFiles, LINK_OUTSIDE, leadsOutside, noCards, rejectLinkOutside } from './find-files.ts'
import { applyDefaults, type Defaults, findDefaults, foldersAbove, readDefaults } from './folder-defaults.ts'
import { isExternalAgentsName } from './manifest-source.ts'
import { isUneditedStarter } from './starter.ts'

/** A file that is not sent, and why: a clause such as "it is a FIFO". */
export type SkippedFile = { file: string; reason: string }

/** The owner's files, checked. */
export type CardFiles = { drafts: Draft[]; invalid: InvalidFile[]; skipped: SkippedFile[] }

/** Returns the note that a file is skipped. */
export const skippedText = ({ file, reason }: SkippedFile): string => `${file} is skipped: ${reason}.`

/** Throws a UsageError if the named folders have no files. */
export const rejectNoCards = (named: readonly string[], { drafts, invalid, skipped }: CardFiles): void => {
  if (drafts.length + invalid.length + skipped.length === 0) throw noCards(`${named.join(', ')} has no cards.`)
}

const UNEDITED_STARTER = 'it is the unedited starter card; describe your agent in it, or delete it'

/** Checks whether a file was not even read, such as a link to a folder, so that it may describe any agent. */
export const isUnread = ({ reason }: SkippedFile): boolean => reason !== UNEDITED_STARTER

/** Reads the named files, folders and globs with the defaults of their folders. Invalid files do not affect others. */
export const loadManifests = (
  named: readonly string[],
  origin: string,
  cwd = process.cwd(),
  allowSecrets: readonly Pointer[] = [],
): CardFiles => {
  if (named.includes(CARDS_FOLDER)) rejectLinkOutside(CARDS_FOLDER, cwd)
  // External agents are last: the first agent of an empty host becomes its root agent.
  const isExternal = (each: { file: string }): number => Number(isExternalAgentsName(each.file))
  const files = findFiles(named, cwd).sort((one, other) => isExternal(one) - isExternal(other))
  const skipped: SkippedFile[] = []
  const readInherited = createDefaultsReader(cwd)
  const items = files.flatMap(({ file, root, reason }): (Draft | InvalidFile)[] => {
    const source = reason === undefined ? readFile(file, cwd) : { reason }
    if ('problems' in source) return [{ file, ...source }]
    if ('reason' in source || isUneditedStarter(source.value)) {
      skipped.push({ file, reason: 'reason' in source ? source.reason : UNEDITED_STARTER })
      return []
    }
    const inherited = readInherited(dirname(file), root)
    return 'problems' in inherited ? [{ file, ...inherited }] : readDrafts(source, inherited, { origin, allowSecrets })
  })
  const checked = rejectDuplicates(items)
  return { drafts: checked.filter(isDraft), invalid: checked.filter(item => 'problems' in item), skipped }
}

/** Returns what the files of a folder inherit; `root` is the folder above it, or itself, that was named. */
export const readFolderDefaults = (folder: string, root: string, cwd: string): JsonObject => {
  const found = createDefaultsReader(cwd)(folder, root)
  if ('manifest' in found) return found.manifest
  const problems = found.problems.map(({ file, line, column, message }) => `${file}:${line}:${column} ${message}`)
  throw new UsageError(...problems)
}

type Problems = { problems: Diagnostic[] }

/** Returns a function that reads what the files of a folder inherit; each defaults file only once. */
const createDefaultsReader = (cwd: string) => {
  const byFolder = new Map<string, Defaults | Problems>()
  return (folder: string, root: string): Defaults | Problems => {
    let inherited: Defaults = { manifest: {}, sources: [] }
    for (const each of foldersAbove(folder, root, cwd)) {
      const own = byFolder.get(each) ?? loadDefaults(each, root, cwd)
      byFolder.set(each, own)
      if ('problems' in own) return own
      const manifest = applyDefaults(inherited.manifest, own.manifest)
      inherited = { manifest, sources: [...own.sources, ...inherited.sources] }
    }
    return inherited
  }
}

const loadDefaults = (folder: string, root: string, cwd: string): Defaults | Problems => {
  const file = findDefaults(folder, cwd)
  if (file === undefined) return { manifest: {}, sources: [] }
  const source = leadsOutside(file, root, cwd) ? { reason: LINK_OUTSIDE } : readFile(file, cwd)
  if ('reason' in source) return problemOf(file, { message: `cannot be read: ${source.reason}` })
  return 'problems' in source ? source : readDefaults(source)
}

const problemOf = (file: string, problem: Partial<Diagnostic> & { message: string }): Problems => ({
  problems: [{ file, line: 1, column: 1, pointer: '', ...problem }],
})

/** Returns what only one file may have, its id and its host names, with their places and the beginning of a message. */
const claimsOf = ({ id, manifest: { hosts } }: Draft) => [
  { key: id, pointer: '/id', message: `"${id}" is also the id of` },
  ...(Array.isArray(hosts) ? hosts.map(String) : []).map((name, index) => ({
    ...{ key: `host ${name}`, pointer: `/hosts/${index}`, message: `"${name}" is also a host name of` },
  })),
]

/** Rejects all files that share an id or a host name: a synchronization would register only one of them at a time. */
const rejectDuplicates = (items: readonly (Draft | InvalidFile)[]): (Draft | InvalidFile)[] => {
  const files = new Map<string, Set<string>>()
  for (const draft of items.filter(isDraft))
    for (const { key } of claimsOf(draft)) files.set(key, (files.get(key) ?? new Set()).add(draft.file))
  return items.map(item => {
    if (!isDraft(item)) return item
    const { file, id, sourceMap } = item
    const problems = claimsOf(item).flatMap(({ key, pointer, message }) => {
      const others = [...(files.get(key) ?? [])].filter(each => each !== file).join(', ')
      return others ? [sourceMap.locateError({ pointer, message: `${message} ${others}: change one of them` })] : []
    })
    return problems.length > 0 ? { file, id, problems } : item
  })
}

/** Reads and parses a file. Returns a reason, a clause, if the path is no file to read. */
export const readFile = (file: string, cwd: string): ParsedFile | Problems | { reason: string } => {
  const path = resolve(cwd, file)
  try {
    const stats = statSync(path)
    if (stats.size > MAX_FILE_BYTES)
      return problemOf(file, { message: `is larger than ${MAX_FILE_BYTES / 2 ** 20} MiB` })
    const reason = describeSpecialFile(stats)
    if (reason !== undefined) return { reason }
    const decoded = decodeText(readFileSync(path))
    return typeof decoded === 'string' ? parseFile(file, decoded) : problemOf(file, decoded)
  } catch (error) {
    if (isSystemError(error)) return problemOf(file, { message: `cannot be read: ${error.message}` })
    throw error
  }
}

/** Describes what is no file to read. Opening a FIFO would wait for a writer, so none of these is opened. */
const describeSpecialFile = (stats: Stats): string | undefined => {
  if (stats.isDirectory()) return 'it is a link to a folder; name that folder to read it'
  if (stats.isFIFO()) return 'it is a FIFO'
  if (stats.isSocket()) return 'it is a socket'
  return stats.isCharacterDevice() || stats.isBlockDevice() ? 'it is a device' : undefined
}

/** Byte order marks of other encodings, in hexadecimal. The one of UTF-32 begins with the one of UTF-16. */
const OTHER_MARKS = { fffe0000: 'UTF-32', '0000feff': 'UTF-32', fffe: 'UTF-16', feff: 'UTF-16' }

/** Decodes UTF-8. Any other encoding is refused: a decoder would replace what it cannot read, and publish that. */
const decodeText = (bytes: Buffer): string | (Partial<Diagnostic> & { message: string }) => {
  const start = bytes.subarray(0, 4).toString('hex')
  const [, other] = Object.entries(OTHER_MARKS).find(([mark]) => start.startsWith(mark)) ?? []
  if (other !== undefined) return { message: `is ${other}, not UTF-8: save it as UTF-8` }
  // Some editors write UTF-16 without its mark. No card has a NUL character.
  if (bytes.includes(0)) return { message: 'has NUL characters, as UTF-16 does: save it as UTF-8' }
  const decoded = decodeUtf8(bytes)
  if ('text' in decoded) return decoded.text
  const { line, column, message } = decoded
  return { line, column, message: `is not UTF-8: ${message}; save it as UTF-8` }
}
