import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type AgentResult, ChangeTracker } from '../../cli/sync/index.ts'
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

  it('reports only what is new, and that an agent is still registered after its file is gone', async () => {
    const workspace = new Workspace({ 'cards/a.json': card('a'), 'cards/b.json': card('b'), 'cards/bad.json': '{' })
    const env = { SYNC_CARD_URL: host.url, SYNC_CARD_TOKEN: host.token }
    const command = workspace.start(['--watch'], env)
    await waitForText(command.stderr, 'Watching for changes')

    const updated = waitForText(command.stdout, '~ updated   a')
    workspace.write({ 'cards/a.json': card('a', { version: '7.0.0' }) })
    await updated

    const repaired = waitForText(command.stdout, '+ created   bad')
    workspace.write({ 'cards/bad.json': card('bad') })
    await repaired

    const gone = waitForText(command.stderr, 'cards/b.json is gone; b is still registered; --prune removes it.')
    rmSync(join(workspace.folder, 'cards/b.json'))
    await gone

    command.interrupt()
    const { stdout, stderr } = await command.ended
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

describe('ChangeTracker', () => {
  const a: AgentResult = { file: 'a.json', id: 'a', action: 'unchanged' }
  const b: AgentResult = { file: 'b.json', id: 'b', action: 'unchanged' }
  const track = (...runs: AgentResult[][]) => {
    const tracker = new ChangeTracker()
    return runs.map(results => tracker.newResults({ url: '', results, skipped: [] }))
  }

  it.each<[string, AgentResult[], AgentResult[], AgentResult[]]>([
    ['nothing after an unchanged result', [a, b], [a, b], []],
    ['nothing after a push that stays', [{ ...a, action: 'updated' }], [a], []],
    ['a new file', [a], [a, b], [b]],
    ['a push', [a], [{ ...a, action: 'updated' }], [{ ...a, action: 'updated' }]],
    ['each push', [{ ...a, action: 'updated' }], [{ ...a, action: 'updated' }], [{ ...a, action: 'updated' }]],
    ['a file that became invalid', [a], [{ ...a, action: 'invalid' }], [{ ...a, action: 'invalid' }]],
    ['nothing for a file that stays invalid', [{ ...a, action: 'invalid' }], [{ ...a, action: 'invalid' }], []],
    ['a file that was repaired', [{ ...a, action: 'invalid' }], [a], [a]],
  ])('returns %s', (_, first, second, expected) => {
    expect(track(first, second)).toEqual([first, expected])
  })

  it.each<[string, AgentResult[][], { file: string; id: string }[]]>([
    ['a removed file', [[a, b], [a]], [{ file: 'b.json', id: 'b' }]],
    ['nothing the second time', [[a, b], [a], [a]], []],
    ['nothing for a renamed file', [[a], [{ ...a, file: 'c.yaml' }]], []],
    [
      'nothing for a deleted agent',
      [
        [a, b],
        [a, { id: 'b', action: 'deleted' }],
      ],
      [],
    ],
    ['nothing for a file that was never registered', [[a, { ...b, action: 'refused' }], [a]], []],
  ])('reports as removed %s', (_, runs, expected) => {
    const tracker = new ChangeTracker()
    expect(runs.map(results => tracker.removedFiles(results)).at(-1)).toEqual(expected)
  })
})
