import { type Dirent, existsSync, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, extname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import picomatch from 'picomatch'
import { CARD_EXTENSIONS } from '../../src/card/file/index.ts'
import { foldersOfRepository } from '../context.ts'
import { didYouMean } from '../did-you-mean.ts'
import { UsageError } from '../exit-codes.ts'
import { isSystemError } from '../failure.ts'
import { DEFAULTS_NAMES, foldersAbove } from './folder-defaults.ts'

/** The folder that is read if no file is named. */
export const CARDS_FOLDER = 'cards'

/** What to do if there are no cards. */
export const CREATE_CARD_HINT = 'Create one: npx sync-card init'

/**
 * A file, and the folder in which it was found: the one that was named, or where a glob begins. `reason` is why it is
 * not read, if nobody has named the file itself.
 */
export type FoundFile = { file: string; root: string; reason?: string }

/** Returns the named files, and those of the named folders and globs, relative to `cwd`. Defaults files are no cards. */
export const findFiles = (named: readonly string[], cwd: string): FoundFile[] => {
  const found = named.flatMap(path => {
    const target = readTarget(path, cwd)
    if (target.kind === 'file') return [{ file: path, root: dirname(path) }]
    if (target.kind === 'missing')
      throw new UsageError(
        path === CARDS_FOLDER
          ? `There is no folder ${CARDS_FOLDER} here. ${CREATE_CARD_HINT}`
          : `${path} does not exist.${suggestPath(path, cwd)}`,
      )
    const files = (isFolder(target.root, cwd) ? filesIn(target.root, cwd) : []).filter(file =>
      target.matches(relative(target.root, file)),
    )
    if (target.kind === 'glob' && files.length === 0) throw new UsageError(`No card matches ${path}.`)
    return files.map(file => ({
      ...{ file, root: target.root },
      ...(leadsOutside(file, target.root, cwd) && { reason: `${LINK_OUTSIDE}; name it to read it` }),
    }))
  })
  const cards = found.filter(({ file }) => !DEFAULTS_NAMES.includes(basename(file)))
  // A folder and one of its files may both be named.
  const paths = new Set<string>()
  return cards.filter(({ file }) => {
    const isNew = !paths.has(resolve(cwd, file))
    paths.add(resolve(cwd, file))
    return isNew
  })
}

/** Why a file is not read: a repository of somebody else could publish a file of the user. */
export const LINK_OUTSIDE = 'it is a link to a file outside of the repository'

/** Whether a file is a link out of the repository and of the folder that was named. */
export const leadsOutside = (file: string, root: string, cwd: string): boolean => {
  const path = resolve(cwd, file)
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return false
  return ![repositoryOf(cwd), resolve(cwd, root)].some(folder => isIn(realPath(path), realPath(folder)))
}

/** Throws if a folder in the repository leads out of it, through a link that somebody else may have made. */
export const rejectLinkOutside = (folder: string, cwd: string): void => {
  const path = resolve(cwd, folder)
  const repository = repositoryOf(cwd)
  if (!isIn(path, repository) || isIn(realPath(path), realPath(repository))) return
  throw new UsageError(
    `${folder} leads to ${realPath(path)}, outside of the repository. If these are your cards, name that folder.`,
  )
}

/** Outside of a repository, the current folder counts as one. */
const repositoryOf = (cwd: string): string => foldersOfRepository(cwd).at(-1) ?? cwd

const isIn = (path: string, folder: string): boolean => {
  const way = relative(folder, path)
  return !isAbsolute(way) && way.split(sep)[0] !== '..'
}

/** Follows all links. The end of the path need not exist. */
const realPath = (path: string): string =>
  existsSync(path) ? realpathSync(path) : join(realPath(dirname(path)), basename(path))

const suggestPath = (path: string, cwd: string): string => {
  const folder = dirname(path)
  const names = isFolder(folder, cwd) ? readFolder(folder, cwd).map(({ name }) => join(folder, name)) : []
  return didYouMean(join(path), names)
}

/** Returns the same files as `findFiles`, by default those of the cards folder. */
export const findCardFiles = (named: readonly string[], cwd = process.cwd()): string[] =>
  findFiles(defaultToCardsFolder(named), cwd).map(({ file }) => file)

/** Returns what is named, or the cards folder if nothing is. */
export const defaultToCardsFolder = (named: readonly string[]): readonly string[] =>
  named.length > 0 ? named : [CARDS_FOLDER]

/** Whether a path is an existing folder. */
export const isFolder = (path: string, cwd: string): boolean =>
  existsSync(resolve(cwd, path)) && statSync(resolve(cwd, path), { throwIfNoEntry: false })?.isDirectory() === true

type Target =
  | { kind: 'file' }
  | { kind: 'missing' }
  | { kind: 'folder' | 'glob'; root: string; matches: (file: string) => boolean }

/** Returns what a path of the command line names. An existing path is no glob, whatever characters it has. */
const readTarget = (path: string, cwd: string): Target => {
  if (isFolder(path, cwd)) return { kind: 'folder', root: path, matches: () => true }
  if (existsSync(resolve(cwd, path))) return { kind: 'file' }
  const pattern = sep === '\\' ? path.replaceAll('\\', '/') : path
  const { base, glob, isGlob } = picomatch.scan(pattern)
  return isGlob ? { kind: 'glob', root: base || '.', matches: matchFileOrFolder(glob) } : { kind: 'missing' }
}

/** Matches a path that a glob matches, or that is in a folder that it matches. */
const matchFileOrFolder = (glob: string): ((file: string) => boolean) => {
  const matches = picomatch(glob)
  return file => {
    const names = file.split(sep)
    return names.some((_, index) => matches(names.slice(0, index + 1).join('/')))
  }
}

/** Returns the files of a folder, then those of its subfolders. A link to a folder is returned as if it were a file. */
const filesIn = (folder: string, cwd: string): string[] => {
  const entries = readFolder(folder, cwd).filter(({ name }) => !isHidden(name))
  const files = entries.filter(entry => isCardFile(entry) || isLinkToFolder(entry, resolve(cwd, folder)))
  return [
    ...files.map(({ name }) => join(folder, name)).sort(),
    ...entries
      .filter(entry => entry.isDirectory())
      .map(({ name }) => join(folder, name))
      .sort()
      .flatMap(subfolder => filesIn(subfolder, cwd)),
  ]
}

const readFolder = (folder: string, cwd: string): Dirent[] => {
  try {
    return readdirSync(resolve(cwd, folder), { withFileTypes: true })
  } catch (error) {
    if (isSystemError(error)) throw new UsageError(`The folder ${folder} cannot be read: ${error.message}`)
    throw error
  }
}

const isHidden = (name: string): boolean => name.startsWith('.') || name === 'node_modules'

const isCardFile = (entry: Dirent): boolean => !entry.isDirectory() && isCardFileName(entry.name)

/** Whether a file of a folder is read as a card, by its name. Defaults files are not. */
export const isCardFileName = (name: string): boolean =>
  !/^README\b/i.test(name) && CARD_EXTENSIONS.includes(extname(name).toLowerCase())

const isLinkToFolder = (entry: Dirent, parent: string): boolean =>
  entry.isSymbolicLink() && isFolder(entry.name, parent)

/** What `--watch` follows: absolute paths, and which paths in them to ignore. */
export type WatchedPaths = { paths: string[]; isIgnored: (path: string) => boolean }

/**
 * Returns where to wait for changes of the named files, folders and globs, and of the defaults that they inherit. All paths are
 * folders, because a watcher is ready too early if a file does not exist yet.
 */
export const pathsToWatch = (named: readonly string[], cwd: string): WatchedPaths => {
  const targets = defaultToCardsFolder(named).map(path => readTarget(path, cwd))
  const roots = targets.flatMap(target => ('root' in target ? [resolve(cwd, target.root)] : []))
  const folders = targets.flatMap((target, index) => {
    const folder = 'root' in target ? target.root : dirname(named[index] ?? CARDS_FOLDER)
    return foldersAbove({ folder, root: folder, cwd }).map(each => resolve(cwd, each))
  })
  const files = new Set([
    ...named.map(path => resolve(cwd, path)),
    ...folders.flatMap(folder => DEFAULTS_NAMES.map(name => join(folder, name))),
  ])
  const paths = [...new Set([...roots, ...folders])]
  return {
    paths,
    isIgnored: path => {
      const resolved = resolve(cwd, path)
      return !files.has(resolved) && !paths.includes(resolved) && !roots.some(root => isWatchedIn(root, resolved))
    },
  }
}

/** Whether a path in a folder may be a card, or a folder of cards. */
const isWatchedIn = (root: string, path: string): boolean => {
  if (!isIn(path, root) || relative(root, path).split(sep).some(isHidden)) return false
  return !(lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() && isFolder(path, root))
}
