import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const cache = join(root, 'node_modules/.cache/commits')

const git = (...options: string[]): string =>
  execFileSync('git', options, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()

/** Returns the commit that a git ref names; undefined if this clone does not have it. */
export const findCommit = (ref: string): string | undefined => {
  try {
    return git('rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`)
  } catch {
    return undefined
  }
}

/**
 * Builds the Worker of a commit as that commit does, unless it was built before, with the dependencies of this checkout.
 * Returns the directory of its modules and its `wrangler.toml`.
 */
export const buildCommit = (commit: string): string => {
  const directory = join(cache, commit)
  if (!existsSync(directory)) {
    const checkout = mkdtempSync(join(tmpdir(), 'calling-card-commit-'))
    try {
      git('worktree', 'add', '--detach', '--force', checkout, commit)
      symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'))
      execFileSync(process.execPath, ['tools/build.ts'], { cwd: checkout, stdio: ['ignore', 'ignore', 'inherit'] })
      cpSync(join(checkout, 'wrangler.toml'), join(checkout, 'out/wrangler.toml'))
      mkdirSync(cache, { recursive: true })
      cpSync(join(checkout, 'out'), `${directory}.${process.pid}`, { recursive: true })
      renameSync(`${directory}.${process.pid}`, directory)
    } finally {
      rmSync(join(checkout, 'node_modules'), { force: true })
      git('worktree', 'remove', '--force', checkout)
    }
  }
  return directory
}
