import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { matching, Workspace } from './workspace.ts'

const minimal = { name: 'Mine', description: 'Does something useful', url: 'https://mine.example.com' }

describe('sync-card convert', () => {
  it('writes several cards into a folder, and reports the fields that the dialect does not have', async () => {
    const workspace = new Workspace({
      'cards/a.json': { ...minimal, termsOfServiceUrl: 'https://mine.example.com/terms' },
      'cards/b.yaml': `card: ${JSON.stringify(minimal)}`,
      'cards/c.json': '{',
    })
    const { code, stdout, stderr } = await workspace.run(['convert', 'cards', '--to', '1.0', '--out', 'out'])
    for (const id of ['a', 'b'])
      expect(JSON.parse(readFileSync(join(workspace.folder, `out/${id}.json`), 'utf8'))).toMatchObject({ name: 'Mine' })
    expect(stderr).toMatch(/cards\/a\.json: 1\.0 has no field for .*\/termsOfServiceUrl/)
    expect(stderr).toContain('cards/c.json:1:2 error')
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
  })

  it('writes one card to stdout, with the host of --url in the URLs of the gateway', async () => {
    const workspace = new Workspace({ 'mine.json': { card: minimal, route: 'gateway' } })
    const args = ['convert', 'mine.json', '--to', 'gopherhole', '--url', 'https://cards.example.com/']
    const { code, stdout } = await workspace.run(args)
    expect([code, JSON.parse(stdout).url]).toEqual([0, matching(/^https:\/\/cards\.example\.com\/agents\/mine/)])
  })

  it('writes the only card that needs no host to stdout', async () => {
    const fetched = { upstream: { card: 'https://upstream.example.com/agent-card.json' } }
    const workspace = new Workspace({ 'cards/a.json': fetched, 'cards/b.json': minimal })
    const { code, stdout, stderr } = await workspace.run(['convert', 'cards', '--to', '0.3'])
    expect(JSON.parse(stdout)).toMatchObject({ name: 'Mine' })
    expect(stderr).toMatch(/^cards\/a\.json:2:3 error \/upstream /)
    expect(code).toBe(3)
  })

  it('does not take an unexpected error for a folder that cannot be written', async () => {
    const workspace = new Workspace({ 'cards/a.json': minimal })
    const { code, stderr } = await workspace.run(['convert', 'cards', '--to', '0.3', '--out', 'a\0b'])
    expect({ code, stderr }).toEqual({ code: 70, stderr: matching(/^TypeError.* {4}at .*This is a bug/s) })
  })

  it('rejects wrong usage (exit 2)', async () => {
    const workspace = new Workspace({ 'cards/a.json': minimal, 'cards/b.json': minimal })
    const messages = {
      'cards/a.json': /required option/,
      'cards --to 0.3': /name a folder with --out/,
      'cards --to 0.3 --out cards/a.json': /^sync-card: Cannot write cards\/a\.json\/a\.json: EEXIST/,
    }
    for (const [args, message] of Object.entries(messages))
      expect(await workspace.run(['convert', ...args.split(' ')])).toMatchObject({ code: 2, stderr: matching(message) })
  })
})
