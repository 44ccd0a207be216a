import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeHost, isPut, type Seen } from './fake-host.ts'
import { card, ended, said, Workspace } from './workspace.ts'

let host: FakeHost
beforeEach(async () => {
  host = await new FakeHost().listen()
})
afterEach(() => host.close())

const isDelete = ({ method }: Seen) => method === 'DELETE'

describe('sync-card --watch', () => {
  it('pushes what changes, outlives a bad file, and stops at Ctrl-C', async () => {
    const workspace = new Workspace({ 'cards/a.json': card('a'), 'cards/b.json': card('b') })
    const env = { SYNC_CARD_URL: host.url, SYNC_CARD_TOKEN: host.token }
    const child = workspace.start('sync-card.ts', ['--watch', '--prune', '--yes'], env)
    const end = ended(child)
    await said(child.stderr, 'Watching for changes')
    expect([...host.agents.keys()]).toEqual(['a', 'b'])

    const told = said(child.stdout, 'cards/a.json:1:2 error')
    workspace.write({ 'cards/a.json': '{' })
    await told

    const pushed = host.next(isPut('a'))
    workspace.write({ 'cards/a.json': card('a', { version: '7.0.0' }) })
    expect((await pushed).body).toContain('7.0.0')

    const inherited = host.next(isPut('b'))
    workspace.write({ 'cards/defaults.yaml': 'card: { iconUrl: https://acme.example.com/icon.png }' })
    expect((await inherited).body).toContain('icon.png')

    const gone = host.next(isDelete)
    rmSync(join(workspace.folder, 'cards/b.json'))
    expect((await gone).path).toBe('/agents/b')

    child.kill('SIGINT')
    expect((await end).code).toBe(0)
  })

  it('tells only what is new, and that an agent outlives its file', async () => {
    const workspace = new Workspace({ 'cards/a.json': card('a'), 'cards/b.json': card('b'), 'cards/bad.json': '{' })
    const env = { SYNC_CARD_URL: host.url, SYNC_CARD_TOKEN: host.token }
    const child = workspace.start('sync-card.ts', ['--watch'], env)
    const end = ended(child)
    await said(child.stderr, 'Watching for changes')

    const updated = said(child.stdout, '~ updated   a')
    workspace.write({ 'cards/a.json': card('a', { version: '7.0.0' }) })
    await updated

    const repaired = said(child.stdout, '+ created   bad')
    workspace.write({ 'cards/bad.json': card('bad') })
    await repaired

    const gone = said(child.stderr, 'cards/b.json is gone; b is still registered; --prune removes it.')
    rmSync(join(workspace.folder, 'cards/b.json'))
    await gone

    child.kill('SIGINT')
    const { stdout, stderr } = await end
    expect(stdout.match(/^[=+~✗] .*/gm)).toEqual([
      '+ created   a (cards/a.json) · the root agent',
      '+ created   b (cards/b.json)',
      '✗ invalid   cards/bad.json',
      '~ updated   a (cards/a.json)',
      '+ created   bad (cards/bad.json)',
    ])
    expect(stderr.match(/Watching/g)).toHaveLength(1)
  })
})
