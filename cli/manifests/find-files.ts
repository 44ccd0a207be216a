import { type Dirent, existsSync, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, extname, join, relative, resolve, sep } from 'node:path'
import picomatch from 'picomatch'
import { CARD_EXTENSIONS } from '../../src/card/file/index.ts'
import { foldersOfRepository } from '../context.ts'
import { didYouMean } from '../did-you-mean.ts'
import { isSystemError, UsageError } from '../errors.ts'
import { DEFAULTS_NAMES, foldersAbove, isIn } from './folder-defaults.ts'

/** The folder that is read if no file is named. */
export const CARDS_FOLDER = 'cards'

/** Returns the error that there are no cards, which advises what to do. */
export const noCards = (problem: string) => new UsageError(`${problem} Create one: npx sync-card init`)

/** A file, the named folder or start of a glob that has it, and why it is not read unless it is named itself. */
type FoundFile = { file: string; root: string; reason?: string }

/** Returns the named files, and those of the named folders and globs, relative to `cwd`, without defaults files. */
export const findFiles = (named: readonly string[], cwd: string): FoundFile[] => {
  const paths = new Set<string>()
  return named
    .flatMap(path => findNamed(path, cwd))
    .filter(({ file }) => {
      if (DEFAULTS_NAMES.includes(basename(file))) return false
      // A folder and one of its files may both be named.
      const { size } = paths
      return paths.add(resolve(cwd, file)).size > size
    })
}

const findNamed = (path: string, cwd: string): FoundFile[] => {
  const target = readTarget(path, cwd)
  if (target === 'file') return [{ file: path, root: dirname(path) }]
  if (target === 'missing') {
    if (path === CARDS_FOLDER) throw noCards(`There is no folder ${CARDS_FOLDER} here.`)
    const folder = dirname(path)
    const names = isFolder(folder, cwd) ? readFolder(folder, cwd).map(({ name }) => join(folder, name)) : []
    throw new UsageError(`${path} does not exist.${didYouMean(join(path), names)}`)
  }
  const { root, matches } = target
  const files = (isFolder(root, cwd) ? filesIn(root, cwd) : []).filter(file => matches?.(relative(root, file)) ?? true)
  if (matches && files.length === 0) throw new UsageError(`No card matches ${path}.`)
  return files.map(file => ({
    ...{ file, root },
    ...(leadsOutside(file, root, cwd) && { reason: `${LINK_OUTSIDE}; name it to read it` }),
  }))
}

/** Describes a file that is not read: a repository of somebody else could publish a file of the user. */
export const LINK_OUTSIDE = 'it is a link to a file outside of the repository'

/** Checks whether a file is a link out of the repository and of the folder that was named. */
export const leadsOutside = (file: string, root: string, cwd: string): boolean => {
  const path = resolve(cwd, file)
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return false
  return ![repositoryOf(cwd), resolve(cwd, root)].some(folder => isIn(realPath(path), realPath(folder)))
}

/** Throws if a folder in the repository leads out of it, through a link that somebody else may have made. */
export const rejectLinkOutside = (folder: string, cwd: string): void => {
  const path = resolve(cwd, folder)
  const target = realPath(path)
  const repository = repositoryOf(cwd)
  if (isIn(path, repository) && !isIn(target, realPath(repository)))
    throw new UsageError(
      `${folder} leads to ${target}, outside of the repository. If these are your cards, name that folder.`,
    )
}

/** Outside of a repository, the current folder counts as one. */
const repositoryOf = (cwd: string): string => foldersOfRepository(cwd).at(-1) ?? cwd

/** Follows all links. The end of the path need not exist. */
const realPath = (path: string): string =>
  existsSync(path) ? realpathSync(path) : join(realPath(dirname(path)), basename(path))

/** Returns the same files as `findFiles`, by default those of the cards folder. */
export const findCardFiles = (named: readonly string[], cwd = process.cwd()): string[] =>
  findFiles(defaultToCardsFolder(named), cwd).map(({ file }) => file)

/** Returns the named files and folders, or the cards folder if there are none. */
export const defaultToCardsFolder = (named: readonly string[]): readonly string[] =>
  named.length > 0 ? named : [CARDS_FOLDER]

/** Checks whether a path is an existing folder. */
export const isFolder = (path: string, cwd: string): boolean =>
  existsSync(resolve(cwd, path)) && statSync(resolve(cwd, path), { throwIfNoEntry: false })?.isDirectory() === true

type Target = 'file' | 'missing' | { root: string; matches?: (file: string) => boolean }

/** Returns what a path of the command line names. An existing path is no glob, whatever characters it has. */
const readTarget = (path: string, cwd: string): Target => {
  if (isFolder(path, cwd)) return { root: path }
  if (existsSync(resolve(cwd, path))) return 'file'
  const { base, glob, isGlob } = picomatch.scan(sep === '\\' ? path.replaceAll('\\', '/') : path)
  if (!isGlob) return 'missing'
  const matchesPath = picomatch(glob)
  // A glob also matches what is in a folder that it matches.
  const matches = (file: string): boolean =>
    file.split(sep).some((_, index, names) => matchesPath(names.slice(0, index + 1).join('/')))
  return { root: base || '.', matches }
}

/** Returns the files of a folder, then those of its subfolders. A link to a folder is returned as if it were a file. */
const filesIn = (folder: string, cwd: string): string[] => {
  const entries = readFolder(folder, cwd).filter(({ name }) => !isHidden(name))
  const pathsOf = (found: readonly Dirent[]): string[] => found.map(({ name }) => join(folder, name)).sort()
  const isFile = (entry: Dirent): boolean =>
    (!entry.isDirectory() && isCardFileName(entry.name)) ||
    (entry.isSymbolicLink() && isFolder(entry.name, resolve(cwd, folder)))
  const subfolders = pathsOf(entries.filter(entry => entry.isDirectory()))
  return [...pathsOf(entries.filter(isFile)), ...subfolders.flatMap(subfolder => filesIn(subfolder, cwd))]
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

/** Checks whether a file of a folder is read as a card, by its name. Defaults files are not. */
export const isCardFileName = (name: string): boolean =>
  !/^README\b/i.test(name) && CARD_EXTENSIONS.includes(extname(name).toLowerCase())

/**
 * Returns where `--watch` waits for changes of what is named, and of the defaults that it inherits: absolute paths, and
 * which paths in them to ignore. All are folders, because a watcher is ready too early if a file does not exist yet.
 */
export const pathsToWatch = (named: readonly string[], cwd: string) => {
  const roots: string[] = []
  const folders = defaultToCardsFolder(named).flatMap(path => {
    const target = readTarget(path, cwd)
    const folder = typeof target === 'object' ? target.root : dirname(path)
    if (typeof target === 'object') roots.push(resolve(cwd, folder))
    return foldersAbove(folder, folder, cwd).map(each => resolve(cwd, each))
  })
  const files = new Set([
    ...named.map(path => resolve(cwd, path)),
    ...folders.flatMap(folder => DEFAULTS_NAMES.map(name => join(folder, name))),
  ])
  const paths = [...new Set([...roots, ...folders])]
  const isIgnored = (path: string): boolean => {
    const resolved = resolve(cwd, path)
    return !files.has(resolved) && !paths.includes(resolved) && !roots.some(root => isWatchedIn(root, resolved))
  }
  return { paths, isIgnored }
}

const isWatchedIn = (root: string, path: string): boolean => {
  if (!isIn(path, root) || relative(root, path).split(sep).some(isHidden)) return false
  return !(lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() && isFolder(path, root))
}
