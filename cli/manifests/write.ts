import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, extname, resolve } from 'node:path'
import { stringify } from 'yaml'
import { parseFile } from '../../src/card/file/index.ts'
import { type JsonObject, jsonEquals } from '../../src/json/json.ts'
import { UsageError } from '../exit-codes.ts'
import { isSystemError } from '../failure.ts'

/**
 * Returns the text of a manifest as a file of this name, which editors check with the schema of the host. Returns undefined if
 * the file would be read as another manifest: YAML reads the number in `version: 1.10` as text, for example.
 */
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

/** Creates a file and its folder, or replaces it as a whole. A link is replaced too, so that nothing is written where it leads. */
export const replaceFile = (file: string, text: string, cwd: string): void =>
  attempt(file, () => {
    const path = resolve(cwd, file)
    const temporary = `${path}.${process.pid}.tmp`
    mkdirSync(dirname(path), { recursive: true })
    try {
      writeFileSync(temporary, text, { flag: 'wx' })
      renameSync(temporary, path)
    } finally {
      rmSync(temporary, { force: true })
    }
  })

/** Appends those lines that a file, which may not exist yet, does not have. Returns whether there were any. */
export const addMissingLines = (file: string, lines: readonly string[], cwd: string): boolean =>
  attempt(file, () => {
    const path = resolve(cwd, file)
    const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
    const present = text.split(/\r?\n/).map(line => line.trim())
    const missing = lines.filter(line => !present.includes(line))
    const separator = text === '' || text.endsWith('\n') ? '' : '\n'
    if (missing.length > 0) appendFileSync(path, `${separator}${missing.join('\n')}\n`)
    return missing.length > 0
  })

const attempt = <Result>(file: string, write: () => Result): Result => {
  try {
    return write()
  } catch (error) {
    if (!isSystemError(error)) throw error
    throw new UsageError(`Cannot write ${file}: ${error.message}`)
  }
}
