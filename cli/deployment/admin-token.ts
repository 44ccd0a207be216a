import { randomBytes } from 'node:crypto'
import { appendFileSync, chmodSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { MIN_ADMIN_TOKEN_LENGTH } from '../../src/limits.ts'
import type { Environment } from '../environment.ts'
import { UsageError } from '../usage-error.ts'

/** The token that owns a deployment, and whether it was made just now. */
type AdminToken = { token: string; made: boolean }

/** The admin token of the environment; a first deployment makes a strong one and keeps it in the folder's `.env`. */
export const adminToken = (environment: Environment, folder: string): AdminToken => {
  const { ADMIN_TOKEN: given } = environment
  if (given && given.length < MIN_ADMIN_TOKEN_LENGTH)
    throw new UsageError(
      `ADMIN_TOKEN has fewer than ${MIN_ADMIN_TOKEN_LENGTH} characters, which can be guessed: a host takes none so short. Without it in the environment and .env, a random one is made.`,
    )
  if (given) return { token: given, made: false }
  const token = randomBytes(32).toString('base64url')
  const file = join(folder, '.env')
  const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
  appendFileSync(file, `${before === '' || before.endsWith('\n') ? '' : '\n'}ADMIN_TOKEN=${token}\n`, { mode: 0o600 })
  // The mode above counts for a new file only.
  chmodSync(file, 0o600)
  return { token, made: true }
}
