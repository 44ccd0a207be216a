import { randomBytes } from 'node:crypto'
import { closeSync, lstatSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, extname, resolve } from 'node:path'
import { stringify } from 'yaml'
import { parseFile } from '../../src/card/file/index.ts'
import { type JsonObject, jsonEquals } from '../../src/json/index.ts'
import { isSystemError, UsageError } from '../errors.ts'

/** Returns the text of a manifest as a file of this name; undefined if it would be read as another manifest. */
export const renderManifest = (manifest: JsonObject, file: string, host: string): string | undefined => {
  const text =
    extname(file) === '.json'
      ? `${JSON.stringify(manifest, null, 2)}\n`
      : `# yaml-language-server: $schema=${host}/schema/manifest.json\n\n${stringify(manifest, { lineWidth: 0 })}`
  const parsed = parseFile(file, text)
  return 'value' in parsed && jsonEquals(parsed.value, manifest) ? text : undefined
}

/** Creates a file and its folder. Returns whether it did: what exists, even a link to nothing, stays as it is. */
export const createFile = (file: string, text: string, cwd: string): boolean =>
  attempt(file, () => {
    mkdirSync(dirname(resolve(cwd, file)), { recursive: true })
    try {
      writeFileSync(resolve(cwd, file), text, { flag: 'wx' })
      return true
    } catch (error) {
      if (isSystemError(error) && error.code === 'EEXIST') return false
      throw error
    }
  })

/** Creates a file and its folder, or replaces what has its name, a link included. Without `mode`, it keeps its mode. */
export const replaceFile = (file: string, text: string, cwd: string, mode?: number): void => {
  const part = createPart(file, cwd, mode)
  try {
    part.write(text)
    part.complete()
  } finally {
    part.remove()
  }
}

/** Creates a file and its folder. Only once it is complete, it replaces what has its name, a link included. */
export const createPart = (file: string, cwd: string, mode?: number) => {
  const path = resolve(cwd, file)
  const part = `${path}.${randomBytes(6).toString('hex')}.part`
  const descriptor = attempt(file, () => {
    mkdirSync(dirname(path), { recursive: true })
    return openSync(part, 'wx', mode ?? modeOf(path) ?? 0o666)
  })
  return {
    write: (text: string): void => attempt(file, () => writeFileSync(descriptor, text)),
    complete: (): void => attempt(file, () => renameSync(part, path)),
    remove: (): void => {
      closeSync(descriptor)
      rmSync(part, { force: true })
    },
  }
}

/** Returns the permissions of a file, but not of one that a link leads to. */
const modeOf = (path: string): number | undefined => {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats?.isFile() ? stats.mode & 0o777 : undefined
}

/** Appends the lines that a file does not have. Returns whether there were any. A link, as for Git, has no content. */
export const addMissingLines = (file: string, lines: readonly string[], cwd: string): boolean => {
  const path = resolve(cwd, file)
  const text = attempt(file, () => (modeOf(path) === undefined ? '' : readFileSync(path, 'utf8')))
  const present = text.split(/\r?\n/).map(line => line.trim())
  const missing = lines.filter(line => !present.includes(line))
  const separator = text === '' || text.endsWith('\n') ? '' : '\n'
  if (missing.length > 0) replaceFile(file, `${text}${separator}${missing.join('\n')}\n`, cwd)
  return missing.length > 0
}

const attempt = <Result>(file: string, write: () => Result): Result => {
  try {
    return write()
  } catch (error) {
    if (!isSystemError(error)) throw error
    throw new UsageError(`Cannot write ${file}: ${error.message}`)
  }
}
