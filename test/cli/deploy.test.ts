import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createContext, type Environment } from '../../cli/context.ts'
import { deploy } from '../../cli/deploy/deploy.ts'
import { parseDeployedUrls, parseDeployFlags, type Wrangler } from '../../cli/deploy/wrangler.ts'
import { UsageError } from '../../cli/exit-codes.ts'
import { starterCard } from '../../cli/manifests/starter.ts'
import { FakeHost } from './fake-host.ts'
import { card, useFakeHost, Workspace, waitForEnd, waitForText } from './workspace.ts'

const { host } = useFakeHost()

const workspace = (files: Record<string, unknown> = {}) => new Workspace({ 'cards/a.json': card('a'), ...files })

type Options = {
  args?: string[]
  env?: Environment
  /** Whether nobody sits at a terminal. */
  isUnattended?: boolean
  exitCode?: number
  /** The secrets of the Worker before the deployment; undefined: wrangler cannot list them. */
  secrets?: string[] | undefined
  /** The addresses that wrangler reports. */
  urls?: string[]
  needsLogin?: boolean
  /** Gets the commands of wrangler. */
  calls?: unknown[][]
  /** Called when a secret is stored; returns the exit code. */
  onPut?: () => number
}

/** Deploys with a replacement of wrangler, which deploys to the fake host. */
const runDeploy = async (folder: Workspace, options: Options = {}) => {
  const {
    args = [],
    env = {},
    isUnattended = false,
    exitCode = 0,
    urls = [host.url],
    needsLogin = false,
    calls = [],
  } = options
  const wrangler: Wrangler = {
    deploy: async (...given) => {
      calls.push(['deploy', ...given.filter(value => value !== undefined)])
      return { exitCode, urls, needsLogin }
    },
    listSecrets: async given => {
      calls.push(['list', given])
      return 'secrets' in options ? options.secrets : []
    },
    putSecret: async (name, value, given) => {
      calls.push(['put', name, given])
      host.token = value
      return options.onPut?.() ?? 0
    },
    deleteSecret: async (name, given) => {
      calls.push(['delete', name, given])
      return 0
    },
  }
  const { io, output } = folder.io(env)
  const stdin = Object.assign(io.stdin, { isTTY: !isUnattended })
  const code = await deploy(args, createContext({ ...io, stdin }, 'npm run deploy'), wrangler)
  return { code, ...output(), calls }
}

const read = ({ folder }: Workspace, name = '.env'): string | undefined =>
  existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : undefined

describe('deploy', () => {
  it('deploys with the admin token as a secret, then sends the cards and waits until they are live', async () => {
    host.slowReads = 3
    const folder = workspace({ '.env': `ADMIN_TOKEN=${host.token}` })
    const { code, stdout, stderr, calls } = await runDeploy(folder, { args: ['--minify'] })
    expect(calls).toEqual([['deploy', ['--minify'], { ADMIN_TOKEN: host.token }]])
    expect(stdout).toMatch(/\+ created {3}a .*live/)
    expect(stdout).toContain('From now on: npx sync-card\n')
    expect(stdout + stderr).not.toContain(host.token)
    expect(code).toBe(0)
  })

  it('waits until the new URL responds as a host that has its token', async () => {
    let failures = 3
    host.health.missing = ['ADMIN_TOKEN']
    host.healthFault = (_, response) => {
      failures--
      if (failures === 0) host.health.missing = []
      return failures > 0 && Boolean(response.writeHead(404).end())
    }
    const { code, stderr } = await runDeploy(workspace(), { env: { ADMIN_TOKEN: host.token } })
    expect({ code, stderr }).toEqual({ code: 0, stderr: `Waiting for ${host.url} …\n` })
  })

  it.each([
    ['with an error', 404, '{}'],
    [
      'as a host without an ADMIN_TOKEN',
      200,
      '{"service":"calling-card","version":"0.1.0","registry":"reachable","missing":["ADMIN_TOKEN"]}',
    ],
    ['with HTML', 200, '<html>'],
  ])('reports a URL that responds %s for three minutes (exit 4)', async (_, status, body) => {
    const headers = { 'Content-Type': 'application/json' }
    host.healthFault = (_, response) => Boolean(response.writeHead(status, headers).end(body))
    const { code, stderr } = await runDeploy(workspace(), { env: { ADMIN_TOKEN: host.token } })
    expect({ code, writes: host.writes }).toEqual({ code: 4, writes: [] })
    expect(stderr).toContain(`${host.url} does not respond yet. Run later: npx sync-card --url ${host.url} --wait`)
  })

  it('returns the exit code of wrangler, sends nothing and writes nothing', async () => {
    const folder = workspace()
    const { code, calls } = await runDeploy(folder, { exitCode: 7 })
    expect({ code, calls, requests: host.seen, env: read(folder) }).toEqual({
      code: 7,
      calls: [['deploy', []]],
      requests: [],
      env: undefined,
    })
  })

  it('suggests a login if wrangler has no account', async () => {
    const { code, stderr } = await runDeploy(workspace(), { exitCode: 1, needsLogin: true })
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        'npm run deploy: wrangler is not logged in to a Cloudflare account. Run `npx wrangler login`, then `npm run deploy` again. Without a terminal, set CLOUDFLARE_API_TOKEN instead.\n',
    })
  })

  it.each([['--dry-run'], ['--help'], ['-h'], ['--version']])('deploys nothing with %s', async flag => {
    const folder = workspace()
    const { code, stdout, calls } = await runDeploy(folder, { args: [flag] })
    expect({ code, calls, requests: host.seen, env: read(folder) }).toEqual({
      code: 0,
      calls: [['deploy', [flag]]],
      requests: [],
      env: undefined,
    })
    expect(stdout).toBe('Nothing was deployed, and no cards were sent.\n')
  })

  it.each([
    [
      'an ADMIN_TOKEN that can be guessed',
      { ADMIN_TOKEN: 'fifteen-letters' },
      [],
      'ADMIN_TOKEN must be at least 16 char',
    ],
    [
      'a SYNC_CARD_URL that is no URL, even if another one counts',
      { PUBLIC_URL: 'https://cards.example.com' },
      [],
      'SYNC_CARD_URL in .env: "cards" is not the URL of a host',
      { '.env': 'SYNC_CARD_URL=cards' },
    ],
    [
      'a SYNC_CARD_URL of the shell that is no URL',
      { PUBLIC_URL: 'https://cards.example.com', SYNC_CARD_URL: 'cards' },
      [],
      'SYNC_CARD_URL in the environment: "cards" is not the URL of a host',
    ],
    ['a token that no header can carry', { ADMIN_TOKEN: 'sixteen-letters-ü' }, [], 'The token has characters that no'],
    ['a sync-card.yaml with a mistake', {}, [], 'sync-card.yaml:1:1', { 'sync-card.yaml': 'host: {}' }],
    ['a PUBLIC_URL that is no URL', { PUBLIC_URL: 'cards' }, [], '"cards" is not the URL of a host'],
    [
      'an environment whose file is a template',
      {},
      ['--env', 'example'],
      '.env.example is a template that Git does not',
    ],
    ['an environment outside of the folder', {}, ['--env', '../prod'], '"../prod" is not the name of an environment'],
  ])('rejects %s before anything is deployed', async (_, env, args, message, files?: Record<string, string>) => {
    const calls: unknown[][] = []
    const deployment = runDeploy(workspace(files), { env, args, calls })
    await expect(deployment).rejects.toThrow(UsageError)
    await expect(deployment).rejects.toThrow(message)
    expect(calls).toEqual([])
  })

  it('rejects a folder .env, such as one of Python, before anything is deployed', async () => {
    const deployment = runDeploy(workspace({ '.env/pyvenv.cfg': '' }))
    await expect(deployment).rejects.toThrow('.env is a folder, so a new ADMIN_TOKEN cannot be written there')
  })

  it.skipIf(process.getuid?.() === 0)(
    'rejects a folder that cannot be written before anything is deployed',
    async () => {
      const folder = workspace()
      chmodSync(folder.folder, 0o555)
      const error = await runDeploy(folder).catch((error: Error) => error.message)
      chmodSync(folder.folder, 0o755)
      expect(error).toMatch(/^\.env cannot be written, so a new ADMIN_TOKEN would be lost/)
    },
  )
})

describe('a first deployment', () => {
  it('stores a random token, and writes it with the address into a .env that only the owner can read', async () => {
    const folder = workspace({ '.env': 'OTHER=1\nexport ADMIN_TOKEN =\nSYNC_CARD_URL=https://old.example.com' })
    const { code, stdout, stderr, calls } = await runDeploy(folder)
    expect(calls).toEqual([
      ['deploy', []],
      ['list', []],
      ['put', 'ADMIN_TOKEN', []],
    ])
    expect(host.token).toMatch(/^[\w-]{43}$/)
    expect(read(folder)).toBe(`OTHER=1\nADMIN_TOKEN=${host.token}\nSYNC_CARD_URL=${host.url}`)
    expect(statSync(join(folder.folder, '.env')).mode & 0o777).toBe(0o600)
    expect(stdout).toContain('A new ADMIN_TOKEN is in .env')
    expect(stdout + stderr).not.toContain(host.token)
    expect({ code, writes: host.writes }).toEqual({ code: 0, writes: ['PUT /agents/a'] })
  })

  it('has the token in the file before the Worker has it, and keeps it if that fails (exit 4)', async () => {
    const folder = workspace({ '.env': 'SYNC_CARD_URL=https://old.example.com' })
    const seen: (string | undefined)[] = []
    const onPut = () => {
      seen.push(read(folder))
      return 1
    }
    const { code, stderr } = await runDeploy(folder, { onPut })
    expect({ code, seen, stderr }).toEqual({
      code: 4,
      seen: [`SYNC_CARD_URL=${host.url}\nADMIN_TOKEN=${host.token}\n`],
      stderr: expect.stringContaining(
        'Deployed, but wrangler could not set the ADMIN_TOKEN of .env. Run npm run deploy again.',
      ),
    })
    const { calls } = await runDeploy(folder)
    expect(calls).toEqual([['deploy', [], { ADMIN_TOKEN: host.token }]])
  })

  it('keeps the other lines of a .env that PowerShell has written', async () => {
    const folder = workspace()
    writeFileSync(join(folder.folder, '.env'), Buffer.from('\ufeffOTHER=1\r\n', 'utf16le'))
    await runDeploy(folder)
    expect(read(folder)).toBe(`OTHER=1\r\nADMIN_TOKEN=${host.token}\nSYNC_CARD_URL=${host.url}\n`)
  })

  it('says what to do next if nobody has edited the starter card', async () => {
    const folder = new Workspace({ 'cards/my-agent.yaml': starterCard({}) })
    const { code, stdout } = await runDeploy(folder)
    expect({ code, writes: host.writes }).toEqual({ code: 0, writes: [] })
    expect(stdout).toContain(
      `${host.url} runs. There is no card to send yet.\nEdit cards/my-agent.yaml, then run: npx sync-card\n`,
    )
  })

  it('says what to do next without any cards', async () => {
    const { code, stdout } = await runDeploy(new Workspace(), { args: ['--env', 'staging'] })
    expect(code).toBe(0)
    expect(stdout).toContain('Write a card into cards/, then run: npx sync-card --host staging\n')
  })

  it.each([['cannot list the secrets', { secrets: undefined }, 2]])(
    'reports that wrangler %s, and writes nothing (exit 4)',
    async (_, options, calls) => {
      const folder = workspace()
      const result = await runDeploy(folder, options)
      expect({ code: result.code, env: read(folder), calls: result.calls.length }).toEqual({
        code: 4,
        env: undefined,
        calls,
      })
      expect(result.stderr).toContain('Deployed, but wrangler could not set the ADMIN_TOKEN.')
    },
  )

  it.each([
    ['CI', { CI: 'true' }, false],
    ['Workers Builds', { WORKERS_CI: '1' }, false],
    ['a job without a terminal', {}, true],
  ])('generates no token in %s, which would lose it', async (_, env, isUnattended) => {
    const folder = workspace()
    const { code, stdout, calls } = await runDeploy(folder, { env, isUnattended, args: ['-e', 'staging'] })
    expect({ code, calls, requests: host.seen, file: read(folder, '.env.staging') }).toEqual({
      code: 0,
      calls: [['deploy', ['-e', 'staging']]],
      requests: [],
      file: undefined,
    })
    expect(stdout).toContain('npx wrangler secret put ADMIN_TOKEN --env staging\n')
  })

  it.each([['ADMIN_TOKEN'], ['SYNC_CARD_TOKEN']])(
    'sends the cards in CI with the %s of the environment',
    async name => {
      const folder = workspace()
      const { code, stdout } = await runDeploy(folder, {
        args: ['-e', 'staging'],
        env: { CI: 'true', [name]: host.token },
      })
      expect({ code, writes: host.writes, env: read(folder) }).toEqual({
        code: 0,
        writes: ['PUT /agents/a'],
        env: undefined,
      })
      expect(stdout).toContain(`From now on: npx sync-card --url ${host.url}\n`)
    },
  )
})

describe("a colleague's clone without the token", () => {
  it('deploys the code, keeps the token of the Worker, and says what to do', async () => {
    const folder = workspace()
    const { code, stdout, calls } = await runDeploy(folder, { secrets: ['OTHER', 'ADMIN_TOKEN'] })
    expect({ code, calls, requests: host.seen }).toEqual({
      code: 0,
      calls: [
        ['deploy', []],
        ['list', []],
      ],
      requests: [],
    })
    expect(stdout).toContain(`${host.url} has an ADMIN_TOKEN that this clone does not have. It was kept`)
    expect(read(folder)).toBe(`SYNC_CARD_URL=${host.url}\n`)
  })

  it('sends the cards with a token of the clone for that address', async () => {
    const folder = workspace({ '.env': `SYNC_CARD_TOKEN=${host.token}\nSYNC_CARD_URL=${host.url}/\n` })
    const { code } = await runDeploy(folder, { secrets: ['ADMIN_TOKEN'] })
    expect({ code, writes: host.writes }).toEqual({ code: 0, writes: ['PUT /agents/a'] })
  })

  it('sends no token of the shell that belongs to another address', async () => {
    const env = { SYNC_CARD_TOKEN: host.token, SYNC_CARD_URL: 'https://other.example.com', PUBLIC_URL: host.url }
    const { code } = await runDeploy(workspace(), { secrets: ['ADMIN_TOKEN'], env })
    expect({ code, requests: host.seen }).toEqual({ code: 0, requests: [] })
  })
})

describe('the address', () => {
  it('with --env is the deployed one or that of .env.NAME, whatever .env and the shell name', async () => {
    const other = await new FakeHost().listen()
    const env = { ADMIN_TOKEN: `${other.token}-of-prod`, SYNC_CARD_URL: other.url, PUBLIC_URL: other.url }
    const files = { '.env': `ADMIN_TOKEN=${other.token}-of-prod\nSYNC_CARD_URL=${other.url}` }
    const folder = workspace(files)
    const { code, stdout, calls } = await runDeploy(folder, { args: ['--env', 'staging'], env })
    await other.close()
    expect(calls).toEqual([
      ['deploy', ['--env', 'staging']],
      ['list', ['--env', 'staging']],
      ['put', 'ADMIN_TOKEN', ['--env', 'staging']],
    ])
    expect({ code, writes: host.writes, other: other.seen }).toEqual({ code: 0, writes: ['PUT /agents/a'], other: [] })
    expect(read(folder)).toBe(files['.env'])
    expect(read(folder, '.env.staging')).toBe(`ADMIN_TOKEN=${host.token}\nSYNC_CARD_URL=${host.url}\n`)
    expect(stdout).toContain('From now on: npx sync-card --host staging\n')
  })

  it('is PUBLIC_URL of the shell rather than the one that wrangler reports, and this is said', async () => {
    const other = await new FakeHost().listen()
    const env = { ADMIN_TOKEN: other.token, PUBLIC_URL: other.url }
    const { code, stderr } = await runDeploy(workspace(), { env })
    expect({ code, writes: other.writes, requests: host.seen }).toEqual({
      code: 0,
      writes: ['PUT /agents/a'],
      requests: [],
    })
    expect(stderr).toContain(`wrangler reports ${host.url}. Using ${other.url}.`)
    await other.close()
  })

  it('is the configured one of several that wrangler reports', async () => {
    const folder = workspace({ '.env': `ADMIN_TOKEN=${host.token}\nSYNC_CARD_URL=${host.url}` })
    const { code, stderr } = await runDeploy(folder, { urls: ['https://cards.acme.workers.dev', host.url] })
    expect({ code, writes: host.writes, stderr }).toEqual({
      code: 0,
      writes: ['PUT /agents/a'],
      stderr: `Waiting for ${host.url} …\n`,
    })
  })

  it('is never a configured one for a new token', async () => {
    const other = await new FakeHost().listen()
    const { code } = await runDeploy(workspace(), { env: { SYNC_CARD_URL: other.url } })
    await other.close()
    expect({ code, writes: host.writes, other: other.seen }).toEqual({ code: 0, writes: ['PUT /agents/a'], other: [] })
  })

  it.each([
    ['SYNC_CARD_URL', true],
    ['PUBLIC_URL', false],
  ])('is never of the shell for the token of .env: %s', async (variable, isBound) => {
    const other = await new FakeHost().listen()
    const folder = workspace({ '.env': `ADMIN_TOKEN=${host.token}\n${isBound ? `SYNC_CARD_URL=${host.url}\n` : ''}` })
    const { code } = await runDeploy(folder, { env: { [variable]: other.url }, ...(isBound && { urls: [] }) })
    await other.close()
    expect({ code, writes: host.writes, other: other.seen }).toEqual({ code: 0, writes: ['PUT /agents/a'], other: [] })
  })

  it('is of the shell for the token of .env if wrangler reports it too', async () => {
    const folder = workspace({ '.env': `ADMIN_TOKEN=${host.token}\nSYNC_CARD_URL=https://old.example.com\n` })
    const urls = ['https://cards.acme.workers.dev', host.url]
    const { code } = await runDeploy(folder, { env: { PUBLIC_URL: host.url }, urls })
    expect({ code, writes: host.writes }).toEqual({ code: 0, writes: ['PUT /agents/a'] })
  })

  it('is missing if wrangler reports none and nothing is configured, but a new token is kept (exit 2)', async () => {
    const folder = workspace()
    const { code, stderr } = await runDeploy(folder, { urls: [] })
    expect({ code, env: read(folder) }).toEqual({ code: 2, env: `ADMIN_TOKEN=${host.token}\n` })
    expect(stderr).toContain('Write SYNC_CARD_URL into .env.')
  })
})

describe('npm run deploy', () => {
  /** Does what wrangler does to its surroundings: reads the secrets, writes the output file, lists and stores secrets. */
  const fakeWrangler = `#!${process.execPath}
const { appendFileSync, readFileSync, writeFileSync } = require('node:fs')
const args = process.argv.slice(2)
const file = args[args.indexOf('--secrets-file') + 1]
const secrets = args.includes('--secrets-file') ? JSON.parse(readFileSync(file, 'utf8')) : undefined
appendFileSync('calls.ndjson', JSON.stringify({ args, secrets, pid: process.pid }) + '\\n')
if (process.env.FAILURE) {
  writeFileSync(process.env.WRANGLER_OUTPUT_FILE_PATH, JSON.stringify({ type: 'command-failed', version: 1, message: process.env.FAILURE }) + '\\n')
  process.exit(1)
}
if (process.env.WAIT) setInterval(() => {}, 1000), console.log('waiting')
else if (args[0] === 'deploy') writeFileSync(process.env.WRANGLER_OUTPUT_FILE_PATH, [{ type: 'wrangler-session' }, { type: 'deploy', targets: [process.env.TARGET] }].map(entry => JSON.stringify(entry) + '\\n').join(''))
`
  const start = (files: Record<string, unknown>, args: string[], more: Environment = {}) => {
    const folder = workspace({ 'bin/wrangler': fakeWrangler, ...files })
    chmodSync(join(folder.folder, 'bin/wrangler'), 0o755)
    const env = { PATH: join(folder.folder, 'bin'), TARGET: host.url, ...more }
    const calls = () =>
      (read(folder, 'calls.ndjson') ?? '')
        .split('\n')
        .filter(Boolean)
        .map(line => JSON.parse(line))
    const child = folder.spawn('deploy.ts', args, env)
    return { calls, child, ended: waitForEnd(child) }
  }

  it('runs wrangler with its arguments, no variable of .env, and a secrets file that is deleted afterwards', async () => {
    const variables = 'NODE_OPTIONS=--require=./hostile.cjs\nPATH=hostile\nWAIT=1\n'
    const files = { '.env': variables, '.env.staging': `${variables}ADMIN_TOKEN=${host.token}` }
    const { calls, ended } = start(files, ['--env', 'staging'])
    const { code, stdout } = await ended
    const [{ args, secrets }, ...others] = calls()
    expect(args).toEqual(['deploy', '--secrets-file', expect.any(String), '--env', 'staging'])
    expect({ secrets, others }).toEqual({ secrets: { ADMIN_TOKEN: host.token }, others: [] })
    expect(existsSync(args[2])).toBe(false)
    expect(stdout).toMatch(/\+ created {3}a .*live/)
    expect(code).toBe(0)
  })

  it('recognizes that wrangler has no account', async () => {
    const FAILURE =
      "In a non-interactive environment, it's necessary to set a CLOUDFLARE_API_TOKEN environment variable"
    const { code, stderr } = await start({ '.env': `ADMIN_TOKEN=${host.token}` }, [], { FAILURE }).ended
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('Run `npx wrangler login`') })
  })

  it('passes on SIGTERM to wrangler, and leaves no secrets behind', async () => {
    const { calls, child, ended } = start({ '.env': `ADMIN_TOKEN=${host.token}` }, [], { WAIT: '1' })
    await waitForText(child.stdout, 'waiting')
    child.kill('SIGTERM')
    const { code } = await ended
    expect(existsSync(calls()[0].args[2])).toBe(false)
    expect({ code, requests: host.seen }).toEqual({ code: 1, requests: [] })
  })

  it('survives Ctrl-C until wrangler has ended, and leaves no secrets behind', async () => {
    const { calls, child, ended } = start({ '.env': `ADMIN_TOKEN=${host.token}` }, [], { WAIT: '1' })
    await waitForText(child.stdout, 'waiting')
    child.kill('SIGINT')
    process.kill(calls()[0].pid, 'SIGINT')
    expect((await ended).code).toBe(1)
    expect(existsSync(calls()[0].args[2])).toBe(false)
  })

  it('reports wrong usage without a stack (exit 2)', async () => {
    const { calls, ended } = start({ '.env': 'ADMIN_TOKEN=fifteen-letters' }, [])
    const { code, stderr } = await ended
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr:
        'npm run deploy: ADMIN_TOKEN must be at least 16 characters. Remove it from the environment and .env to have a random one generated.\n',
    })
    expect(calls()).toEqual([])
  })
})

describe('parseDeployFlags', () => {
  it.each([
    [[], {}, { environment: '', isDry: false, worker: [] }],
    [
      ['--env=staging'],
      { CLOUDFLARE_ENV: 'prod' },
      { environment: 'staging', isDry: false, worker: ['--env', 'staging'] },
    ],
    [['--minify'], { CLOUDFLARE_ENV: 'prod' }, { environment: 'prod', isDry: false, worker: [] }],
    [
      ['-e', 'a', '--var', 'X:1', '--name', 'n', '-c', 'w.toml', '--dry-run', '--env-file', 'f'],
      {},
      { environment: 'a', isDry: true, worker: ['--env', 'a', '--name', 'n', '--config', 'w.toml', '--env-file', 'f'] },
    ],
  ])('reads %j with %j', (args, env, flags) => {
    expect(parseDeployFlags(args, env)).toEqual(flags)
  })
})

describe('parseDeployedUrls', () => {
  it.each([
    [['https://cards.acme.workers.dev'], ['https://cards.acme.workers.dev']],
    [['cards.acme.workers.dev'], ['https://cards.acme.workers.dev']],
    [
      ['schedule: 0 * * * *', 'cards.example.com (custom domain)', 'cards.acme.workers.dev'],
      ['https://cards.example.com', 'https://cards.acme.workers.dev'],
    ],
    [['cards.example.com/* (zone name: example.com)'], ['https://cards.example.com']],
    [['*.example.com/*'], []],
    [[], []],
  ])('finds in %j %j', (targets, urls) => {
    expect(parseDeployedUrls(`${JSON.stringify({ type: 'deploy', targets })}\n`)).toEqual(urls)
  })

  it('finds nothing if nothing was deployed', () => {
    expect(parseDeployedUrls('{"type":"wrangler-session"}\nnot json\n')).toEqual([])
  })
})
