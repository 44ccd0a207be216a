import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import type { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { run as runCommand } from '../../cli/cli.ts'
import { problem } from './fake-host.ts'
import { card, containing, matching, readFrom, useFakeHost, Workspace } from './workspace.ts'

const { host, env, run } = useFakeHost(host => {
  host.register('weather', { card: card('weather'), set: 'team' })
  host.register('tides', { card: card('tides'), visibility: 'internal' })
})

const sync = (args: string) => run({}, args)

/** Runs a command whose stdout is a terminal. */
const runOnTerminal = async (args: string, more: Record<string, string> = {}, workspace = new Workspace()) => {
  const { io, output } = workspace.io({ ...env, ...more })
  Object.assign(io.stdout as PassThrough, { isTTY: true })
  const code = await runCommand(args.split(' '), io)
  return { code, ...output() }
}

const cardUrl = (id: string) => `${host.url}/agents/${id}/.well-known/agent-card.json`
/** This machine under a name that is not a loopback address, so that it gets no token. */
const withoutToken = () => host.url.replace('127.0.0.1', '0.0.0.0')
const hasError = (text: string) => ({ code: 3, stdout: '', stderr: containing(text) })

describe('sync-card list', () => {
  it('lists the agents in columns for programs', async () => {
    const lines = [
      `tides\ttides\t1\tinternal\t-\t${cardUrl('tides')}\n`,
      `weather\tweather\t1\tpublic\tteam\t${cardUrl('weather')}\n`,
    ]
    expect(await sync('list')).toMatchObject({ code: 0, stdout: lines.join(''), stderr: '' })
  })

  it('prints one JSON object with --json', async () => {
    const weather = { id: 'weather', name: 'weather', version: '1', visibility: 'public', set: 'team' }
    expect(JSON.parse((await sync('list --json --only weather')).stdout)).toEqual({
      ...{ url: host.url, agents: [{ ...weather, card: cardUrl('weather') }] },
    })
  })

  it('narrows the list to globs and a set', async () => {
    const rows: Record<string, string[]> = {
      '--only we* --only tides': ['tides', 'weather'],
      '--set team': ['weather'],
      '--set team --only t*': [],
    }
    for (const [args, ids] of Object.entries(rows)) {
      const { code, stdout, stderr } = await sync(`list ${args}`)
      expect([code, stdout.split('\n').flatMap(line => line.split('\t')[0] || [])]).toEqual([0, ids])
      expect(stderr).toBe(ids.length > 0 ? '' : `${host.url} has no such agents.\n`)
    }
  })

  it('searches with words, in the order of the host', async () => {
    await run({}, ['list', 'rain', 'in Bern', '--set', 'team'])
    expect(host.seen.map(({ path }) => path)).toEqual(['/agents?limit=100&set=team&q=rain+in+Bern'])
  })

  it('lists public agents without a token, and says so', async () => {
    const files = { '.env': 'SYNC_CARD_URL=https://a.example.com\nADMIN_TOKEN=x' }
    expect(await run(files, `list --url ${withoutToken()}`, { env: {} })).toMatchObject({
      stdout: `weather\tweather\t1\tpublic\t-\t${cardUrl('weather')}\n`,
      stderr: matching(/^Only public agents, because no token is sent. The ADMIN_TOKEN in .env is for https:\/\/a/),
    })
    expect(host.seen.map(({ headers }) => headers.authorization)).toEqual([undefined])
  })
})

describe('sync-card show', () => {
  it('prints the card as clients get it, with the token and in a dialect', async () => {
    expect(await sync('show tides')).toMatchObject({ code: 0, stdout: '{\n  "name": "tides"\n}\n', stderr: '' })
    await sync('show weather --dialect 1.0')
    expect(host.seen.at(-1)?.path).toBe('/agents/weather/.well-known/agent-card.json?dialect=1.0')
  })

  it('prints how MCP clients use the agent: a hint, all of it with --mcp-clients, and nothing where they cannot', async () => {
    const url = `${host.url}/agents/weather/mcp`
    const headers = ["X-API-Key's", 'Authorization'].map(name => ({
      ...{ name, placeholder: name === 'Authorization' ? 'Bearer …' : '…', isRequired: true, isSecret: true },
    }))
    const remotes = [{ type: 'streamable-http', url, headers, supportedProtocolVersions: ['2025-11-25'] }]
    const texts = { $schema: 'https://a.example', name: 'a/weather', title: 'W', description: 'W', version: '1' }
    host.mcpServerCard = { ...texts, websiteUrl: 'https://a.example', remotes }
    const command = `  claude mcp add --transport http weather ${url} --header 'X-API-Key'\\''s: …' --header 'Authorization: Bearer …'`
    expect(await sync('show weather')).toMatchObject({
      ...{ code: 0, stdout: '{\n  "name": "weather"\n}\n' },
      stderr: `MCP clients call the agent at ${url}\n${command}\nOther clients: npx sync-card show weather --mcp-clients\n`,
    })
    const { stdout } = await sync('show weather --mcp-clients')
    const [address, claude, others, code] = stdout.split('\n\n').map(part => part.trimEnd())
    expect([address, claude]).toEqual([url, `Claude Code:\n${command}`])
    const server = { type: 'http', url, headers: { "X-API-Key's": '…', Authorization: 'Bearer …' } }
    const settingsIn = (text = '') => JSON.parse(text.slice(text.indexOf('\n')))
    expect(settingsIn(others)).toEqual({ mcpServers: { weather: server } })
    expect([code?.split('\n')[0], settingsIn(code)]).toEqual([
      'VS Code (.vscode/mcp.json):',
      { servers: { weather: server } },
    ])
    expect(JSON.parse((await sync('show weather --mcp-clients --json')).stdout)).toEqual(host.mcpServerCard)
    host.mcpServerCard = undefined
    expect(await sync('show weather --mcp-clients')).toMatchObject(hasError('weather is not open to MCP clients.'))
  })

  it('quotes what a shell would read in an address', async () => {
    const remotes = [{ type: 'streamable-http', url: 'http://[::1]/$(id)', supportedProtocolVersions: [] }]
    const texts = { $schema: 'https://a.example', name: 'a/weather', title: 'W', description: 'W', version: '1' }
    host.mcpServerCard = { ...texts, websiteUrl: 'https://a.example', remotes }
    expect((await sync('show weather')).stderr).toContain("weather 'http://[::1]/$(id)'\n")
  })

  it('prints the manifest in YAML, or in JSON', async () => {
    expect((await sync('show weather --manifest')).stdout).toMatch(/^card:\n {2}name: weather\n/)
    expect(JSON.parse((await sync('show weather --manifest --json')).stdout)).toMatchObject({ set: 'team' })
  })

  it('suggests an id that exists, without a token a public one, and none if the token cannot list agents (exit 3)', async () => {
    expect(await sync('show wether')).toMatchObject(hasError('Did you mean "weather"?'))
    expect(await sync('show zzz')).toMatchObject(hasError('The host has no agent "zzz" that this token may read.\n'))
    expect(await run({}, `show wether --url ${withoutToken()}`, { env: {} })).toMatchObject(
      hasError('sync-card: The host has no public agent "wether", and no token was sent. Did you mean "weather"?\n'),
    )
    host.faults = [({ path }, response) => path.startsWith('/agents?') && Boolean(problem(response, 403, 'x', 'No.'))]
    expect(await sync('show wether')).toMatchObject({ code: 3, stderr: expect.not.stringContaining('mean') })
  })

  it('reports why the host rejects the request (exit 3)', async () => {
    host.faults = [(_, response) => Boolean(problem(response, 403, 'forbidden', 'This token lacks the scope `write`.'))]
    expect(await sync('show weather --manifest')).toMatchObject({
      ...{ code: 3, stdout: '' },
      stderr: 'sync-card: This token lacks the scope `write` (SYNC_CARD_TOKEN in the environment).\n',
    })
  })

  it('rejects wrong usage before it sends anything, as other commands do (exit 2)', async () => {
    const rows = {
      'show ../tokens': '"../tokens" is not the id of an agent',
      'show a --dialect 2.0': 'Allowed choices are hybrid, 1.0',
      'show a --dialect 1.0 --manifest': 'cannot be used with',
      'list --set a&cursor=x': '"a&cursor=x" is not the name of a set',
      'remove weather': 'remove cannot ask without a terminal: add --yes to remove without being asked.',
      'remove cards/weather.yaml --yes': '"cards/weather.yaml" is not the id of an agent: use lowercase',
      ...{ delete: 'Did you mean "remove"?', rm: 'Did you mean "remove"?' },
    }
    for (const [args, message] of Object.entries(rows))
      expect(await sync(args)).toMatchObject({ code: 2, stderr: containing(message) })
    expect([...host.contacts, ...host.seen]).toEqual([])
  })
})

// sync-card.process.test.ts opens one in a browser.
describe('sync-card open', () => {
  it('prints the URL of the card with --print, or without a terminal, a display or a browser', async () => {
    const printed = { code: 0, stdout: `${cardUrl('weather')}\n`, stderr: '' }
    for (const args of ['open weather --print', 'open weather']) expect(await sync(args)).toMatchObject(printed)
    for (const variables of [{ PATH: '' }, { PATH: '/nowhere', DISPLAY: ':0' }])
      expect(await runOnTerminal('open weather', variables)).toEqual(printed)
    host.rootAgent = 'weather'
    expect((await sync('open')).stdout).toBe(`${host.url}/.well-known/agent-card.json\n`)
  })

  it('opens nothing for what a browser cannot show (exit 3)', async () => {
    const opener = '#!/bin/sh\necho > opened.txt\n'
    const workspace = new Workspace({ 'bin/xdg-open': opener, 'bin/open': opener })
    for (const name of ['xdg-open', 'open']) chmodSync(join(workspace.folder, 'bin', name), 0o755)
    const rows = {
      'open wether': 'Did you mean "weather"?',
      'open tides': 'tides is internal, and a browser sends no token: npx sync-card show tides',
      open: 'The host has no root agent',
    }
    for (const [args, message] of Object.entries(rows)) {
      const variables = { PATH: join(workspace.folder, 'bin'), DISPLAY: ':0' }
      expect(await runOnTerminal(args, variables, workspace)).toEqual(hasError(message))
    }
    expect(readFrom(workspace, 'opened.txt')).toBeUndefined()
  })

  it('says that a card has not been fetched yet (exit 3)', async () => {
    host.faults = [(_, response) => Boolean(problem(response, 504, 'upstream-timeout', 'It did not respond.'))]
    const message = 'has not been fetched yet: npx sync-card refresh weather'
    expect(await sync('open weather')).toMatchObject(hasError(message))
  })
})

describe('sync-card tasks clear', () => {
  it('has the host forget whose the tasks of each agent are that exists and that the token may write (exit 3)', async () => {
    host.scope = 'w*'
    const { code, stdout, stderr, writes } = await sync('tasks clear wether tides weather')
    expect([code, stdout]).toEqual([3, 'cleared weather; it can use its ids again in 2 minutes\n'])
    expect(stderr).toMatch(/wether.*\n.*tides: The token cannot write tides \(SYNC_CARD_TOKEN in the environment\)\.$/m)
    expect(writes).toEqual([
      'DELETE /agents/wether/tasks',
      'DELETE /agents/tides/tasks',
      'DELETE /agents/weather/tasks',
    ])
  })
})

describe('sync-card remove', () => {
  const hint =
    'No file is changed: delete the file of a removed agent, or the next npx sync-card registers it again.\nTo restore one: npx sync-card rollback ID SEQ\n'

  it('asks without --yes before it removes agents, each only as it was looked up', async () => {
    expect(await run({}, 'remove weather tides tides', { answer: 'y\n' })).toMatchObject({
      ...{ code: 0, stdout: 'removed weather\nremoved tides\n', ids: [] },
      stderr: `Remove 2 agents from ${host.url}: weather, tides? (y/N) ${hint}`,
    })
    const deletes = host.seen.filter(({ method }) => method === 'DELETE')
    const tag = matching(/^"\w{64}"$/)
    expect(deletes.map(({ headers }) => headers['if-match'])).toEqual([tag, tag])
    host.register('weather', { card: card('weather') })
    expect(await run({}, 'remove weather', { answer: '\n' })).toMatchObject({
      ...{ code: 0, ids: ['weather'] },
      stderr: `Remove 1 agent from ${host.url}: weather? (y/N) Nothing was removed.\n`,
    })
    expect(await sync('remove weather --yes')).toMatchObject({ code: 0, stdout: 'removed weather\n', stderr: hint })
  })

  it('suggests the agent that was meant, and removes the others, with a token that cannot list all', async () => {
    host.scope = 'w*'
    const rejectList = (response: Parameters<typeof problem>[0]) =>
      Boolean(problem(response, 403, 'forbidden', 'It lacks the scope `read`.'))
    host.faults = [({ path }, response) => path === '/agents?limit=100' && rejectList(response)]
    const { code, stdout, stderr, ids } = await sync('remove wether tides weather --yes --json')
    expect([code, JSON.parse(stdout), ids]).toEqual([3, { removed: ['weather'] }, ['tides']])
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
    expect(await sync('remove weather --yes')).toMatchObject({
      ...{ code: 3, stdout: '', ids: ['weather', 'tides'] },
      stderr: 'sync-card: weather: it was changed after it was looked up, so it was kept. Run the command again.\n',
    })
  })
})
