import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { isUneditedStarter, starterCard } from '../../cli/manifests/starter.ts'
import { FakeHost } from './fake-host.ts'
import { card, type Ended, Workspace } from './workspace.ts'

const answers = {
  name: 'Weather',
  description: 'Forecasts the weather of any place',
  url: 'https://weather.example.org/a2a',
}
const flags = Object.entries(answers).flatMap(([name, value]) => [`--${name}`, value])
const flagsWith = (changes: Partial<typeof answers>) =>
  Object.entries({ ...answers, ...changes }).flatMap(([name, value]) => [`--${name}`, value])

const read = ({ folder }: Workspace, file: string): string => readFileSync(join(folder, file), 'utf8')
const lint = async (workspace: Workspace): Promise<unknown[]> => {
  const { stdout } = await workspace.run(['lint', '--format', 'json'])
  return JSON.parse(stdout).files.flatMap((file: { errors: unknown[]; issues?: { severity: string }[] }) => [
    ...file.errors,
    ...(file.issues ?? []).filter(({ severity }) => severity !== 'info'),
  ])
}

describe('sync-card init with flags', () => {
  it('writes a commented card and the set of the folder, and says what comes next', async () => {
    const workspace = new Workspace()
    const { code, stdout, stderr } = await workspace.run(['init', ...flags])
    const set = basename(workspace.folder).toLowerCase()
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `+ created cards/weather.yaml\n+ created cards/defaults.yaml: the set ${parse(read(workspace, 'cards/defaults.yaml')).set}; another owner of the same host needs another name\n`,
    })
    expect(stderr).toContain('npx sync-card lint')
    expect(stderr).toMatch(
      /\nIt goes to http:\/\/127\.0\.0\.1:8787\. For another host, write its SYNC_CARD_URL and SYNC_CARD_TOKEN into \.env\.\n$/,
    )
    expect(read(workspace, 'cards/weather.yaml')).toBe(starterCard(answers))
    expect(parse(read(workspace, 'cards/defaults.yaml'))).toEqual({ set: expect.stringMatching(/^[a-z0-9-]+$/) })
    expect(set).toContain('sync-card')
    expect(readdirSync(workspace.folder)).toEqual(['cards'])
  })

  it('writes a card that lints clean and is unchanged once it is pushed', async () => {
    const host = await new FakeHost().listen()
    const env = { SYNC_CARD_URL: host.url, SYNC_CARD_TOKEN: host.token }
    const workspace = new Workspace()
    await workspace.run(['init', ...flags], env)
    expect(await lint(workspace)).toEqual([])
    const first = await workspace.run(['--json'], env)
    const second = await workspace.run(['--json'], env)
    await host.close()
    const actions = ({ stdout }: Ended) => JSON.parse(stdout).agents.map((agent: { action: string }) => agent.action)
    expect([actions(first), actions(second)]).toEqual([['created'], ['unchanged']])
  })

  it('names the schema of the host that it would talk to', async () => {
    const workspace = new Workspace({ '.env': 'SYNC_CARD_URL=https://cards.example.com/' })
    const { stderr } = await workspace.run(['init', ...flags])
    expect(stderr).toMatch(/\nIt goes to https:\/\/cards\.example\.com\.\n$/)
    expect(read(workspace, 'cards/weather.yaml').split('\n')[0]).toBe(
      '# yaml-language-server: $schema=https://cards.example.com/schema/manifest.json',
    )
  })

  it('names the schema of the host that --host names', async () => {
    const workspace = new Workspace({ 'sync-card.yaml': { hosts: { prod: { url: 'https://prod.example.com' } } } })
    await workspace.run(['init', ...flags, '--host', 'prod'])
    expect(read(workspace, 'cards/weather.yaml')).toContain('$schema=https://prod.example.com/schema/manifest.json\n')
  })

  it.each([
    ['an id', ['rain-and-sun'], answers, 'rain-and-sun'],
    ['a name of other letters', [], { ...answers, name: 'Wetter für Köln' }, 'wetter-fur-koln'],
    ['a name without letters that an id can have', [], { ...answers, name: '天気' }, 'my-agent'],
  ])('names the file after %s', async (_, id, given, expected) => {
    const workspace = new Workspace()
    const { code } = await workspace.run(['init', ...id, ...flagsWith(given)])
    expect({ code, name: parse(read(workspace, `cards/${expected}.yaml`)).card.name }).toEqual({
      code: 0,
      name: given.name,
    })
  })

  it.each([
    [{ name: ' ' }, '--name must not be empty.'],
    [{ name: 'two\nlines' }, '--name must be one line, without control characters.'],
    [{ description: '' }, '--description must not be empty.'],
    [{ description: 'Weather' }, '--description is too vague for routing'],
    [{ url: 'weather.example.org' }, '--url is relative: it must be absolute'],
    [{ url: 'ftp://weather.example.org/' }, '--url must be an absolute URL with http or https'],
    [{ url: 'https://user:pass@weather.example.org/' }, '--url must not contain a user name or password'],
    [{ url: 'https://weather.example.org/.well-known/agent-card.json' }, '--url is '],
  ])('rejects %j, says why, and writes nothing (exit 2)', async (changes, reason) => {
    const workspace = new Workspace()
    const { code, stdout, stderr } = await workspace.run(['init', ...flagsWith(changes)])
    expect({ code, stdout, files: readdirSync(workspace.folder) }).toEqual({ code: 2, stdout: '', files: [] })
    expect(stderr).toContain(reason)
  })

  it.each([
    ['../escape', '"../escape" is not an id: use lower-case letters, digits and hyphens, such as escape.'],
    ['Weather', '"Weather" is not an id: use lower-case letters, digits and hyphens, such as weather.'],
    ['defaults', 'cards/defaults.yaml would not be read as a card'],
    ['readme', 'cards/readme.yaml would not be read as a card'],
  ])('rejects the id %s (exit 2)', async (id, reason) => {
    const workspace = new Workspace()
    const { code, stderr } = await workspace.run(['init', id, ...flags])
    expect({ code, files: readdirSync(workspace.folder) }).toEqual({ code: 2, files: [] })
    expect(stderr).toContain(reason)
  })

  it.each([
    ['without flags', [], '--name, --description and --url'],
    ['with some flags', ['--name', 'Weather'], '--description and --url'],
    ['with all flags but one', flags.slice(0, 4), '--url'],
  ])('says which flags to add %s without a terminal (exit 2)', async (_, given, missing) => {
    const workspace = new Workspace()
    const { code, stdout, stderr } = await workspace.run(['init', ...given])
    expect(stderr).toBe(`sync-card: No terminal: pass ${missing}. --mcp or --card may replace --url.\n`)
    expect({ code, stdout, files: readdirSync(workspace.folder) }).toEqual({ code: 2, stdout: '', files: [] })
  })
})

describe('sync-card init for an agent that clients call through the host', () => {
  /** Runs init, and returns the manifest without its card, and what is printed below the first line. */
  const start = async (args: readonly string[], { files = {}, env = {} }: { files?: object; env?: object } = {}) => {
    const workspace = new Workspace({ ...files })
    const named = ['init', 'stock', '--name', 'Stock', '--description', 'Reports the stock of any article']
    const { code, stderr } = await workspace.run([...named, ...args], { ...env })
    if (code !== 0) return { code, stderr }
    const { card: written, ...hosting } = parse(read(workspace, 'cards/stock.yaml'))
    return { hosting, card: written, steps: stderr.split('\n').slice(1, -1), findings: await lint(workspace) }
  }
  const secret = ['--secret', 'STOCK_TOKEN']
  const local = ['--url', 'http://localhost:9000/']
  const remote = ['--url', 'https://stock.example.org/a2a']
  const deployed = { SYNC_CARD_URL: 'https://cards.example.org' }
  const createToken = '  CALLER_TOKEN=$(npx sync-card token create --scope call --agent stock)'
  const call = (host: string, token = '-H "Authorization: Bearer $CALLER_TOKEN" ') =>
    `  curl ${token}${host}/agents/stock -H 'Content-Type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"1","role":"ROLE_USER","parts":[{"text":"hello"}]}}}'`

  it('writes the manifest, and prints each command until the first call, on this machine', async () => {
    expect(await start([...local, ...secret])).toMatchObject({
      hosting: { upstream: { secret: 'STOCK_TOKEN' }, route: 'gateway', callers: 'tokens' },
      card: { supportedInterfaces: [{ url: 'http://localhost:9000/' }] },
      findings: [],
      steps: [
        'No deployed host can reach http://localhost:9000/: there, the agent needs a public https address, such as that of a tunnel.',
        'Set what the host needs to call it, with the bearer token in place of …:',
        "  printf '\\n%s' 'STOCK_TOKEN=…' 'ALLOWED_ORIGINS=http://localhost:9000' >> .dev.vars",
        'Start the host in a terminal of its own. It registers the cards. If it is running, stop it first: it reads .dev.vars only once.',
        '  npm start',
        'Make a token for each caller:',
        createToken,
        'Call it:',
        call('http://127.0.0.1:8787'),
      ],
    })
  })

  it('does the same for a deployed host', async () => {
    expect(await start([...remote, ...secret], { env: deployed })).toMatchObject({
      hosting: { upstream: { secret: 'STOCK_TOKEN' }, route: 'gateway', callers: 'tokens' },
      findings: [],
      steps: [
        'Give the host the bearer token:',
        '  npx wrangler secret put STOCK_TOKEN',
        'Register it:',
        '  npx sync-card',
        'Make a token for each caller:',
        createToken,
        'Call it:',
        call('https://cards.example.org'),
      ],
    })
  })

  it.each<[string, string[], object, object, string]>([
    ['a local address without a credential', local, { route: 'gateway', callers: 'tokens' }, {}, createToken],
    [
      'a credential that everyone uses by choice',
      [...remote, ...secret, '--callers', 'anyone'],
      { route: 'gateway', callers: 'anyone', upstream: { secret: 'STOCK_TOKEN' } },
      {},
      'Everyone can call it, with the rights of STOCK_TOKEN.',
    ],
    [
      'callers with a token, and no credential',
      [...remote, '--callers', 'tokens'],
      { route: 'gateway', callers: 'tokens' },
      {},
      'Only the host checks callers. If https://stock.example.org/a2a itself needs no credential, anyone can call it there.',
    ],
    [
      'users of an issuer',
      [...remote, ...secret, '--callers', 'https://login.example.org/'],
      {
        upstream: { secret: 'STOCK_TOKEN' },
        ...{ route: 'gateway', callers: 'issuer' },
        jwt: { audience: 'http://127.0.0.1:8787/agents/stock' },
      },
      {
        securitySchemes: {
          issuer: {
            type: 'openIdConnect',
            openIdConnectUrl: 'https://login.example.org/.well-known/openid-configuration',
          },
        },
      },
      'Tokens of https://login.example.org/ must have the audience http://127.0.0.1:8787/agents/stock.',
    ],
    [
      'an MCP server',
      ['--mcp', 'http://localhost:9001/mcp'],
      { upstream: { mcp: 'http://localhost:9001/mcp' }, route: 'gateway', callers: 'tokens' },
      { name: 'Stock' },
      "  printf '\\n%s' 'ALLOWED_ORIGINS=http://localhost:9001' >> .dev.vars",
    ],
    [
      "somebody else's card with a credential",
      ['--card', 'https://other.example.org/card.json', ...secret],
      {
        upstream: { card: 'https://other.example.org/card.json', secret: 'STOCK_TOKEN' },
        ...{ route: 'gateway', callers: 'tokens' },
      },
      {},
      "  printf '\\n%s' 'STOCK_TOKEN=…' >> .dev.vars",
    ],
  ])('writes the manifest for %s', async (_, args, hosting, expected, line) => {
    const started = await start(args)
    expect(started).toMatchObject({ hosting, findings: [] })
    expect(started.hosting).toEqual(hosting)
    expect(started.card ?? {}).toMatchObject(expected)
    expect(started.steps).toContain(line)
  })

  it('keeps the origins that .dev.vars allows already', async () => {
    const files = { '.dev.vars': 'ALLOWED_ORIGINS=http://localhost:1 http://localhost:9000\n' }
    expect((await start(local, { files })).steps).toContain('  npx sync-card')
    const { steps } = await start(['--url', 'http://localhost:2/'], { files })
    expect(steps).toContain(
      "  printf '\\n%s' 'ALLOWED_ORIGINS=http://localhost:1 http://localhost:9000 http://localhost:2' >> .dev.vars",
    )
  })

  it('quotes what it prints for a shell', async () => {
    const files = { '.dev.vars': `ALLOWED_ORIGINS="'; id #"\n` }
    expect((await start(['--url', "http://a'b.localhost/"], { files })).steps).toContain(
      "  printf '\\n%s' 'ALLOWED_ORIGINS='\\''; id # http://a'\\''b.localhost' >> .dev.vars",
    )
  })

  it('prints how to call an MCP server, and how to use an issuer on this machine', async () => {
    const { steps: mcp } = await start(['--mcp', 'https://tools.example.org/mcp', '--callers', 'tokens'])
    expect(mcp?.slice(-2)).toEqual([
      'Call it, with the name of a tool and its arguments:',
      expect.stringContaining('"parts":[{"data":{"skillId":"TOOL","arguments":{}}}]'),
    ])
    const { steps } = await start([...local, '--callers', 'http://localhost:8080'])
    expect(steps).toContain(
      "  printf '\\n%s' 'ALLOWED_ORIGINS=http://localhost:9000 http://localhost:8080' >> .dev.vars",
    )
    expect(steps).toContain('  CALLER_TOKEN=…')
  })

  it('says that a deployed host cannot reach a local address', async () => {
    expect((await start(local, { env: deployed })).steps?.[0]).toBe(
      'https://cards.example.org cannot reach http://localhost:9000/: give it a public https address, such as that of a tunnel, or use --host local and npm start.',
    )
  })

  it.each([
    [[...remote, '--secret', 'sk-123456'], '--secret must be the name of a Worker secret, in capital letters'],
    [[...remote, '--secret', 'PUBLIC_URL'], '--secret must not be PUBLIC_URL, which belongs to the host itself'],
    [[...remote, '--callers', 'everyone'], '--callers must be anyone, tokens, or the URL of an OpenID Connect issuer'],
    [['--mcp', 'localhost:9001'], '--mcp must be an absolute URL with http or https'],
    [[...remote, '--mcp', 'http://localhost:9001'], '--url, --mcp and --card exclude each other'],
  ])('rejects %j (exit 2)', async (args, reason) => {
    const { code, stderr } = await start(args)
    expect([code, stderr]).toEqual([2, expect.stringContaining(reason)])
  })
})

describe('sync-card init in a folder with files', () => {
  it.each([
    ['a file of the same name', { 'cards/weather.yaml': 'mine' }, 'cards/weather.yaml'],
    ['a card of the same id in another format', { 'cards/weather.json': card('weather') }, 'cards/weather.json'],
    ['a card with the id', { 'cards/other.yaml': { id: 'weather', card: card('weather') } }, 'cards/other.yaml'],
  ])('does not overwrite %s, and names it (exit 2)', async (_, files, named) => {
    const workspace = new Workspace(files)
    const before = read(workspace, named)
    const { code, stderr } = await workspace.run(['init', ...flags])
    expect(stderr).toBe(`sync-card: ${named} exists, and is not overwritten: give another id, or edit it.\n`)
    expect({ code, after: read(workspace, named), cards: readdirSync(join(workspace.folder, 'cards')) }).toEqual({
      code: 2,
      after: before,
      cards: [basename(named)],
    })
  })

  it('does not write through a link that leads out of the folder (exit 2)', async () => {
    const [workspace, outside] = [new Workspace(), new Workspace()]
    mkdirSync(join(workspace.folder, 'cards'))
    symlinkSync(join(outside.folder, 'target'), join(workspace.folder, 'cards/weather.yaml'))
    const { code, stderr } = await workspace.run(['init', ...flags])
    expect(stderr).toContain('cards/weather.yaml exists')
    expect({ code, files: readdirSync(outside.folder) }).toEqual({ code: 2, files: [] })
  })

  it('leaves defaults as they are', async () => {
    const workspace = new Workspace({ 'cards/defaults.json': { visibility: 'internal' } })
    const { code, stdout } = await workspace.run(['init', ...flags])
    expect({ code, stdout }).toEqual({ code: 0, stdout: '+ created cards/weather.yaml\n' })
    expect(existsSync(join(workspace.folder, 'cards/defaults.yaml'))).toBe(false)
  })

  it('reports a folder that cannot be written (exit 2)', async () => {
    const { code, stderr } = await new Workspace({ cards: 'a file' }).run(['init', ...flags])
    expect(stderr).toMatch(/^sync-card: Cannot write cards\/weather\.yaml: /)
    expect(code).toBe(2)
  })

  it.each([
    ['creates .gitignore', undefined, '.env\n.env.*\n!.env.example\n'],
    ['completes .gitignore', 'out\n.env', 'out\n.env\n.env.*\n!.env.example\n'],
    ['leaves a complete .gitignore', '.env\r\n.env.*\r\n!.env.example', '.env\r\n.env.*\r\n!.env.example'],
  ])('%s in a git repository', async (_, before, after) => {
    const workspace = new Workspace({ '.git/HEAD': '', ...(before !== undefined && { '.gitignore': before }) })
    await workspace.run(['init', ...flags])
    expect(read(workspace, '.gitignore')).toBe(after)
  })
})

describe('sync-card init in a terminal', () => {
  const run = async (args: readonly string[], typed: string) => {
    const workspace = new Workspace()
    return { workspace, ...(await workspace.run(['init', ...args], {}, typed)) }
  }

  it('asks for what a card needs, again where an answer is not valid', async () => {
    const typed = `toString\n\nWeather\n\nWeather\n${answers.description}\nhere\n${answers.url}\nsk-1\n\nme\n\n`
    const { workspace, code, stderr } = await run([], typed)
    expect(code).toBe(0)
    const reach =
      'How is it reached: public, local (an address), mcp (a server), or card (that of somebody else)? (public) '
    const secret = 'If it needs a bearer token, which secret of the host contains it, such as STOCK_TOKEN? '
    const callers =
      'Who may call it: anyone, tokens (callers with a token of this host), or an OpenID Connect issuer (its URL)? (anyone) '
    expect(stderr.split('\n').slice(0, 7)).toEqual([
      `${reach}  The answer must be one of public, local, mcp, card.`,
      `${reach}What is the agent called? (My Agent) What does it do, for whom, and what does it need to know?   The description must not be empty.`,
      'What does it do, for whom, and what does it need to know?   The description is too vague for routing: name the action, its object and its result, as in "Reads PDF invoices and returns their amounts as JSON".',
      'What does it do, for whom, and what does it need to know? What is its URL? (https://weather.example.com/a2a)   The URL is relative: it must be absolute, such as https://agent.example.com/a2a.',
      `What is its URL? (https://weather.example.com/a2a) ${secret}  The secret must be the name of a Worker secret, in capital letters such as WEATHER_TOKEN, never its value.`,
      `${secret}${callers}  The answer must be anyone, tokens, or the URL of an OpenID Connect issuer, such as https://login.example.com.`,
      `${callers}Edit cards/weather.yaml to add what else clients should know.`,
    ])
    expect(read(workspace, 'cards/weather.yaml')).toBe(starterCard(answers))
  })

  it('asks only for what the flags do not give', async () => {
    const { workspace, stderr } = await run(flags.slice(0, 4), '\n\n\n\n')
    expect(stderr).toContain('What is its URL? (https://weather.example.com/a2a) ')
    expect(stderr).toContain('Edit cards/weather.yaml: its URL, https://weather.example.com/a2a, is only an example.')
    expect(stderr).not.toContain('called?')
    expect(read(workspace, 'cards/weather.yaml')).toBe(
      starterCard({ ...answers, url: 'https://weather.example.com/a2a' }),
    )
  })

  it('writes the starter if every default is taken, and says that it is skipped', async () => {
    const { workspace, code, stderr } = await run([], '\n'.repeat(6))
    expect(isUneditedStarter(parse(read(workspace, 'cards/my-agent.yaml')))).toBe(true)
    expect(stderr).toContain('Edit cards/my-agent.yaml: sync-card skips it as long as it describes no agent.')
    expect(code).toBe(0)
  })

  it('asks for another name if its file exists', async () => {
    const workspace = new Workspace({ 'cards/weather.json': card('weather') })
    const { stderr } = await workspace.run(['init', ...flags.slice(2)], {}, 'Weather\nClimate\n\n\n')
    expect(stderr).toContain('cards/weather.json exists, and is not overwritten')
    expect(existsSync(join(workspace.folder, 'cards/climate.yaml'))).toBe(true)
  })

  it('writes nothing if the prompt is left', async () => {
    const { workspace, code, stdout, stderr } = await run([], '\nWeather\n')
    expect(stderr).toMatch(/\nNothing is written\.\n$/)
    expect({ code, stdout, files: readdirSync(workspace.folder) }).toEqual({ code: 2, stdout: '', files: [] })
  })
})
