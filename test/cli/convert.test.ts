import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Workspace } from './workspace.ts'

const minimal = { name: 'Mine', description: 'Does something useful', url: 'https://mine.example.com' }

describe('sync-card convert', () => {
  it('writes one card in another dialect to stdout', async () => {
    const { code, stdout } = await new Workspace({ 'mine.json': minimal }).run(['convert', 'mine.json', '--to', '1.0'])
    expect(JSON.parse(stdout)).toMatchObject({
      name: 'Mine',
      supportedInterfaces: [{ url: minimal.url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    })
    expect(code).toBe(0)
  })

  it('writes many into a folder, and tells what the dialect has no place for', async () => {
    const workspace = new Workspace({
      'cards/a.json': { ...minimal, termsOfServiceUrl: 'https://mine.example.com/terms' },
      'cards/b.yaml': `card: ${JSON.stringify(minimal)}`,
      'cards/c.json': '{',
    })
    const { code, stdout, stderr } = await workspace.run(['convert', 'cards', '--to', '1.0', '--out', 'out'])
    for (const id of ['a', 'b'])
      expect(JSON.parse(readFileSync(join(workspace.folder, `out/${id}.json`), 'utf8'))).toMatchObject({ name: 'Mine' })
    expect(stderr).toMatch(/cards\/a\.json: 1\.0 has no place for .*\/termsOfServiceUrl/)
    expect(stderr).toContain('cards/c.json:1:2 error')
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
  })

  it.each([
    [['cards/a.json', '--to', 'klingon'], /Allowed choices are/],
    [['cards/a.json'], /required option/],
    [['cards', '--to', '0.3'], /name a folder/],
  ])('refuses %j (exit 2)', async (args, message) => {
    const workspace = new Workspace({ 'cards/a.json': minimal, 'cards/b.json': minimal })
    const { code, stderr } = await workspace.run(['convert', ...args])
    expect(stderr).toMatch(message)
    expect(code).toBe(2)
  })
})
