/**
 * Writes what files repeat of the code: `npm run docs`. With `--check`, lists the files that would change, and fails if
 * there are any.
 */

import './workers.ts'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { read, root } from './page.ts'

// Loaded after `workers.ts` has run, because they import files of the Worker.
const { routes } = await import('../../src/app.ts')
const { ENDPOINTS_FILE, renderClient } = await import('./client.ts')
const { writeReference } = await import('./reference.ts')
const { updates } = await import('./variables.ts')

/** Returns the files that are not up to date, with the texts that they should have. */
export const findStaleFiles = async (): Promise<[file: string, text: string][]> => {
  const written: [file: string, text: string][] = [
    ...Object.entries(updates).map(([file, update]): [string, string] => [file, update(read(file))]),
    [ENDPOINTS_FILE, await renderClient(routes)],
    ...Object.entries(await writeReference(routes)),
  ]
  return written.filter(([file, text]) => !existsSync(join(root, file)) || read(file) !== text)
}

if (process.argv[1] === import.meta.filename) {
  const stale = await findStaleFiles()
  const isCheck = process.argv.includes('--check')
  for (const [file, text] of stale) {
    console.log(isCheck ? `${file} is not up to date: npm run docs` : `${file} is updated.`)
    if (isCheck) continue
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
  }
  if (isCheck && stale.length > 0) process.exitCode = 1
}
