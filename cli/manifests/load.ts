import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Diagnostic, InvalidFile } from '../../src/card/file/index.ts'
import type { JsonObject, Pointer } from '../../src/json/index.ts'
import { UsageError } from '../exit-codes.ts'
import { type Draft, isDraft, readDrafts } from './draft.ts'
import { isExternalAgentsName } from './external-agents.ts'
import {
  CARDS_FOLDER,
  CREATE_CARD_HINT,
  findFiles,
  LINK_OUTSIDE,
  leadsOutside,
  rejectLinkOutside,
} from './find-files.ts'
import {
  type CardFolder,
  DEFAULTS_NAMES,
  type Defaults,
  foldersAbove,
  inheritDefaults,
  readDefaults,
} from './folder-defaults.ts'
import { readFile } from './read-file.ts'
import { isUneditedStarter } from './starter.ts'

/** A file that is not sent, and why: a clause such as "it is a FIFO". */
export type SkippedFile = { file: string; reason: string }

/** The owner's files, checked. */
export type LoadedManifests = { drafts: Draft[]; invalid: InvalidFile[]; skipped: SkippedFile[] }

/** Returns the note that a file is skipped. */
export const skippedText = ({ file, reason }: SkippedFile): string => `${file} is skipped: ${reason}.`

/** Throws a UsageError if the named folders have no files. */
export const rejectNoCards = (named: readonly string[], { drafts, invalid, skipped }: LoadedManifests): void => {
  if (drafts.length + invalid.length + skipped.length === 0)
    throw new UsageError(`${named.join(', ')} has no cards. ${CREATE_CARD_HINT}`)
}

const UNEDITED_STARTER = 'it is the unedited starter card; describe your agent in it, or delete it'

/** Whether a file was not even read, such as a link to a folder, so that it may describe any agent. */
export const isUnread = ({ reason }: SkippedFile): boolean => reason !== UNEDITED_STARTER

/**
 * Reads the named files, folders and globs, each file with the defaults of its folders, for the host at `origin`. An invalid file
 * does not affect the others. `allowSecrets` are places that may have what looks like a secret, in any of the files. External agents
 * come last, because the first agent of an empty host becomes its root agent.
 */
export const loadManifests = (
  named: readonly string[],
  origin: string,
  cwd = process.cwd(),
  allowSecrets: readonly Pointer[] = [],
): LoadedManifests => {
  if (named.includes(CARDS_FOLDER)) rejectLinkOutside(CARDS_FOLDER, cwd)
  const files = findFiles(named, cwd)
  const skipped: SkippedFile[] = []
  const defaults = new DefaultsReader(cwd)
  const own = files.filter(({ file }) => !isExternalAgentsName(file))
  const external = files.filter(({ file }) => isExternalAgentsName(file))
  const items = [...own, ...external].flatMap(({ file, root, reason }): (Draft | InvalidFile)[] => {
    const source = reason === undefined ? readFile(file, cwd) : { reason }
    if ('problems' in source) return [{ file, problems: source.problems }]
    if ('reason' in source || isUneditedStarter(source.value)) {
      skipped.push({ file, reason: 'reason' in source ? source.reason : UNEDITED_STARTER })
      return []
    }
    const inherited = defaults.read(dirname(file), root)
    if (inherited && 'problems' in inherited) return [{ file, problems: inherited.problems }]
    return readDrafts(source, inherited, { origin, allowSecrets })
  })
  return { ...rejectDuplicates(items), skipped }
}

/** Returns what the files of a folder inherit; `root` is the folder above it, or itself, that was named. Throws if that is invalid. */
export const readFolderDefaults = ({ folder, root, cwd }: CardFolder): JsonObject => {
  const found = new DefaultsReader(cwd).read(folder, root)
  if (!found || 'manifest' in found) return found?.manifest ?? {}
  const problems = found.problems.map(({ file, line, column, message }) => `${file}:${line}:${column} ${message}`)
  throw new UsageError(...problems)
}

type DefaultsResult = Defaults | { problems: Diagnostic[] }

/** Reads what folders inherit; each defaults file only once. */
class DefaultsReader {
  readonly #cwd: string
  readonly #byFolder = new Map<string, DefaultsResult | undefined>()

  constructor(cwd: string) {
    this.#cwd = cwd
  }

  /** Returns what the files of a folder inherit, from its own defaults and from those above it. */
  read(folder: string, root: string): DefaultsResult | undefined {
    return foldersAbove({ folder, root, cwd: this.#cwd })
      .map(each => this.#readOwn(each, root))
      .filter(found => found !== undefined)
      .reduce<DefaultsResult | undefined>((outer, inner) => {
        if (outer === undefined || 'problems' in outer) return outer ?? inner
        return 'problems' in inner ? inner : inheritDefaults(outer, inner)
      }, undefined)
  }

  #readOwn(folder: string, root: string): DefaultsResult | undefined {
    if (!this.#byFolder.has(folder)) this.#byFolder.set(folder, loadDefaults({ folder, root, cwd: this.#cwd }))
    return this.#byFolder.get(folder)
  }
}

const loadDefaults = ({ folder, root, cwd }: CardFolder): DefaultsResult | undefined => {
  const file = DEFAULTS_NAMES.map(name => join(folder, name)).find(path => existsSync(resolve(cwd, path)))
  if (file === undefined) return undefined
  const source = leadsOutside(file, root, cwd) ? { reason: LINK_OUTSIDE } : readFile(file, cwd)
  if ('reason' in source)
    return { problems: [{ file, line: 1, column: 1, pointer: '', message: `cannot be read: ${source.reason}` }] }
  return 'problems' in source ? source : readDefaults(source)
}

/** Returns what only one file may have, its id and its host names, with their places and the beginning of a message. */
const claimsOf = ({ id, manifest: { hosts } }: Draft) => [
  { key: id, pointer: '/id', message: `"${id}" is also the id of` },
  ...(Array.isArray(hosts) ? hosts.map(String) : []).map((name, index) => ({
    ...{ key: `host ${name}`, pointer: `/hosts/${index}`, message: `"${name}" is also a host name of` },
  })),
]

/** Rejects all files that share an id or a host name: a synchronization would register only one of them at a time. */
const rejectDuplicates = (items: readonly (Draft | InvalidFile)[]): Omit<LoadedManifests, 'skipped'> => {
  const files = new Map<string, Set<string>>()
  const drafts = items.filter(isDraft)
  for (const draft of drafts)
    for (const { key } of claimsOf(draft)) files.set(key, (files.get(key) ?? new Set()).add(draft.file))
  const invalid = new Map<Draft, InvalidFile>()
  for (const draft of drafts) {
    const problems = claimsOf(draft).flatMap(({ key, pointer, message }) => {
      const others = [...(files.get(key) ?? [])].filter(file => file !== draft.file)
      if (others.length === 0) return []
      return [draft.sourceMap.locateError({ pointer, message: `${message} ${others.join(', ')}: change one of them` })]
    })
    if (problems.length > 0) invalid.set(draft, { file: draft.file, id: draft.id, problems })
  }
  return {
    drafts: drafts.filter(draft => !invalid.has(draft)),
    invalid: items.flatMap(item => (isDraft(item) ? (invalid.get(item) ?? []) : [item])),
  }
}
