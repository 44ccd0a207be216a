import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { readHostConfig } from '../../test/support/global-setup.ts'
import type { HostConfig } from '../../test/support/runtime.ts'
import { buildWorker } from '../build.ts'
import { buildCommit } from '../commits.ts'

/** Builds the Worker of the working tree, and returns its configuration. */
export const configOfWorkingTree = async (): Promise<HostConfig> => {
  const directory = join(import.meta.dirname, '../../node_modules/.cache', `working-tree-${process.pid}`)
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  await buildWorker(directory)
  return { ...readHostConfig(), directory }
}

/** Builds the Worker of a commit, and returns its configuration. */
export const configOfCommit = (commit: string): HostConfig => {
  const directory = buildCommit(commit)
  return { ...readHostConfig(join(directory, 'wrangler.toml')), directory }
}
