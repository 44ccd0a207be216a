import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { run as runCommand } from '../../cli/cli.ts'
import { isUneditedStarter, starterCard } from '../../cli/manifests/starter.ts'
import { card, containing, matching, readFrom, Workspace } from './workspace.ts'

const answers = {
  name: 'Weather',
  description: 'Forecasts the weather of any place',
  url: 'https://weather.example.org/a2a',
}
const flagsWith = (changes: Partial<typeof answers>) =>
  Object.entries({ ...answers, ...changes }).flatMap(([name, value]) => [`--${name}`, value])
const flags = flagsWith({})

/** Runs `sync-card init` without variables. */
const init = (workspace: Workspace, args: readonly string[] = flags, typed?: string) =>
  workspace.run(['init', ...args], {}, typed)

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
    const workspace = new Workspace({ 'Rain Team/notes.txt': '' })
    const { io, output } = workspace.io()
    const code = await runCommand(['init', ...flags], { ...io, cwd: join(workspace.folder, 'Rain Team') })
    const { stdout, stderr } = output()
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout:
        '+ created cards/weather.yaml\n+ created cards/defaults.yaml: the set rain-team; another owner of the same host needs another name\n',
    })
    expect(stderr).toMatch(
      /\nThen check it with npx sync-card lint, and publish it with npx sync-card\.\nIt goes to http:\/\/127\.0\.0\.1:8787\. For another host, write its SYNC_CARD_URL and SYNC_CARD_TOKEN into \.env\.\n$/,
    )
    expect(read(workspace, 'Rain Team/cards/weather.yaml')).toBe(starterCard(answers))
    expect(parse(read(workspace, 'Rain Team/cards/defaults.yaml'))).toEqual({ set: 'rain-team' })
  })

  it('names the schema of the host that it would talk to, or that --host names', async () => {
    const schema = '# yaml-language-server: $schema='
    const workspace = new Workspace({ '.env': 'SYNC_CARD_URL=https://cards.example.com/' })
    const { stderr } = await init(workspace)
    expect(stderr).toMatch(/\nIt goes to https:\/\/cards\.example\.com\.\n$/)
    expect(read(workspace, 'cards/weather.yaml')).toContain(`${schema}https://cards.example.com/schema/manifest.json\n`)
    const other = new Workspace({ 'sync-card.yaml': { hosts: { prod: { url: 'https://prod.example.com' } } } })
    await init(other, [...flags, '--host', 'prod'])
    expect(read(other, 'cards/weather.yaml')).toContain(`${schema}https://prod.example.com/schema/manifest.json\n`)
  })

  it('names the file after the id, or the name', async () => {
    const rows: [id: string[], name: string, file: string][] = [
      [['rain-and-sun'], 'Weather', 'rain-and-sun'],
      [[], 'Wetter für Köln', 'wetter-fur-koln'],
      [[], '天気', 'my-agent'],
    ]
    for (const [id, name, file] of rows) {
      const workspace = new Workspace()
      expect((await init(workspace, [...id, ...flagsWith({ name })])).code).toBe(0)
      expect(parse(read(workspace, `cards/${file}.yaml`)).card.name).toBe(name)
    }
  })

  it('rejects a value or an id that is not valid, or is missing without a terminal, and writes nothing (exit 2)', async () => {
    const named = flags.slice(0, 4)
    const rows: [args: string[], reason: string][] = [
      [flagsWith({ name: ' ' }), '--name must not be empty.'],
      [flagsWith({ description: 'Weather' }), '--description is too vague for routing'],
      [flagsWith({ url: 'weather.example.org' }), '--url is relative: it must be absolute'],
      [[...flags, '--secret', 'sk-123456'], '--secret must be the name of a Worker secret, in capital'],
      [[...flags, '--callers', 'everyone'], '--callers must be anyone, tokens, or the URL of an OpenID'],
      [[...named, '--mcp', 'localhost:9001'], '--mcp must be an absolute URL with http or https'],
      [[...flags, '--mcp', 'http://localhost:1'], '--url, --mcp and --card exclude each other'],
      [['../escape', ...flags], '"../escape" is not an id: use lowercase letters, digits and hyphens, such as escape.'],
      [['defaults', ...flags], 'cards/defaults.yaml would not be read as a card'],
      [['readme', ...flags], 'cards/readme.yaml would not be read as a card'],
      [[], 'No terminal: pass --name, --description and --url. --mcp or --card may replace --url.\n'],
      [[...flags.slice(0, 2), ...flags.slice(4)], 'No terminal: pass --description.\n'],
    ]
    for (const [args, reason] of rows) {
      const workspace = new Workspace()
      expect(await init(workspace, args)).toMatchObject({ code: 2, stdout: '', stderr: containing(reason) })
      expect(readdirSync(workspace.folder)).toEqual([])
    }
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
  const gateway = { route: 'gateway', callers: 'tokens' }
  const withSecret = { ...gateway, upstream: { secret: 'STOCK_TOKEN' } }
  const createToken = '  CALLER_TOKEN=$(npx sync-card token create --scope call --agent stock)'
  const call = (host: string, token = '-H "Authorization: Bearer $CALLER_TOKEN" ') =>
    `  curl ${token}${host}/agents/stock -H 'Content-Type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"1","role":"ROLE_USER","parts":[{"text":"hello"}]}}}'`

  it('writes the manifest, and prints each command until the first call, on this machine and at a deployed host', async () => {
    expect(await start([...local, ...secret])).toMatchObject({
      ...{ hosting: withSecret, findings: [] },
      card: { supportedInterfaces: [{ url: 'http://localhost:9000/' }] },
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
    expect(await start([...remote, ...secret], { env: deployed })).toMatchObject({
      ...{ hosting: withSecret, findings: [] },
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

  it('writes the manifest for each kind of agent and of callers', async () => {
    const [mcp, other] = ['http://localhost:9001/mcp', 'https://other.example.org/card.json']
    const issuer = 'https://login.example.org/'
    const toAnyone = [...remote, ...secret, '--callers', 'anyone']
    const forAnyone = { ...withSecret, callers: 'anyone' }
    const audience = 'http://127.0.0.1:8787/agents/stock'
    const openIdConnectUrl = `${issuer}.well-known/openid-configuration`
    const rows: [args: string[], hosting: object, step: string, card?: object][] = [
      [local, gateway, createToken],
      [toAnyone, forAnyone, 'Everyone can call it, with the rights of STOCK_TOKEN.'],
      [toAnyone, forAnyone, call('http://127.0.0.1:8787', '')],
      [
        [...remote, '--callers', 'tokens'],
        gateway,
        'Only the host checks callers. If https://stock.example.org/a2a itself needs no credential, anyone can call it there.',
      ],
      [
        [...remote, ...secret, '--callers', issuer],
        { ...withSecret, callers: 'issuer', jwt: { audience } },
        `Tokens of ${issuer} must have the audience ${audience}.`,
        { securitySchemes: { issuer: { type: 'openIdConnect', openIdConnectUrl } } },
      ],
      [
        ['--mcp', mcp],
        { ...gateway, upstream: { mcp } },
        "  printf '\\n%s' 'ALLOWED_ORIGINS=http://localhost:9001' >> .dev.vars",
        { name: 'Stock' },
      ],
      [
        ['--card', other, ...secret],
        { ...gateway, upstream: { card: other, secret: 'STOCK_TOKEN' } },
        "  printf '\\n%s' 'STOCK_TOKEN=…' >> .dev.vars",
      ],
    ]
    for (const [args, hosting, step, expected = {}] of rows) {
      const started = await start(args)
      expect(started.hosting, args.join(' ')).toEqual(hosting)
      expect([started.findings, started.card ?? {}]).toEqual([[], expect.objectContaining(expected)])
      expect(started.steps).toContain(step)
    }
  })

  it('keeps the origins that .dev.vars allows already, and quotes what it prints for a shell', async () => {
    const allowing = (value: string) => ({ files: { '.dev.vars': `ALLOWED_ORIGINS=${value}\n` } })
    const files = allowing('http://localhost:1 http://localhost:9000')
    expect((await start(local, files)).steps).toContain('  npx sync-card')
    expect((await start(['--url', 'http://localhost:2/'], files)).steps).toContain(
      "  printf '\\n%s' 'ALLOWED_ORIGINS=http://localhost:1 http://localhost:9000 http://localhost:2' >> .dev.vars",
    )
    expect((await start(['--url', "http://a'b.localhost/"], allowing(`"'; id #"`))).steps).toContain(
      "  printf '\\n%s' 'ALLOWED_ORIGINS='\\''; id # http://a'\\''b.localhost' >> .dev.vars",
    )
  })

  it('prints how to call an MCP server, and how to use an issuer on this machine', async () => {
    const { steps: mcp } = await start(['--mcp', 'https://tools.example.org/mcp', '--callers', 'tokens'])
    expect(mcp?.slice(-2)).toEqual([
      'Call it, with the name of a tool and its arguments:',
      containing('"parts":[{"data":{"skillId":"TOOL","arguments":{}}}]'),
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
})

describe('sync-card init in a folder with files', () => {
  it('does not overwrite a file of the same name or a card of the same id, and names it (exit 2)', async () => {
    const rows: [file: string, content: unknown][] = [
      ['cards/weather.yaml', 'mine'],

      ['cards/other.yaml', { id: 'weather', card: card('weather') }],
    ]
    for (const [file, content] of rows) {
      const workspace = new Workspace({ [file]: content })
      const before = read(workspace, file)
      const stderr = `sync-card: ${file} exists, and is not overwritten: give another id, or edit it.\n`
      expect(await init(workspace)).toMatchObject({ code: 2, stderr })
      expect([read(workspace, file), readdirSync(join(workspace.folder, 'cards'))]).toEqual([before, [basename(file)]])
    }
  })

  it('does not write through a link that leads out of the folder (exit 2)', async () => {
    const [workspace, outside] = [new Workspace(), new Workspace()]
    mkdirSync(join(workspace.folder, 'cards'))
    symlinkSync(join(outside.folder, 'target'), join(workspace.folder, 'cards/weather.yaml'))
    expect(await init(workspace)).toMatchObject({ code: 2, stderr: containing('cards/weather.yaml exists') })
    expect(readdirSync(outside.folder)).toEqual([])
  })

  it('leaves defaults as they are', async () => {
    const workspace = new Workspace({ 'cards/defaults.json': { visibility: 'internal' } })
    expect(await init(workspace)).toMatchObject({ code: 0, stdout: '+ created cards/weather.yaml\n' })
    expect(readFrom(workspace, 'cards/defaults.yaml')).toBeUndefined()
  })

  it('reports a folder that cannot be written (exit 2)', async () => {
    const stderr = matching(/^sync-card: Cannot write cards\/weather\.yaml: /)
    expect(await init(new Workspace({ cards: 'a file' }))).toMatchObject({ code: 2, stderr })
  })

  it('completes .gitignore in a git repository', async () => {
    const rows: [before: string | undefined, after: string][] = [
      [undefined, '.env\n.env.*\n!.env.example\n'],
      ['out\n.env', 'out\n.env\n.env.*\n!.env.example\n'],
      ['.env\r\n.env.*\r\n!.env.example', '.env\r\n.env.*\r\n!.env.example'],
    ]
    for (const [before, after] of rows) {
      const workspace = new Workspace({ '.git/HEAD': '', ...(before !== undefined && { '.gitignore': before }) })
      await init(workspace)
      expect(read(workspace, '.gitignore')).toBe(after)
    }
  })
})

describe('sync-card init in a terminal', () => {
  it('asks for what a card needs, again where an answer is not valid', async () => {
    const workspace = new Workspace()
    const typed = `toString\n\nWeather\n\nWeather\n${answers.description}\nhere\n${answers.url}\nsk-1\n\nme\n\n`
    const { code, stderr } = await init(workspace, [], typed)
    expect(code).toBe(0)
    const reach =
      'Where is it: public (an https address), local (this machine), mcp (an MCP server), or card (of somebody else)? (public) '
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

  it('proposes an address, and callers with a token for one that only the host reaches', async () => {
    const described = `Weather\n${answers.description}\n`
    const path = 'https://weather.example.com'
    const rows: [typed: string, url: string, callers: string, manifest: object][] = [
      [`local\n${described}`, 'http://localhost:9000/', 'tokens', { callers: 'tokens' }],
      [`mcp\n${described}`, `${path}/mcp`, 'anyone', { upstream: { mcp: `${path}/mcp` } }],
      // Somebody else's card has a description.
      ['card\nWeather\n', `${path}/.well-known/agent-card.json`, 'anyone', { upstream: { card: containing(path) } }],
    ]
    for (const [typed, url, callers, manifest] of rows) {
      const workspace = new Workspace()
      const { code, stderr } = await init(workspace, [], `${typed}\n\n\n`)
      expect([code, stderr]).toEqual([0, containing(`What is its URL? (${url}) `)])
      expect(stderr).toContain(`an OpenID Connect issuer (its URL)? (${callers}) `)
      expect(stderr.includes('What does it do')).toBe(!typed.startsWith('card'))
      expect(parse(read(workspace, 'cards/weather.yaml'))).toMatchObject(manifest)
    }
  })

  it('asks only for what the flags do not give', async () => {
    const workspace = new Workspace()
    const { stderr } = await init(workspace, flags.slice(0, 4), '\n\n\n\n')
    expect(stderr).toContain('What is its URL? (https://weather.example.com/a2a) ')
    expect(stderr).toContain('Edit cards/weather.yaml: its URL, https://weather.example.com/a2a, is only an example.')
    expect(stderr).not.toContain('called?')
    const expected = starterCard({ ...answers, url: 'https://weather.example.com/a2a' })
    expect(read(workspace, 'cards/weather.yaml')).toBe(expected)
  })

  it('writes the starter if every default is taken, and says that it is skipped', async () => {
    const workspace = new Workspace()
    const { code, stderr } = await init(workspace, [], '\n'.repeat(6))
    expect(isUneditedStarter(parse(read(workspace, 'cards/my-agent.yaml')))).toBe(true)
    expect(stderr).toContain('Edit cards/my-agent.yaml: sync-card skips it as long as it describes no agent.')
    expect(code).toBe(0)
  })

  it('asks for another name if its file exists', async () => {
    const workspace = new Workspace({ 'cards/weather.json': card('weather') })
    const { stderr } = await init(workspace, flags.slice(2), 'Weather\nClimate\n\n\n')
    expect(stderr).toContain('cards/weather.json exists, and is not overwritten')
    expect(readFrom(workspace, 'cards/climate.yaml')).toContain('Climate')
  })

  it('writes nothing if the prompt is left', async () => {
    const workspace = new Workspace()
    const stderr = matching(/\nNothing is written\.\n$/)
    expect(await init(workspace, [], '\nWeather\n')).toMatchObject({ code: 2, stdout: '', stderr })
    expect(readdirSync(workspace.folder)).toEqual([])
  })
})
