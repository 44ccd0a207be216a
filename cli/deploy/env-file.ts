import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readEnvText } from '../context.ts'
import { UsageError } from '../exit-codes.ts'
import { isSystemError } from '../failure.ts'
import { replaceFile } from '../manifests/index.ts'

/** Throws unless a file such as `.env` can be written: what is generated for it would be lost. */
export const checkWritable = (folder: string, name: string): void => {
  const file = join(folder, name)
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(
      `${name} is a folder, so a new ADMIN_TOKEN cannot be written there: move it, or set ADMIN_TOKEN.`,
    )
  try {
    // The file is replaced as a whole.
    for (const path of [folder, file]) if (existsSync(path)) accessSync(path, constants.W_OK)
  } catch (error) {
    if (!isSystemError(error)) throw error
    throw new UsageError(`${name} cannot be written, so a new ADMIN_TOKEN would be lost: ${error.message}.`)
  }
}

/**
 * Sets variables in a file such as `.env`, which only its owner can read afterwards. Other lines stay as they are; a variable that is
 * there already, even without a value, is replaced in place.
 */
export const writeEnvFile = (folder: string, name: string, variables: Readonly<Record<string, string>>): void => {
  const before = readEnvText(join(folder, name))
  const after = Object.entries(variables).reduce((text, [variable, value]) => {
    const line = `${variable}=${value}`
    const existing = new RegExp(`^(?:export[ \\t]+)?${variable}[ \\t]*=.*$`, 'gm')
    if (existing.test(text)) return text.replace(existing, () => line)
    return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`
  }, before)
  replaceFile(name, after, folder, 0o600)
}
