import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { run } from '../../cli/cli.ts'
import { isPut, problem, times } from './fake-host.ts'
import { card, useFakeHost, Workspace } from './workspace.ts'

const { host, env } = useFakeHost()

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
    const { code, stdout } = await workspace.run([], env)
    expect(stdout).toMatch(/"1\.0\.0" → "2\.0\.0"/)
    expect(stdout).toContain('+ created   new')
    expect(stdout).not.toContain('= unchanged')
    expect(stdout).toMatch(/: 1 created, 1 updated, 1 unchanged\n$/)
    expect(code).toBe(0)
    expect(host.writes.sort()).toEqual(['PUT /agents/new', 'PUT /agents/other'])
    const [create] = host.seen.filter(({ method, path }) => method === 'PUT' && path === '/agents/new')
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
    expect(
      host.seen.find(({ path, method }) => method === 'PUT' && path === '/agents/other')?.headers['if-match'],
    ).toMatch(/^"/)
  })

  it.each([
    ['another', true, '~ updated   same'],
    ['the same', false, ': 1 unchanged'],
  ])('sends unchanged files with --refresh; the host makes %s card', async (_, upgraded, line) => {
    host.upgraded = upgraded
    host.register('same', { card: card('same') })
    const workspace = new Workspace({ 'cards/same.json': card('same') })
    const { code, stdout } = await workspace.run(['--refresh'], env)
    expect([code, host.writes, stdout.includes(line)]).toEqual([0, ['PUT /agents/same'], true])
  })

  it.each([
    ['an endpoint that is a card', { url: 'https://a.example.com/agent.json' }, 'endpoint-is-card'],
    ['a scheme that is not defined', { security: [{ none: [] }] }, 'scheme-undefined'],
  ])('does not send a card in which the linter finds an error, %s, unless --force is given', async (_, more, rule) => {
    host.register('changed', { card: card('changed') })
    host.register('same', { card: card('same', more) })
    const workspace = new Workspace({
      'cards/changed.json': card('changed', more),
      'cards/fine.json': card('fine'),
      'cards/new.json': card('new', more),
      'cards/same.json': card('same', more),
    })
    const advice = 'correct the errors below, or push it as it is with --force'
    const { code, stdout } = await workspace.run([], env)
    expect(stdout).toContain(`✗ not sent  changed (cards/changed.json) · ${advice}\n    cards/changed.json:`)
    expect(stdout).toContain(`✗ not sent  new (cards/new.json) · ${advice}\n    cards/new.json:`)
    expect(stdout.split(`[${rule}]`)).toHaveLength(4)
    expect(stdout).toMatch(/: 1 created, 1 unchanged, 2 not sent\n$/)
    expect([code, host.writes]).toEqual([3, ['PUT /agents/fine']])
    expect((await workspace.run(['--dry-run'], env)).stdout).toMatch(/: 2 unchanged, 2 not sent\n$/)
    const forced = await workspace.run(['--force'], env)
    expect(forced.stdout).toMatch(/: 1 created, 1 updated, 2 unchanged\n$/)
    expect(forced.code).toBe(0)
  })

  it('sends a card with a private address to a host on this machine only', async () => {
    const workspace = new Workspace({ 'cards/near.json': card('near', { url: 'http://localhost:9000' }) })
    const { code, stdout } = await workspace.run([], env)
    expect([code, host.writes]).toEqual([0, ['PUT /agents/near']])
    expect(stdout).toContain('[private-url]')
    const fetch: typeof globalThis.fetch = (url, init) => globalThis.fetch(String(url).replace(far, host.url), init)
    const far = 'https://cards.example.com'
    const { io, output } = workspace.io({ ...env, SYNC_CARD_URL: far })
    host.agents.clear()
    expect(await run([], { ...io, fetch })).toBe(3)
    expect(output().stdout).toMatch(/✗ not sent {2}near .*\n.*\[private-url\]\n.*: 1 not sent\n$/)
  })

  it('reports a card that is stored but not at the edge yet', async () => {
    host.publishes = false
    const workspace = new Workspace({ 'cards/late.json': card('late') })
    const { code, stdout } = await workspace.run([], env)
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/created {3}late .*stored, but not at the edge yet; the host keeps retrying/),
    ])
    host.register('late', { card: card('late', { version: '0.0.1' }) })
    const { stdout: json } = await workspace.run(['--json'], env)
    expect(JSON.parse(json)).toMatchObject({ agents: [{ id: 'late', action: 'updated', published: false }] })
  })

  it('reads the host and the token from .env, and never prints the token', async () => {
    const workspace = new Workspace({
      '.env': `SYNC_CARD_URL=${host.url}\nADMIN_TOKEN="${host.token}"\n`,
      'cards/a.json': card('a'),
    })
    const { code, stdout, stderr } = await workspace.run([])
    expect(code).toBe(0)
    expect(stdout + stderr).not.toContain(host.token)
  })

  it('prints one object and nothing else on stdout with --json', async () => {
    host.register('a', { card: card('a', { version: '1.0.0' }) })
    const workspace = new Workspace({ 'cards/a.json': card('a', { version: '2.0.0' }), 'cards/0.json': '{' })
    const { code, stdout } = await workspace.run(['--json', '--url', host.url, '--token', host.token])
    expect(JSON.parse(stdout)).toMatchObject({
      url: host.url,
      exitCode: 3,
      agents: [
        { file: 'cards/0.json', action: 'invalid', problems: [{ line: 1, column: 2 }] },
        { id: 'a', action: 'updated', patch: [{ op: 'replace', path: '/card/version', value: '2.0.0' }] },
      ],
    })
    expect(code).toBe(3)
  })

  it('identifies skills by their id: one inserted at the top changes no other', async () => {
    const skills = [{ id: 'old', name: 'Old', description: 'Answers old questions', tags: ['old'] }]
    const added = { id: 'new', name: 'New', description: 'Answers new questions', tags: ['new'] }
    host.register('a', { card: card('a', { skills }) })
    const workspace = new Workspace({ 'cards/a.json': card('a', { skills: [added, ...skills] }) })
    const { stdout } = await workspace.run(['--dry-run'], env)
    expect(stdout).toMatch(/^a \(cards\/a\.json\)\n {2}\+ \/card\/skills\/0 \{"id":"new",.*\}\n~ to update a /)
  })

  it('reports an error about a missing field at its nearest ancestor', async () => {
    const errors = [{ pointer: '/card/skills/0/outputModes/0', message: 'is missing' }]
    host.faults = [times(1, isPut(), response => problem(response, 422, 'invalid-card', 'Invalid.', { errors }))]
    const { stdout } = await new Workspace({ 'cards/a.json': card('a') }).run([], env)
    expect(stdout).toContain('cards/a.json:6:5 error /skills/0/outputModes/0 is missing\n')
  })

  it.each([['--dry-run'], ['--check']])('shows the differences and writes nothing with %s (exit 1)', async flag => {
    const workspace = new Workspace({ 'cards/a.json': card('a') })
    const { code, stdout } = await workspace.run([flag], env)
    expect(stdout).toContain('+ to create a')
    expect({ code, writes: host.writes }).toEqual({ code: 1, writes: [] })
  })

  it('reports lint errors and their positions with --check (exit 1)', async () => {
    const local = card('a', { url: 'https://10.0.0.1' })
    host.register('a', { card: local })
    const { code, stdout } = await new Workspace({ 'cards/a.json': local }).run(['--check'], env)
    expect(stdout).toMatch(/= unchanged a .*\n +cards\/a\.json:\d+:\d+ error \//)
    expect(code).toBe(1)
  })

  it.each(['--check', '--dry-run'])('succeeds with %s when everything is in sync', async flag => {
    host.register('a', { card: card('a') })
    expect((await new Workspace({ 'cards/a.json': card('a') }).run([flag], env)).code).toBe(0)
  })

  it('reports every invalid file with its position, and pushes the valid ones (exit 3)', async () => {
    const workspace = new Workspace({
      'cards/bad.yaml': 'card:\n  name: Bad\n  description: Has a bad url\n  url: 7\n',
      'cards/field.yaml': `hosst: [a]\ncard: ${JSON.stringify(card('field'))}`,
      'cards/NoId.json': card('no-id'),
      'cards/one.yaml': `id: same\ncard: ${JSON.stringify(card('one'))}`,
      'cards/same.json': card('two'),
      'cards/good.json': card('good'),
    })
    const { code, stdout } = await workspace.run([], env)
    expect(stdout).toMatch(/cards\/bad\.yaml:4:3 error \/card\/url must be/)
    expect(stdout).toMatch(/cards\/field\.yaml:1:1 error \/hosst .*is not a known field here/)
    expect(stdout).toMatch(/cards\/NoId\.json:1:1 error .*name the file no-id\.json/)
    expect(stdout).toMatch(/cards\/one\.yaml:1:1 error \/id "same" is also the id of cards\/same\.json/)
    expect(stdout).toMatch(/cards\/same\.json:1:1 error .*"same" is also the id of cards\/one\.yaml/)
    expect({ code, writes: host.writes }).toEqual({ code: 3, writes: ['PUT /agents/good'] })
  })

  it('publishes no front matter without `exposed: true`, and reports that', async () => {
    const head = '---\nname: A\ndescription: Answers questions\nmodel: gpt-4\n'
    const workspace = new Workspace({
      'cards/silent.md': `${head}---\n`,
      'cards/text.md': `${head}exposed: no\n---\n`,
      'cards/bare.yaml': 'name: A\ndescription: Answers questions\nvisibility: internal\n',
      'cards/defaults.yaml': 'upstream: { url: https://acme.example.com/a2a }\nvisibility: public\n',
    })
    const { code, stdout } = await workspace.run([], env)
    expect(stdout).toMatch(/\+ created {3}silent .*internal: it does not have `exposed: true`/)
    expect(stdout).toContain('cards/text.md:5:1 error /exposed must be true or false')
    expect(stdout).toMatch(/cards\/bare\.yaml:3:1 error \/visibility is a field of the manifest, not of the card/)
    expect(code).toBe(3)
    expect(JSON.parse(host.seen.find(({ method }) => method === 'PUT')?.body ?? '')).toMatchObject({
      visibility: 'internal',
    })
  })

  it('reports a file that cannot be read, and pushes the others (exit 3)', async () => {
    const workspace = new Workspace({ 'cards/a.json': card('a') })
    symlinkSync('gone.json', join(workspace.folder, 'cards/b.json'))
    const { code, stdout } = await workspace.run([], env)
    expect(stdout).toContain('cards/b.json:1:1 error (document) cannot be read: ENOENT')
    expect({ code, writes: host.writes }).toEqual({ code: 3, writes: ['PUT /agents/a'] })
  })

  it('reports errors of the defaults in the defaults file', async () => {
    const workspace = new Workspace({ 'cards/defaults.yaml': 'visibility: secret\n', 'cards/a.json': card('a') })
    const { code, stdout } = await workspace.run([], env)
    expect(stdout).toContain('cards/defaults.yaml:1:1 error /visibility must be public or internal')
    expect(code).toBe(3)
  })

  it('accepts files in any folder and with any extension', async () => {
    const workspace = new Workspace({ 'other/a.card': card('a'), 'cards/b.json': card('b') })
    expect((await workspace.run(['other/a.card'], env)).code).toBe(0)
    expect(host.writes).toEqual(['PUT /agents/a'])
  })

  it.each([
    ['no folder', [], /no folder cards here\. Create one/],
    ['an empty folder', ['empty'], /empty has no cards\. Create one/],
    ['a missing file', ['gone.json'], /gone\.json does not exist\./],
    [
      'a word',
      ['bogus'],
      /"bogus" is neither a file nor a command\. The commands are (?:\w+, )+completion and help\.\n/,
    ],
    ['a word next to a file', ['empty/x.txt', 'bogus'], /"bogus" is neither a file nor a command/],
    ['an empty folder of lint', ['lint', 'empty'], /empty has no cards\. Create one:/],
    ['a word as a file of lint', ['lint', 'bogus'], /bogus does not exist\./],
    ['an unknown flag', ['--colour'], /unknown option/],
    [
      '--prune with a single file',
      ['--prune', 'empty/x.txt'],
      /takes folders only: no single file describes all agents of its set/,
    ],
    ['--yes without --prune', ['--yes', 'empty'], /--yes needs --prune: nothing else asks/],
    ['--prune without a terminal', ['--prune', 'empty'], /cannot ask without a terminal: add --yes/],
    ['--prune with --watch', ['--prune', '--watch', 'empty'], /cannot ask under --watch: add --yes/],
    ['--watch with --check', ['--watch', '--check'], /exclude each other/],
  ])('rejects %s with an explanation (exit 2)', async (_, args, message) => {
    const { code, stderr } = await new Workspace({ 'empty/x.txt': '' }).run(args, env)
    expect(stderr).toMatch(message)
    expect(code).toBe(2)
  })

  it('waits with --wait until the edge serves the new card', async () => {
    host.slowReads = 2
    const { code, stdout } = await new Workspace({ 'cards/a.json': card('a') }).run(['--wait'], env)
    expect(stdout).toContain('live')
    expect(code).toBe(0)
    const polls = host.seen.filter(({ path }) => path.endsWith('agent-card.json'))
    expect(polls.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined, undefined])
  })

  it.each([
    ['a file', ['--wait', 'cards/a.json']],
    ['a folder', ['--wait', 'cards']],
  ])('accepts %s after --wait', async (_, args) => {
    host.slowReads = 2
    const { code, stdout } = await new Workspace({ 'cards/a.json': card('a') }).run(args, env)
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/\+ created {3}a .*live/) })
  })

  it('does not wait for internal agents, whose cards the edge serves to nobody', async () => {
    const manifest = { card: card('a'), visibility: 'internal' }
    const { code, stdout } = await new Workspace({ 'cards/a.json': manifest }).run(['--wait'], env)
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^\+ created {3}a \(cards\/a.json\) · the root agent\n/),
    })
  })

  it.each(['1.5', '-1', '1,5'])('rejects %s as the seconds of --wait (exit 2)', async seconds => {
    const { code, stderr } = await new Workspace({ 'cards/a.json': card('a') }).run([`--wait=${seconds}`], env)
    expect({ code, stderr, writes: host.writes }).toEqual({ code: 2, stderr: expect.stringMatching(/\S/), writes: [] })
  })

  it('gives up after the seconds of --wait (exit 1)', async () => {
    host.slowReads = Number.POSITIVE_INFINITY
    const { code, stdout } = await new Workspace({ 'cards/a.json': card('a') }).run(['--wait', '7'], env)
    expect(stdout).toContain('stored; the edge still serves the previous card')
    expect(code).toBe(1)
  })

  it('pushes many files', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `agent-${index}`)
    const workspace = new Workspace(Object.fromEntries(names.map(name => [`cards/${name}.json`, card(name)])))
    const { code, stdout } = await workspace.run([], env)
    expect(stdout).toContain('40 created')
    expect({ code, count: host.agents.size }).toEqual({ code: 0, count: 40 })
    // The first goes ahead alone, and so is the root agent of an empty host.
    expect(host.writes[0]).toBe('PUT /agents/agent-0')
  })

  it('pushes the first public agent before all others, also before an internal one', async () => {
    const internal = { visibility: 'internal', card: card('a') }
    const workspace = new Workspace({ 'cards/a.json': internal, 'cards/b.json': card('b'), 'cards/c.json': card('c') })
    await workspace.run([], env)
    expect([host.writes[0], host.writes.length]).toEqual(['PUT /agents/b', 3])
  })

  it('shows the warnings of the linter for pushed agents only', async () => {
    const vague = card('a', { skills: [{ id: 'ask', name: 'Ask', description: 'Ask', tags: ['a'] }] })
    const workspace = new Workspace({ 'cards/a.json': vague })
    expect((await workspace.run([], env)).stdout).toMatch(/^ {4}cards\/a\.json:\d+:\d+ warning \/skills\/0/m)
    expect((await workspace.run([], env)).stdout).not.toContain('warning')
  })

  it('rejects a manifest over the size that the host accepts (exit 3)', async () => {
    const tags = Array.from({ length: 900 }, (_, index) => `${index}`.padEnd(300, 'x'))
    const workspace = new Workspace({ 'cards/a.json': card('a', { tags }) })
    const { code, stdout } = await workspace.run([], env)
    expect(stdout).toMatch(/cards\/a\.json:1:1 error \(document\) has \d+ bytes; the limit is 262144/)
    expect({ code, requests: host.seen }).toEqual({ code: 3, requests: [] })
  })

  it('warns that the token goes unencrypted to another machine', async () => {
    // This machine under a name that is not a loopback address.
    const url = host.url.replace('127.0.0.1', '0.0.0.0')
    const { code, stderr } = await new Workspace({ 'cards/a.json': card('a') }).run(['--url', url], {
      SYNC_CARD_TOKEN: host.token,
    })
    expect({ code, stderr }).toEqual({ code: 0, stderr: `The token goes to ${url} unencrypted: use https.\n` })
  })

  it('counts the infos of the linter for pushed agents only', async () => {
    const { description, url } = { description: 'Answers questions about the weather', url: 'https://a.example.com' }
    const workspace = new Workspace({ 'cards/a.json': { name: 'A', description, url } })
    expect((await workspace.run([], env)).stdout).toMatch(/^\d infos?, shown by npx sync-card lint FILE$/m)
    expect((await workspace.run([], env)).stdout).not.toMatch(/infos?:/)
  })

  it('prints repeated errors of one place once', async () => {
    host.faults = [
      times(1, isPut('a'), response => {
        const error = { pointer: '/card/name', message: 'must be another' }
        problem(response, 422, 'invalid-card', 'The card is refused.', { errors: [error, error] })
      }),
    ]
    const { stdout } = await new Workspace({ 'cards/a.json': card('a') }).run([], env)
    expect(stdout.split('must be another')).toHaveLength(2)
  })

  it('prints its version', async () => {
    expect((await new Workspace().run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  it.each(['--help', 'help'])('explains the exit codes with %s', async word => {
    const { code, stdout } = await new Workspace().run([word])
    expect(stdout).toMatch(/Exit codes:[\s\S]*4 {4}the host is unreachable[\s\S]*130 {2}interrupted/)
    expect(code).toBe(0)
  })

  it('does not change the files', async () => {
    const workspace = new Workspace({ 'cards/a.yaml': `# mine\ncard: ${JSON.stringify(card('a'))}\n` })
    await workspace.run([], env)
    expect(readFileSync(join(workspace.folder, 'cards/a.yaml'), 'utf8')).toMatch(/^# mine/)
  })
})
