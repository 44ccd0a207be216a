import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { run as runCommand } from '../../cli/cli.ts'
import { isPut, problem, times } from './fake-host.ts'
import { card, containing, matching, useFakeHost, Workspace } from './workspace.ts'

const { host, env, renew, run } = useFakeHost()

/** The files of one agent. */
const a = { 'cards/a.json': card('a') }

/** The body and headers of a registration. */
const findPut = (id: string) => host.seen.find(isPut(id))

describe('sync-card', () => {
  it('creates new agents, updates changed ones and leaves the others, from files of every kind', async () => {
    host.register('same', { card: card('same') })
    host.register('other', { card: card('other', { version: '1.0.0' }) })
    const workspace = new Workspace({
      'cards/same.json': card('same'),
      'cards/other.yaml': `card: ${JSON.stringify(card('other', { version: '2.0.0' }))}`,
      'cards/new.md': '---\nname: New\ndescription: A new agent\nmodel: gpt-4\nexposed: true\n---\nYou are new.\n',
      'cards/defaults.yaml': 'upstream: { url: https://acme.example.com/a2a }',
      'cards/notes.txt': 'not a card',
      'cards/README.md': '# not a card',
    })
    const { code, stdout } = await run(workspace, '')
    expect(stdout).toMatch(/"1\.0\.0" → "2\.0\.0"/)
    expect(stdout).toContain('+ created   new')
    expect(stdout).not.toContain('= unchanged')
    expect(stdout).toMatch(/: 1 created, 1 updated, 1 unchanged\n$/)
    expect(code).toBe(0)
    expect(host.writes.sort()).toEqual(['PUT /agents/new', 'PUT /agents/other'])
    const create = findPut('new')
    expect(create?.headers).toMatchObject({ 'if-none-match': '*', authorization: `Bearer ${host.token}` })
    expect(JSON.parse(create?.body ?? '')).toEqual({
      visibility: 'public',
      card: {
        protocolVersion: '0.3.0',
        capabilities: { streaming: true, pushNotifications: true },
        name: 'New',
        description: 'A new agent',
      },
      upstream: { url: 'https://acme.example.com/a2a' },
    })
    expect(findPut('other')?.headers['if-match']).toMatch(/^"/)
  })

  it('sends unchanged files with --refresh, of which the host may make another card', async () => {
    for (const [upgraded, line] of [
      [true, '~ updated   same'],
      [false, ': 1 unchanged'],
    ] as const) {
      renew()
      host.upgraded = upgraded
      host.register('same', { card: card('same') })
      const ended = await run({ 'cards/same.json': card('same') }, '--refresh')
      expect(ended).toMatchObject({ code: 0, writes: ['PUT /agents/same'], stdout: containing(line) })
    }
  })

  it('does not send a card in which the linter finds an error unless --force is given', async () => {
    const more = { url: 'https://a.example.com/agent.json' }
    host.register('changed', { card: card('changed') })
    host.register('same', { card: card('same', more) })
    const bad = ['changed', 'new', 'same'].map(id => [`cards/${id}.json`, card(id, more)])
    const workspace = new Workspace({ 'cards/fine.json': card('fine'), ...Object.fromEntries(bad) })
    const advice = 'correct the errors below, or push it as it is with --force'
    const { code, stdout } = await run(workspace, '')
    expect(stdout).toContain(`✗ not sent  changed (cards/changed.json) · ${advice}\n    cards/changed.json:`)
    expect(stdout.split('[endpoint-is-card]')).toHaveLength(4)
    expect(stdout).toMatch(/: 1 created, 1 unchanged, 2 not sent\n$/)
    expect([code, host.writes]).toEqual([3, ['PUT /agents/fine']])
    expect((await run(workspace, '--dry-run')).stdout).toMatch(/: 2 unchanged, 2 not sent\n$/)
    const stdoutOfForce = matching(/: 1 created, 1 updated, 2 unchanged\n$/)
    expect(await run(workspace, '--force')).toMatchObject({ code: 0, stdout: stdoutOfForce })
  })

  it('sends a card with a private address to a host on this machine only', async () => {
    const workspace = new Workspace({ 'cards/near.json': card('near', { url: 'http://localhost:9000' }) })
    const { code, stdout } = await run(workspace, '')
    expect([code, host.writes]).toEqual([0, ['PUT /agents/near']])
    expect(stdout).toContain('[private-url]')
    const fetch: typeof globalThis.fetch = (url, init) => globalThis.fetch(String(url).replace(far, host.url), init)
    const far = 'https://cards.example.com'
    const { io, output } = workspace.io({ ...env, SYNC_CARD_URL: far })
    host.agents.clear()
    expect(await runCommand([], { ...io, fetch })).toBe(3)
    expect(output().stdout).toMatch(/✗ not sent {2}near .*\n.*\[private-url\]\n.*: 1 not sent\n$/)
  })

  it('reports a card that is stored but not at the edge yet', async () => {
    host.publishes = false
    const workspace = new Workspace({ 'cards/late.json': card('late') })
    const stdout = matching(/created {3}late .*stored, but not at the edge yet; the host keeps retrying/)
    expect(await run(workspace, '')).toMatchObject({ code: 0, stdout })
    host.register('late', { card: card('late', { version: '0.0.1' }) })
    const { stdout: json } = await run(workspace, '--json')
    expect(JSON.parse(json)).toMatchObject({ agents: [{ id: 'late', action: 'updated', published: false }] })
  })

  it('prints one object and nothing else on stdout with --json', async () => {
    host.register('a', { card: card('a', { version: '1.0.0' }) })
    const files = { 'cards/a.json': card('a', { version: '2.0.0' }), 'cards/0.json': '{' }
    const { code, stdout } = await run(files, `--json --url ${host.url} --token ${host.token}`, { env: {} })
    const patch = [{ op: 'replace', path: '/card/version', value: '2.0.0' }]
    expect([code, JSON.parse(stdout)]).toMatchObject([
      3,
      {
        ...{ url: host.url, exitCode: 3 },
        agents: [
          { file: 'cards/0.json', action: 'invalid', problems: [{ line: 1, column: 2 }] },
          { id: 'a', action: 'updated', patch },
        ],
      },
    ])
  })

  it('identifies skills by their id: one inserted at the top changes no other', async () => {
    const skills = [{ id: 'old', name: 'Old', description: 'Answers old questions', tags: ['old'] }]
    const added = { id: 'new', name: 'New', description: 'Answers new questions', tags: ['new'] }
    host.register('a', { card: card('a', { skills }) })
    const { stdout } = await run({ 'cards/a.json': card('a', { skills: [added, ...skills] }) }, '--dry-run')
    expect(stdout).toMatch(/^a \(cards\/a\.json\)\n {2}\+ \/card\/skills\/0 \{"id":"new",.*\}\n~ to update a /)
  })

  it('reports an error about a missing field at its nearest ancestor', async () => {
    const errors = [{ pointer: '/card/skills/0/outputModes/0', message: 'is missing' }]
    host.faults = [times(1, isPut(), response => problem(response, 422, 'invalid-card', 'Invalid.', { errors }))]
    const { stdout } = await run(a, '')
    expect(stdout).toContain('cards/a.json:6:5 error /skills/0/outputModes/0 is missing\n')
  })

  it('reports lint errors and their positions with --check (exit 1)', async () => {
    const local = card('a', { url: 'https://10.0.0.1' })
    host.register('a', { card: local })
    const stdout = matching(/= unchanged a .*\n +cards\/a\.json:\d+:\d+ error \//)
    expect(await run({ 'cards/a.json': local }, '--check')).toMatchObject({ code: 1, stdout })
  })

  it('reports every invalid file with its position, and pushes the valid ones (exit 3)', async () => {
    const workspace = new Workspace({
      'cards/bad.yaml': 'card:\n  name: Bad\n  description: Has a bad url\n  url: 7\n',
      'cards/NoId.json': card('no-id'),
      'cards/good.json': card('good'),
    })
    const { code, stdout } = await run(workspace, '')
    expect(stdout).toMatch(/cards\/bad\.yaml:4:3 error \/card\/url must be/)
    expect(stdout).toMatch(/cards\/NoId\.json:1:1 error .*name the file no-id\.json/)
    expect({ code, writes: host.writes }).toEqual({ code: 3, writes: ['PUT /agents/good'] })
  })

  it('publishes no front matter without `exposed: true`, and reports that', async () => {
    const head = '---\nname: A\ndescription: Answers questions\nmodel: gpt-4\n'
    const workspace = new Workspace({
      'cards/silent.md': `${head}---\n`,
      'cards/defaults.yaml': 'upstream: { url: https://acme.example.com/a2a }\nvisibility: public\n',
    })
    const { code, stdout } = await run(workspace, '')
    expect(stdout).toMatch(/\+ created {3}silent .*internal: it does not have `exposed: true`/)
    expect(code).toBe(0)
    expect(JSON.parse(host.seen.find(({ method }) => method === 'PUT')?.body ?? '')).toMatchObject({
      visibility: 'internal',
    })
  })

  it('reports a file that cannot be read, and pushes the others (exit 3)', async () => {
    const workspace = new Workspace({ 'cards/a.json': card('a') })
    symlinkSync('gone.json', join(workspace.folder, 'cards/b.json'))
    const { code, stdout } = await run(workspace, '')
    expect(stdout).toContain('cards/b.json:1:1 error (document) cannot be read: ENOENT')
    expect({ code, writes: host.writes }).toEqual({ code: 3, writes: ['PUT /agents/a'] })
  })

  it('rejects wrong usage with an explanation (exit 2)', async () => {
    const rows: Record<string, RegExp> = {
      '': /no folder cards here\. Create one/,
      empty: /empty has no cards\. Create one/,
      'gone.json': /gone\.json does not exist\./,
      cards: /"cards" is neither a file nor a command\.(?! Did you mean "cards")/,
      bogus: /"bogus" is neither a file nor a command\. The commands are (?:\w+, )+completion and help\.\n/,
      '--colour': /unknown option/,
      '--prune empty/x.txt': /takes folders only: no single file describes all agents of its set/,
      '--yes empty': /--yes needs --prune: nothing else asks/,
      '--prune empty': /cannot ask without a terminal: add --yes/,
      '--prune --watch empty': /cannot ask under --watch: add --yes/,
      '--watch --check': /exclude each other/,
    }
    const workspace = new Workspace({ 'empty/x.txt': '' })
    for (const [args, message] of Object.entries(rows))
      expect(await run(workspace, args)).toMatchObject({ code: 2, stderr: matching(message) })
    for (const seconds of ['1.5', '-1', '1,5'])
      expect(await run(a, `--wait=${seconds}`)).toMatchObject({ code: 2, stderr: matching(/\S/), writes: [] })
  })

  it('waits with --wait until the edge serves the new card', async () => {
    for (const args of ['--wait', '--wait cards/a.json', '--wait cards']) {
      renew()
      host.slowReads = 2
      const stdout = matching(/\+ created {3}a .*live/)
      expect(await run(a, args)).toMatchObject({ code: 0, stdout })
      const polls = host.seen.filter(({ path }) => path.endsWith('agent-card.json'))
      expect(polls.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined, undefined])
    }
  })

  it('does not wait for internal agents, whose cards the edge serves to nobody', async () => {
    const files = { 'cards/a.json': { card: card('a'), visibility: 'internal' } }
    const stdout = matching(/^\+ created {3}a \(cards\/a.json\) · the root agent\n/)
    expect(await run(files, '--wait')).toMatchObject({ code: 0, stdout })
  })

  it('pushes the first public agent before all others, also before an internal one', async () => {
    const internal = { visibility: 'internal', card: card('a') }
    await run({ 'cards/a.json': internal, 'cards/b.json': card('b'), 'cards/c.json': card('c') }, '')
    expect([host.writes[0], host.writes.length]).toEqual(['PUT /agents/b', 3])
  })

  it('shows the warnings of the linter, and counts its infos, for pushed agents only', async () => {
    const vague = card('a', { skills: [{ id: 'ask', name: 'Ask', description: 'Ask', tags: ['a'] }] })
    const workspace = new Workspace({ 'cards/a.json': vague })
    const [first, second] = [(await run(workspace, '')).stdout, (await run(workspace, '')).stdout]
    expect(first).toMatch(/^ {4}cards\/a\.json:\d+:\d+ warning \/skills\/0/m)
    expect(first).toMatch(/^\d infos?, shown by npx sync-card lint FILE$/m)
    expect(second).toBe(`${host.url}: 1 unchanged\n`)
  })

  it('rejects a manifest over the size that the host accepts (exit 3)', async () => {
    const tags = Array.from({ length: 900 }, (_, index) => `${index}`.padEnd(300, 'x'))
    const stdout = matching(/cards\/a\.json:1:1 error \(document\) has \d+ bytes; the limit is 262144/)
    expect(await run({ 'cards/a.json': card('a', { tags }) }, '')).toMatchObject({ code: 3, stdout })
    expect(host.seen).toEqual([])
  })

  it('prints repeated errors of one place once', async () => {
    const error = { pointer: '/card/name', message: 'must be another' }
    const refuse = (response: Parameters<typeof problem>[0]) =>
      problem(response, 422, 'invalid-card', 'The card is refused.', { errors: [error, error] })
    host.faults = [times(1, isPut('a'), response => void refuse(response))]
    expect((await run(a, '')).stdout.split('must be another')).toHaveLength(2)
  })
})
