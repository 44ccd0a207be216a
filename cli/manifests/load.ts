import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { UsageError } from '../exit-codes.ts'
import { type Draft, isDraft, readDrafts } from './draft.ts'
import { isExternalAgentsName } from './external-agents.ts'
import { DEFAULTS_NAMES, type Defaults, readDefaults } from './folder-defaults.ts'
import { CARD_EXTENSIONS } from './parse-file.ts'
import { readFile } from './read-file.ts'
import type { Diagnostic, InvalidFile } from './source-map.ts'

/** The folder that is read if no file is named. */
export const CARDS_FOLDER = 'cards'

/** What to do if there are no cards. */
export const CREATE_CARD_HINT = `Create one: ${CARDS_FOLDER}/my-agent.json with a name, a description and a url is enough.`

/** A file that is not read, and why: a sentence without its subject, such as "is a FIFO". */
export type SkippedFile = { file: string; reason: string }

/** The owner's files, checked. */
export type LoadedManifests = { drafts: Draft[]; invalid: InvalidFile[]; skipped: SkippedFile[] }

/** Returns the named files and the files of the named folders, relative to `cwd`. Defaults files are no cards. */
export const findCardFiles = (named: readonly string[], cwd = process.cwd()): string[] => {
  const files = (named.length > 0 ? named : [CARDS_FOLDER]).flatMap(path => {
    if (!existsSync(resolve(cwd, path)))
      throw new UsageError(
        named.length > 0 ? `${path} does not exist.` : `There is no folder ${CARDS_FOLDER} here. ${CREATE_CARD_HINT}`,
      )
    return isFolder(path, cwd) ? filesIn(path, cwd) : [path]
  })
  return [...new Set(files)].filter(file => !DEFAULTS_NAMES.includes(basename(file)))
}

/** Whether a path is an existing folder. */
export const isFolder = (path: string, cwd: string): boolean =>
  statSync(resolve(cwd, path), { throwIfNoEntry: false })?.isDirectory() === true

const filesIn = (folder: string, cwd: string): string[] =>
  readdirSync(resolve(cwd, folder), { withFileTypes: true })
    .filter(entry => !entry.isDirectory())
    .map(({ name }) => name)
    .filter(name => !/^(?:\.|README\b)/i.test(name) && CARD_EXTENSIONS.includes(extname(name).toLowerCase()))
    .map(name => join(folder, name))
    .sort()

/**
 * Reads files, each with the defaults of its folder, for the host at `origin`. An invalid file does not affect the
 * others. External agents come last, because the first agent of an empty host becomes its root agent.
 */
export const loadManifests = (named: readonly string[], origin: string, cwd = process.cwd()): LoadedManifests => {
  const skipped: SkippedFile[] = []
  const defaultsByFolder = new Map<string, Defaults | { problems: Diagnostic[] } | undefined>()
  const own = named.filter(file => !isExternalAgentsName(file))
  const items = [...own, ...named.filter(isExternalAgentsName)].flatMap((file): (Draft | InvalidFile)[] => {
    const folder = dirname(file)
    if (!defaultsByFolder.has(folder)) defaultsByFolder.set(folder, loadDefaults(folder, cwd))
    const source = readFile(file, cwd)
    if ('reason' in source) {
      skipped.push({ file, ...source })
      return []
    }
    if ('problems' in source) return [{ file, problems: source.problems }]
    const defaults = defaultsByFolder.get(folder)
    if (defaults && 'problems' in defaults) return [{ file, problems: defaults.problems }]
    return readDrafts(source, defaults, origin)
  })
  return { ...rejectDuplicates(items), skipped }
}

/** Returns the note that a file is skipped. */
export const skippedText = ({ file, reason }: SkippedFile): string => `${file} ${reason}: skipped.`

const loadDefaults = (folder: string, cwd: string): Defaults | { problems: Diagnostic[] } | undefined => {
  const file = DEFAULTS_NAMES.map(name => join(folder, name)).find(path => existsSync(resolve(cwd, path)))
  if (file === undefined) return undefined
  const source = readFile(file, cwd)
  if ('reason' in source)
    return { problems: [{ file, line: 1, column: 1, pointer: '', message: `${source.reason}, and cannot be read` }] }
  return 'problems' in source ? source : readDefaults(source)
}

/** Rejects all files that share an id: each synchronisation would overwrite one with the other. */
const rejectDuplicates = (items: readonly (Draft | InvalidFile)[]): Omit<LoadedManifests, 'skipped'> => {
  const drafts = items.filter(isDraft)
  const duplicatesOf = (draft: Draft): Draft[] => drafts.filter(other => other !== draft && other.id === draft.id)
  return {
    drafts: drafts.filter(draft => duplicatesOf(draft).length === 0),
    invalid: items.flatMap(item => {
      if (!isDraft(item)) return [item]
      const others = duplicatesOf(item).map(other => other.file)
      if (others.length === 0) return []
      const message = `"${item.id}" is also the id of ${others.join(', ')}`
      return [{ file: item.file, id: item.id, problems: [item.sourceMap.locateError({ pointer: '/id', message })] }]
    }),
  }
}
