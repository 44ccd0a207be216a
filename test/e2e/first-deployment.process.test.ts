import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { withLocalBin } from '../../cli/deploy/wrangler.ts'

const clone = mkdtempSync(join(tmpdir(), 'calling-card-clone-'))
beforeAll(async () => {
  for (const file of execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' }).split('\0').filter(Boolean))
    if (!/^(?:test|docs)\//.test(file)) cpSync(file, join(clone, file), { recursive: true })
  symlinkSync(join(process.cwd(), 'node_modules'), join(clone, 'node_modules'))
})
afterAll(() => rmSync(clone, { recursive: true }))

it('a copy of the tracked files in an empty folder is what wrangler deploys, without bindings that an account lacks', () => {
  const { status, stdout, stderr } = spawnSync('wrangler', ['deploy', '--dry-run'], {
    cwd: clone,
    encoding: 'utf8',
    env: withLocalBin({ PATH: `${join(clone, 'node_modules/.bin')}:/usr/bin:/bin`, HOME: clone }, clone),
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toContain('env.REGISTRY (Registry)')
  expect(stdout).not.toMatch(/env\.(?:ECHO|TOOLS)\b/)
  expect(readFileSync(join(clone, 'out/index.js')).equals(readFileSync('out/index.js'))).toBe(true)
}, 60_000)
