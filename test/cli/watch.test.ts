import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ChangeTracker } from '../../cli/commands/cards/sync.ts'
import type { AgentResult } from '../../cli/sync/index.ts'
import { isPut } from './fake-host.ts'
import { card, useFakeHost, Workspace, waitForText } from './workspace.ts'

const { host } = useFakeHost()

describe('sync-card --watch', () => {
  it('pushes what changes, survives an invalid file, and stops when interrupted', async () => {
    const workspace = new Workspace({
      'cards/a.json': card('a'),
      'cards/b.json': card('b'),
      'cards/defaults.yaml': 'set: mine',
    })
    const env = { SYNC_CARD_URL: host.url, SYNC_CARD_TOKEN: host.token }
    const command = workspace.start(['--watch', '--prune', '--yes'], env)
    await waitForText(command.stderr, 'Watching for changes')
    expect([...host.agents.keys()]).toEqual(['a', 'b'])

    const reported = waitForText(command.stdout, 'cards/a.json:1:2 error')
    workspace.write({ 'cards/a.json': '{' })
    await reported

    const pushed = host.next(isPut('a'))
    workspace.write({ 'cards/a.json': card('a', { version: '7.0.0' }) })
    expect((await pushed).body).toContain('7.0.0')

    const inherited = host.next(isPut('b'))
    workspace.write({ 'cards/defaults.yaml': 'set: mine\ncard: { iconUrl: https://acme.example.com/icon.png }' })
    expect((await inherited).body).toContain('icon.png')

    const inheritedFromAbove = host.next(({ method, body }) => method === 'PUT' && body.includes('from-above'))
    workspace.write({ 'defaults.yaml': 'card: { documentationUrl: https://acme.example.com/from-above }' })
    await inheritedFromAbove

    const inSubfolder = host.next(isPut('c'))
    workspace.write({ 'cards/team/c.json': card('c') })
    await inSubfolder

    const inheritedInSubfolder = host.next(isPut('c'))
    workspace.write({ 'cards/team/defaults.yaml': 'visibility: internal' })
    expect((await inheritedInSubfolder).body).toContain('internal')

    const gone = host.next(({ method }) => method === 'DELETE')
    rmSync(join(workspace.folder, 'cards/b.json'))
    expect((await gone).path).toBe('/agents/b')

    command.interrupt()
    expect((await command.ended).code).toBe(0)
  })
})

describe('ChangeTracker', () => {
  const a: AgentResult = { file: 'a.json', id: 'a', action: 'unchanged' }
  const b: AgentResult = { file: 'b.json', id: 'b', action: 'unchanged' }
  const track = (...runs: AgentResult[][]) => {
    const tracker = new ChangeTracker()
    return runs.map(results => tracker.newResults({ url: '', results, skipped: [] }))
  }

  it('returns what is new in a run', () => {
    const invalid: AgentResult = { ...a, action: 'invalid' }
    const updated: AgentResult = { ...a, action: 'updated' }
    const rows: [first: AgentResult[], second: AgentResult[], expected: AgentResult[]][] = [
      [[a, b], [a, b], []],
      // A push that stays.
      [[updated], [a], []],
      [[a], [a, b], [b]],
      [[a], [updated], [updated]],
      [[updated], [updated], [updated]],
      [[a], [invalid], [invalid]],
      [[invalid], [invalid], []],
      [[invalid], [a], [a]],
    ]
    for (const [first, second, expected] of rows) expect(track(first, second)).toEqual([undefined, expected])
  })

  it('reports the files that are removed, once', () => {
    const removed = (...runs: AgentResult[][]) => {
      const tracker = new ChangeTracker()
      return runs.map(results => tracker.removedFiles(results)).at(-1)
    }
    expect(removed([a, b], [a])).toEqual([{ file: 'b.json', id: 'b' }])
    expect(removed([a, b], [a], [a])).toEqual([])
    // A renamed file, a deleted agent, and a file that was never registered.
    expect(removed([a], [{ ...a, file: 'c.yaml' }])).toEqual([])
    expect(removed([a, b], [a, { id: 'b', action: 'deleted' }])).toEqual([])
    expect(removed([a, { ...b, action: 'refused' }], [a])).toEqual([])
  })
})
