import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PassThrough } from 'node:stream'
import { beforeEach, describe, expect, it } from 'vitest'
import { run } from '../../cli/cli.ts'
import { problem } from './fake-host.ts'
import { card, useFakeHost, Workspace } from './workspace.ts'

const { host, env } = useFakeHost()
beforeEach(() => {
  host.register('weather', { card: card('weather'), set: 'team' })
  host.register('tides', { card: card('tides'), visibility: 'internal' })
})

const sync = (...args: string[]) => new Workspace().run(args, env)

/** Runs a command whose stdout is a terminal. */
const runOnTerminal = async (args: string[], more: Record<string, string> = {}, workspace = new Workspace()) => {
  const { io, output } = workspace.io({ ...env, ...more })
  Object.assign(io.stdout as PassThrough, { isTTY: true })
  const code = await run(args, io)
  return { code, ...output() }
}

const cardUrl = (id: string) => `${host.url}/agents/${id}/.well-known/agent-card.json`

describe('sync-card list', () => {
  it('lists the agents in columns for programs', async () => {
    expect(await sync('list')).toEqual({
      code: 0,
      stdout: [
        `tides\ttides\t1\tinternal\t-\t${cardUrl('tides')}\n`,
        `weather\tweather\t1\tpublic\tteam\t${cardUrl('weather')}\n`,
      ].join(''),
      stderr: '',
    })
  })

  it('lists them in a table with a head for people', async () => {
    const { stdout } = await runOnTerminal(['list'], { NO_COLOR: '1' })
    expect(stdout.split('\n').map(line => line.split(/ {2,}/).slice(0, 5))).toEqual([
      ['id', 'name', 'version', 'visibility', 'set'],
      ['tides', 'tides', '1', 'internal', '-'],
      ['weather', 'weather', '1', 'public', 'team'],
      [''],
    ])
  })

  it('prints one JSON object with --json', async () => {
    expect(JSON.parse((await sync('list', '--json', '--only', 'weather')).stdout)).toEqual({
      url: host.url,
      agents: [
        { id: 'weather', name: 'weather', version: '1', visibility: 'public', set: 'team', card: cardUrl('weather') },
      ],
    })
  })

  it.each<[string, string[], string[]]>([
    ['a glob', ['--only', 'we*'], ['weather']],
    ['several globs', ['--only', 'we*', '--only', 'tides'], ['tides', 'weather']],
    ['a set', ['--set', 'team'], ['weather']],
    ['a set and a glob', ['--set', 'team', '--only', 't*'], []],
  ])('narrows the list to %s', async (_, args, ids) => {
    const { code, stdout, stderr } = await sync('list', ...args)
    expect([code, stdout.split('\n').flatMap(line => line.split('\t')[0] || [])]).toEqual([0, ids])
    expect(stderr).toBe(ids.length > 0 ? '' : `${host.url} has no such agents.\n`)
  })

  it('searches with words, in the order of the host', async () => {
    await sync('list', 'rain', 'in Bern', '--set', 'team')
    expect(host.seen.map(({ path }) => path)).toEqual(['/agents?limit=100&set=team&q=rain+in+Bern'])
  })

  it('reports why the host cannot search (exit 4)', async () => {
    host.faults = [(_, response) => Boolean(problem(response, 400, 'bad-query', 'q must have a letter.'))]
    expect(await sync('list', '?')).toMatchObject({
      ...{ code: 4, stderr: 'sync-card: the host does not list its agents: q must have a letter.\n' },
    })
  })

  it('lists public agents without a token, and says so', async () => {
    const { stdout, stderr } = await new Workspace({
      '.env': 'SYNC_CARD_URL=https://a.example.com\nADMIN_TOKEN=x',
    }).run(['list', '--url', host.url.replace('127.0.0.1', '0.0.0.0')])
    expect(stdout).toBe(`weather\tweather\t1\tpublic\t-\t${cardUrl('weather')}\n`)
    expect(stderr).toMatch(/^Only public agents, because no token is sent. The ADMIN_TOKEN in .env is for https:\/\/a/)
    expect(host.seen.map(({ headers }) => headers.authorization)).toEqual([undefined])
  })

  it('rejects what is not the name of a set (exit 2)', async () => {
    expect(await sync('list', '--set', 'a&cursor=x')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is not'),
    })
  })
})

describe('sync-card show', () => {
  it('prints the card as clients get it, with the token', async () => {
    expect(await sync('show', 'tides')).toEqual({ code: 0, stdout: '{\n  "name": "tides"\n}\n', stderr: '' })
  })

  it('asks for a dialect', async () => {
    await sync('show', 'weather', '--dialect', '1.0')
    expect(host.seen.map(({ path }) => path)).toEqual(['/agents/weather/.well-known/agent-card.json?dialect=1.0'])
  })

  it('prints the manifest in YAML, or in JSON', async () => {
    const { stdout } = await sync('show', 'weather', '--manifest')
    expect(stdout).toMatch(/^card:\n {2}name: weather\n/)
    expect(JSON.parse((await sync('show', 'weather', '--manifest', '--json')).stdout)).toMatchObject({ set: 'team' })
  })

  it.each([[['--manifest']], [['--manifest', '--json']]])('prints no control characters (%j)', async args => {
    host.register('odd', { card: { name: 'A\u009b31m\u007fB' } })
    const { stdout } = await sync('show', 'odd', ...args)
    expect(stdout).not.toMatch(/[\u007f-\u009f]/)
    expect(stdout).toContain('"A\\u009b31m\\u007fB"')
  })

  it.each([
    ['wether', 'Did you mean "weather"?'],
    ['zzz', 'The host has no agent "zzz" that this token may read.\n'],
  ])('suggests an id that exists for %s (exit 3)', async (id, message) => {
    const { code, stdout, stderr } = await sync('show', id)
    expect([code, stdout, stderr]).toEqual([3, '', expect.stringContaining(message)])
  })

  it('suggests public agents without a token (exit 3)', async () => {
    const url = host.url.replace('127.0.0.1', '0.0.0.0')
    expect(await new Workspace().run(['show', 'wether', '--url', url])).toEqual({
      code: 3,
      stdout: '',
      stderr: 'sync-card: The host has no public agent "wether", and no token was sent. Did you mean "weather"?\n',
    })
  })

  it('suggests nothing if the token cannot list agents (exit 3)', async () => {
    host.faults = [({ path }, response) => path.startsWith('/agents?') && Boolean(problem(response, 403, 'x', 'No.'))]
    expect(await sync('show', 'wether')).toMatchObject({ code: 3, stderr: expect.not.stringContaining('mean') })
  })

  it('reports why the host rejects the request (exit 3)', async () => {
    host.faults = [(_, response) => Boolean(problem(response, 403, 'forbidden', 'This token lacks the scope `write`.'))]
    expect(await sync('show', 'weather', '--manifest')).toEqual({
      code: 3,
      stdout: '',
      stderr: 'sync-card: This token lacks the scope `write` (SYNC_CARD_TOKEN in the environment).\n',
    })
  })

  it.each([
    [['show', '../tokens'], '"../tokens" is not the id of an agent'],
    [['show', 'a', '--dialect', '2.0'], 'Allowed choices are hybrid, 1.0'],
    [['show', 'a', '--dialect', '1.0', '--manifest'], 'cannot be used with'],
    [['show'], "missing required argument 'id'"],
  ])('rejects %j (exit 2)', async (args, message) => {
    expect(await sync(...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) })
    expect(host.seen).toEqual([])
  })
})

describe('sync-card open', () => {
  const opener = `#!${process.execPath}
require('node:fs').writeFileSync('opened.json', JSON.stringify({ args: process.argv.slice(2), token: process.env.ADMIN_TOKEN }))
`
  /** Returns a folder with a browser, and the variables that name it. */
  const withBrowser = () => {
    const workspace = new Workspace({ '.env': 'ADMIN_TOKEN=hidden', 'bin/xdg-open': opener, 'bin/open': opener })
    for (const name of ['xdg-open', 'open']) chmodSync(join(workspace.folder, 'bin', name), 0o755)
    return { workspace, variables: { PATH: join(workspace.folder, 'bin'), DISPLAY: ':0' } }
  }

  it.each<[string, string[], string]>([
    ['with --print', ['open', 'weather', '--print'], 'weather'],
    ['without a terminal', ['open', 'weather'], 'weather'],
  ])('prints the URL of the card %s', async (_, args, id) => {
    expect(await sync(...args)).toEqual({ code: 0, stdout: `${cardUrl(id)}\n`, stderr: '' })
  })

  it('prints the URL of the root card', async () => {
    host.rootAgent = 'weather'
    expect((await sync('open')).stdout).toBe(`${host.url}/.well-known/agent-card.json\n`)
  })

  it.each<[string, Record<string, string>]>([
    ['without a display', { PATH: '' }],
    ['without a browser', { PATH: '/nowhere', DISPLAY: ':0' }],
  ])('prints the URL on a terminal %s', async (_, variables) => {
    expect(await runOnTerminal(['open', 'weather'], variables)).toEqual({
      code: 0,
      stdout: `${cardUrl('weather')}\n`,
      stderr: '',
    })
  })

  it.each([
    ['a mistyped id', ['open', 'wether'], 'Did you mean "weather"?'],
    [
      'an internal agent',
      ['open', 'tides'],
      'tides is internal, and a browser sends no token: npx sync-card show tides',
    ],
    ['a host without a root agent', ['open'], 'The host has no root agent'],
  ])('opens nothing for %s (exit 3)', async (_, args, message) => {
    const { workspace, variables } = withBrowser()
    const { code, stdout, stderr } = await runOnTerminal(args, variables, workspace)
    expect([code, stdout, stderr]).toEqual([3, '', expect.stringContaining(message)])
    expect(existsSync(join(workspace.folder, 'opened.json'))).toBe(false)
  })

  it('says that a card has not been fetched yet (exit 3)', async () => {
    host.faults = [(_, response) => Boolean(problem(response, 504, 'upstream-timeout', 'It did not respond.'))]
    expect(await sync('open', 'weather')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('has not been fetched yet: npx sync-card refresh weather'),
    })
  })

  it.runIf(['linux', 'darwin'].includes(process.platform))('opens it in a browser, which gets no token', async () => {
    const { workspace, variables } = withBrowser()
    const { io, output } = workspace.io({ SYNC_CARD_URL: host.url, SYNC_CARD_TOKEN: host.token, ...variables })
    Object.assign(io.stdout as PassThrough, { isTTY: true })
    expect(await run(['open', 'weather'], io)).toBe(0)
    expect(output()).toEqual({ stdout: '', stderr: `Opened ${cardUrl('weather')}\n` })
    const file = join(workspace.folder, 'opened.json')
    await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8')).toBe(`{"args":["${cardUrl('weather')}"]}`)
  })
})

describe('sync-card tasks clear', () => {
  it('has the host forget whose the tasks of each agent are', async () => {
    expect(await sync('tasks', 'clear', 'weather', 'tides')).toEqual({
      code: 0,
      stdout:
        'cleared weather; it can use its ids again in 2 minutes\ncleared tides; it can use its ids again in 2 minutes\n',
      stderr: '',
    })
    expect(host.writes).toEqual(['DELETE /agents/weather/tasks', 'DELETE /agents/tides/tasks'])
  })

  it('reports an unknown agent and one that the token may not write, and clears the others (exit 3)', async () => {
    host.scope = 'w*'
    const { code, stdout, stderr } = await sync('tasks', 'clear', 'wether', 'tides', 'weather', '--json')
    expect([code, JSON.parse(stdout)]).toEqual([3, { cleared: ['weather'] }])
    expect(stderr).toMatch(/wether.*\n.*tides: The token cannot write tides \(SYNC_CARD_TOKEN in the environment\)\.$/m)
  })
})

describe('sync-card remove', () => {
  const ids = () => [...host.agents.keys()]
  const hint =
    'No file is changed: delete the file of a removed agent, or the next npx sync-card registers it again.\nTo restore one: npx sync-card rollback ID SEQ\n'

  it('asks before it removes agents, each only as it was looked up', async () => {
    const { code, stdout, stderr } = await new Workspace().run(['remove', 'weather', 'tides', 'tides'], env, 'y\n')
    expect({ code, stdout, ids: ids() }).toEqual({ code: 0, stdout: 'removed weather\nremoved tides\n', ids: [] })
    expect(stderr).toBe(`Remove 2 agents from ${host.url}: weather, tides? (y/N) ${hint}`)
    const deletes = host.seen.filter(({ method }) => method === 'DELETE')
    expect(deletes.map(({ headers }) => headers['if-match'])).toEqual(
      Array(2).fill(expect.stringMatching(/^"\w{64}"$/)),
    )
  })

  it('removes nothing after any other answer, and does not ask with --yes', async () => {
    const { code, stderr } = await new Workspace().run(['remove', 'weather'], env, '\n')
    expect(stderr).toBe(`Remove 1 agent from ${host.url}: weather? (y/N) Nothing was removed.\n`)
    expect({ code, writes: host.writes }).toEqual({ code: 0, writes: [] })
    expect(await sync('remove', 'weather', '--yes')).toEqual({ code: 0, stdout: 'removed weather\n', stderr: hint })
  })

  it.each([
    [['weather'], 'remove cannot ask without a terminal: add --yes to remove without being asked.'],
    [['cards/weather.yaml', '--yes'], '"cards/weather.yaml" is not the id of an agent: use lower-case'],
  ])('sends nothing for a mistake: %j (exit 2)', async (args, message) => {
    const { code, stderr } = await sync('remove', ...args)
    expect(stderr).toContain(`sync-card: ${message}`)
    expect({ code, requests: [...host.contacts, ...host.seen] }).toEqual({ code: 2, requests: [] })
  })

  it('suggests the agent that was meant, and removes the others, with a token that cannot list all', async () => {
    host.scope = 'w*'
    host.faults = [
      ({ path }, response) =>
        path === '/agents?limit=100' && Boolean(problem(response, 403, 'forbidden', 'It lacks the scope `read`.')),
    ]
    const { code, stdout, stderr } = await sync('remove', 'wether', 'tides', 'weather', '--yes', '--json')
    expect([code, JSON.parse(stdout), ids()]).toEqual([3, { removed: ['weather'] }, ['tides']])
    expect(stderr).toMatch(
      /no agent "wether" .* Did you mean "weather"\?\n.*: tides: The token cannot write tides \(.*\)\.\n/,
    )
  })

  it('keeps an agent that changes after it was looked up (exit 3)', async () => {
    host.faults = [
      ({ method }) => {
        if (method === 'DELETE') host.register('weather', { card: card('weather', { version: '9' }) })
        return false
      },
    ]
    const { code, stdout, stderr } = await sync('remove', 'weather', '--yes')
    expect(stderr).toBe(
      'sync-card: weather: it was changed after it was looked up, so it was kept. Run the command again.\n',
    )
    expect({ code, stdout, ids: ids() }).toEqual({ code: 3, stdout: '', ids: ['weather', 'tides'] })
  })

  it.each(['delete', 'rm'])('is suggested for %s (exit 2)', async word => {
    for (const args of [
      [word, 'weather'],
      ['help', word],
    ])
      expect(await sync(...args)).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(new RegExp(`^sync-card: "${word}" is .* Did you mean "remove"\\?`)),
      })
    expect(host.writes).toEqual([])
  })
})
