import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { UsageError } from '../exit-codes.ts'
import { isSystemError } from './read-file.ts'

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
