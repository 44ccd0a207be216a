import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'

/** Environment variables by name. */
export type Environment = Record<string, string | undefined>

/** The variables of the process, and under them those of the folder's `.env`. An empty variable counts as not set. */
export const readEnvironment = (folder = process.cwd()): Environment => {
  const file = join(folder, '.env')
  const written = existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {}
  const own = Object.entries(process.env).filter(([, value]) => value !== undefined && value !== '')
  return { ...written, ...Object.fromEntries(own) }
}
