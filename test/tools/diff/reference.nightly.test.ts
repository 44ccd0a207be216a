import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { findCommit } from '../../../tools/commits.ts'

const root = join(import.meta.dirname, '../../..')
const reference = readFileSync(join(root, 'tools/diff/reference'), 'utf8').trim()
/** A shallow clone does not have it. */
const isMissing = findCommit(reference) === undefined
if (isMissing) console.warn(`This clone has no commit ${reference}, so calls are not compared with it.`)

it.skipIf(isMissing)(
  'handles calls as the reference commit does',
  () => {
    const seed = String(Math.floor(Math.random() * 2 ** 31))
    const options = ['tools/diff/run.ts', reference, '--count', '10000', '--seed', seed]
    const { status, stdout } = spawnSync(process.execPath, options, { cwd: root, encoding: 'utf8' })
    expect(status, stdout).toBe(0)
  },
  1_800_000,
)
