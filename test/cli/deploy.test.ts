import { chmodSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createContext, type Environment } from '../../cli/context.ts'
import { deploy } from '../../cli/deploy/deployment.ts'
import { parseDeployedUrls, parseDeployFlags, type Wrangler } from '../../cli/deploy/wrangler.ts'
import { UsageError } from '../../cli/errors.ts'
import { starterCard } from '../../cli/manifests/starter.ts'
import { FakeHost, json } from './fake-host.ts'
import { card, containing, matching, readFrom, useFakeHost, Workspace } from './workspace.ts'

const { host, renew } = useFakeHost()

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
  /** Gets the commands of wrangler, that of a deployment with its secrets. */
  calls?: string[]
  /** Called when a secret is stored; returns the exit code. */
  onPut?: () => number
}

/** Deploys with a replacement of wrangler, which deploys to the fake host; returns also the requests and the .env. */
const runDeploy = async (folder: Workspace, options: Options = {}) => {
  const { args = [], env = {}, isUnattended = false, exitCode = 0, urls = [host.url] } = options
  const { needsLogin = false, calls = [] } = options
  const wrangler: Wrangler = {
    deploy: async (given, secrets) => {
      calls.push(['deploy', ...given, ...(secrets ? [JSON.stringify(secrets)] : [])].join(' '))
      return { exitCode, urls, needsLogin }
    },
    listSecrets: async given => {
      calls.push(['list', ...given].join(' '))
      return 'secrets' in options ? options.secrets : []
    },
    putSecret: async (name, value, given) => {
      calls.push(['put', name, ...given].join(' '))
      host.token = value
      return options.onPut?.() ?? 0
    },
    deleteSecret: async (name, given) => {
      calls.push(['delete', name, ...given].join(' '))
      return 0
    },
  }
  const { io, output } = folder.io(env)
  const stdin = Object.assign(io.stdin, { isTTY: !isUnattended })
  const code = await deploy(args, createContext({ ...io, stdin }, 'npm run deploy'), wrangler)
  return { code, ...output(), calls, writes: host.writes, requests: host.seen, envFile: readFrom(folder, '.env') }
}

const sent = { code: 0, writes: ['PUT /agents/a'] }
const nothingSent = { code: 0, requests: [] }

describe('deploy', () => {
  it('deploys with the admin token as a secret, then sends the cards and waits until they are live', async () => {
    host.slowReads = 3
    const folder = workspace({ '.env': `ADMIN_TOKEN=${host.token}` })
    const { code, stdout, stderr, calls } = await runDeploy(folder, { args: ['--minify'] })
    expect(calls).toEqual([`deploy --minify {"ADMIN_TOKEN":"${host.token}"}`])
    expect(stdout).toMatch(/\+ created {3}a .*live[\s\S]*From now on: npx sync-card\n/)
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
    const ended = await runDeploy(workspace(), { env: { ADMIN_TOKEN: host.token } })
    expect(ended).toMatchObject({ code: 0, stderr: `Waiting for ${host.url} …\n` })
  })

  it('reports a URL that does not respond as a host with an ADMIN_TOKEN for three minutes (exit 4)', async () => {
    const health = { service: 'calling-card', version: '0.1.0', registry: 'reachable', missing: ['ADMIN_TOKEN'] }
    host.healthFault = (_, response) => Boolean(json(response, 200, health))
    const ended = await runDeploy(workspace(), { env: { ADMIN_TOKEN: host.token } })
    const advice = `${host.url} does not respond yet. Run later: npx sync-card --url ${host.url} --wait`
    expect(ended).toMatchObject({ code: 4, writes: [], stderr: containing(advice) })
  })

  it('sends and writes nothing if wrangler fails, and suggests a login if it has no account', async () => {
    expect(await runDeploy(workspace(), { exitCode: 7, needsLogin: true })).toMatchObject({
      ...{ code: 7, calls: ['deploy'], requests: [], envFile: undefined },
      stderr:
        'npm run deploy: wrangler is not logged in to a Cloudflare account. Run `npx wrangler login`, then `npm run deploy` again. Without a terminal, set CLOUDFLARE_API_TOKEN instead.\n',
    })
  })

  it('deploys nothing with an option that only shows something', async () => {
    for (const flag of ['--dry-run', '--help', '-h', '--version'])
      expect(await runDeploy(workspace(), { args: [flag] })).toMatchObject({
        ...{ code: 0, calls: [`deploy ${flag}`], requests: [], envFile: undefined },
        stdout: 'Nothing was deployed, and no cards were sent.\n',
      })
  })

  it('rejects a mistake before anything is deployed', async () => {
    const PUBLIC_URL = 'https://cards.example.com'
    const rows: [message: string, options: Options, files?: Record<string, string>][] = [
      ['ADMIN_TOKEN must be at least 16 char', { env: { ADMIN_TOKEN: 'fifteen-letters' } }],
      // Even if another URL counts.
      ['SYNC_CARD_URL in .env: "cards" is not the URL', { env: { PUBLIC_URL } }, { '.env': 'SYNC_CARD_URL=cards' }],
      [
        'SYNC_CARD_URL in the environment: "cards" is not the URL of a host',
        { env: { PUBLIC_URL, SYNC_CARD_URL: 'cards' } },
      ],
      ['The token has characters that no', { env: { ADMIN_TOKEN: 'sixteen-letters-ü' } }],
      ['sync-card.yaml:1:1', {}, { 'sync-card.yaml': 'host: {}' }],
      ['.env.example is a template that Git does not', { args: ['--env', 'example'] }],
      ['"../prod" is not the name of an environment', { args: ['--env', '../prod'] }],
      // Such as one of Python.
      ['.env is a folder, so a new ADMIN_TOKEN cannot be written there', {}, { '.env/pyvenv.cfg': '' }],
    ]
    for (const [message, options, files] of rows) {
      const calls: string[] = []
      const error = await runDeploy(workspace(files), { ...options, calls }).catch((error: unknown) => error)
      expect(error, message).toBeInstanceOf(UsageError)
      expect([(error as UsageError).message, calls]).toEqual([containing(message), []])
    }
  })

  it.skipIf(process.getuid?.() === 0)('rejects a folder that cannot be written', async () => {
    const folder = workspace()
    chmodSync(folder.folder, 0o555)
    const error = await runDeploy(folder).catch((error: Error) => error.message)
    chmodSync(folder.folder, 0o755)
    expect(error).toMatch(/^\.env cannot be written, so a new ADMIN_TOKEN would be lost/)
  })
})

describe('a first deployment', () => {
  it('stores a random token, and writes it with the address into a .env that only the owner can read', async () => {
    const folder = workspace({ '.env': 'OTHER=1\nexport ADMIN_TOKEN =\nSYNC_CARD_URL=https://old.example.com' })
    const { stdout, stderr, ...ended } = await runDeploy(folder)
    expect(host.token).toMatch(/^[\w-]{43}$/)
    expect(ended).toMatchObject({
      ...sent,
      calls: ['deploy', 'list', 'put ADMIN_TOKEN'],
      envFile: `OTHER=1\nADMIN_TOKEN=${host.token}\nSYNC_CARD_URL=${host.url}`,
    })
    expect(statSync(join(folder.folder, '.env')).mode & 0o777).toBe(0o600)
    expect(stdout).toContain('A new ADMIN_TOKEN is in .env')
    expect(stdout + stderr).not.toContain(host.token)
  })

  it('has the token in the file before the Worker has it, and keeps it if that fails (exit 4)', async () => {
    const folder = workspace({ '.env': 'SYNC_CARD_URL=https://old.example.com' })
    const seen: (string | undefined)[] = []
    const onPut = () => {
      seen.push(readFrom(folder, '.env'))
      return 1
    }
    const advice = 'Deployed, but wrangler could not set the ADMIN_TOKEN of .env. Run npm run deploy again.'
    expect(await runDeploy(folder, { onPut })).toMatchObject({ code: 4, stderr: containing(advice) })
    expect(seen).toEqual([`SYNC_CARD_URL=${host.url}\nADMIN_TOKEN=${host.token}\n`])
    const { calls } = await runDeploy(folder)
    expect(calls).toEqual([`deploy {"ADMIN_TOKEN":"${host.token}"}`])
  })

  it('says what to do next without cards, or if nobody has edited the starter card', async () => {
    const folder = new Workspace({ 'cards/my-agent.yaml': starterCard({}) })
    const next = `${host.url} runs. There is no card to send yet.\nEdit cards/my-agent.yaml, then run: npx sync-card\n`
    expect(await runDeploy(folder)).toMatchObject({ code: 0, writes: [], stdout: containing(next) })
    expect(await runDeploy(new Workspace(), { args: ['--env', 'staging'] })).toMatchObject({
      ...{ code: 0, stdout: containing('Write a card into cards/, then run: npx sync-card --host staging\n') },
    })
  })

  it('reports that wrangler cannot list the secrets, and writes nothing (exit 4)', async () => {
    const { calls, ...ended } = await runDeploy(workspace(), { secrets: undefined })
    const reason = 'Deployed, but wrangler could not set the ADMIN_TOKEN.'
    expect(ended).toMatchObject({ code: 4, envFile: undefined, stderr: containing(reason) })
    expect(calls).toHaveLength(2)
  })

  it('generates no token in CI or a job without a terminal, which would lose it', async () => {
    for (const options of [{ env: { CI: 'true' } }, { env: { WORKERS_CI: '1' } }, { isUnattended: true }]) {
      const folder = workspace()
      expect(await runDeploy(folder, { ...options, args: ['-e', 'staging'] })).toMatchObject({
        ...{ ...nothingSent, calls: ['deploy -e staging'] },
        stdout: containing('npx wrangler secret put ADMIN_TOKEN --env staging\n'),
      })
      expect(readFrom(folder, '.env.staging')).toBeUndefined()
    }
  })

  it('sends the cards in CI with the token of the environment', async () => {
    const options = { args: ['-e', 'staging'], env: { CI: 'true', SYNC_CARD_TOKEN: host.token } }
    expect(await runDeploy(workspace(), options)).toMatchObject({
      ...{ ...sent, envFile: undefined, stdout: containing(`From now on: npx sync-card --url ${host.url}\n`) },
    })
  })
})

describe("a colleague's clone without the token", () => {
  it('deploys the code, keeps the token of the Worker, and says what to do', async () => {
    expect(await runDeploy(workspace(), { secrets: ['OTHER', 'ADMIN_TOKEN'] })).toMatchObject({
      ...{ ...nothingSent, calls: ['deploy', 'list'], envFile: `SYNC_CARD_URL=${host.url}\n` },
      stdout: containing(`${host.url} has an ADMIN_TOKEN that this clone does not have. It was kept`),
    })
  })

  it('sends the cards with a token of the clone for that address', async () => {
    const folder = workspace({ '.env': `SYNC_CARD_TOKEN=${host.token}\nSYNC_CARD_URL=${host.url}/\n` })
    expect(await runDeploy(folder, { secrets: ['ADMIN_TOKEN'] })).toMatchObject(sent)
  })

  it('sends no token of the shell that belongs to another address', async () => {
    const env = { SYNC_CARD_TOKEN: host.token, SYNC_CARD_URL: 'https://other.example.com', PUBLIC_URL: host.url }
    expect(await runDeploy(workspace(), { secrets: ['ADMIN_TOKEN'], env })).toMatchObject(nothingSent)
  })
})

describe('the address', () => {
  /** Deploys beside another host, and returns what that got, too. */
  const besideOther = async (deployment: (other: FakeHost) => ReturnType<typeof runDeploy>) => {
    const other = await new FakeHost().listen()
    const ended = await deployment(other)
    await other.close()
    return { ...ended, other }
  }
  const sentToItsHost = { ...sent, other: { seen: [] } }

  it('with --env is the deployed one or that of .env.NAME, whatever .env and the shell name', async () => {
    const folder = workspace()
    const { stdout, calls, ...ended } = await besideOther(other => {
      const ofProd = { ADMIN_TOKEN: `${other.token}-of-prod`, SYNC_CARD_URL: other.url }
      folder.write({ '.env': `ADMIN_TOKEN=${ofProd.ADMIN_TOKEN}\nSYNC_CARD_URL=${other.url}` })
      return runDeploy(folder, { args: ['--env', 'staging'], env: { ...ofProd, PUBLIC_URL: other.url } })
    })
    expect(calls).toEqual(['deploy --env staging', 'list --env staging', 'put ADMIN_TOKEN --env staging'])
    expect(ended).toMatchObject({ ...sentToItsHost, envFile: matching(/-of-prod\nSYNC_CARD_URL=\S+$/) })
    expect(readFrom(folder, '.env.staging')).toBe(`ADMIN_TOKEN=${host.token}\nSYNC_CARD_URL=${host.url}\n`)
    expect(stdout).toContain('From now on: npx sync-card --host staging\n')
  })

  it('is PUBLIC_URL of the shell rather than the one that wrangler reports, and this is said', async () => {
    const { other, ...ended } = await besideOther(({ token, url }) =>
      runDeploy(workspace(), { env: { ADMIN_TOKEN: token, PUBLIC_URL: url } }),
    )
    expect(ended).toMatchObject({ ...nothingSent, stderr: matching(/wrangler reports http\S+\. Using http\S+\.$/m) })
    expect(other.writes).toEqual(['PUT /agents/a'])
  })

  it('is the configured one of several that wrangler reports', async () => {
    const folder = workspace({ '.env': `ADMIN_TOKEN=${host.token}\nSYNC_CARD_URL=${host.url}` })
    const urls = ['https://cards.acme.workers.dev', host.url]
    expect(await runDeploy(folder, { urls })).toMatchObject({ ...sent, stderr: `Waiting for ${host.url} …\n` })
  })

  it('is never a configured one for a new token', async () => {
    const ended = await besideOther(({ url }) => runDeploy(workspace(), { env: { SYNC_CARD_URL: url } }))
    expect(ended).toMatchObject(sentToItsHost)
  })

  it('is never of the shell for the token of .env', async () => {
    for (const variable of ['SYNC_CARD_URL', 'PUBLIC_URL']) {
      renew()
      const isBound = variable === 'SYNC_CARD_URL'
      const bound = isBound ? `SYNC_CARD_URL=${host.url}\n` : ''
      const folder = workspace({ '.env': `ADMIN_TOKEN=${host.token}\n${bound}` })
      const ended = await besideOther(({ url }) =>
        runDeploy(folder, { env: { [variable]: url }, ...(isBound && { urls: [] }) }),
      )
      expect(ended, variable).toMatchObject(sentToItsHost)
    }
  })

  it('is missing if wrangler reports none and nothing is configured, but a new token is kept (exit 2)', async () => {
    const { code, envFile, stderr } = await runDeploy(workspace(), { urls: [] })
    expect({ code, envFile }).toEqual({ code: 2, envFile: `ADMIN_TOKEN=${host.token}\n` })
    expect(stderr).toContain('Write SYNC_CARD_URL into .env.')
  })
})

it('reads the flags of wrangler deploy', () => {
  const parse = (args: string, env = {}) => parseDeployFlags(args.split(' ').filter(Boolean), env)
  const prod = { CLOUDFLARE_ENV: 'prod' }
  expect(parse('')).toEqual({ environment: '', isDry: false, worker: [] })
  expect(parse('--env=staging', prod)).toEqual({ environment: 'staging', isDry: false, worker: ['--env', 'staging'] })
  expect(parse('--minify', prod)).toEqual({ environment: 'prod', isDry: false, worker: [] })
  expect(parse('-e a --var X:1 --name n -c w.toml --dry-run --env-file f --profile p')).toEqual({
    ...{ environment: 'a', isDry: true },
    worker: ['--env', 'a', '--name', 'n', '--config', 'w.toml', '--env-file', 'f', '--profile', 'p'],
  })
})

it('finds the URLs of a deployment', () => {
  const parse = (...targets: string[]) => parseDeployedUrls(`${JSON.stringify({ type: 'deploy', targets })}\n`)
  const dev = 'https://cards.acme.workers.dev'
  expect(parse(dev)).toEqual([dev])
  expect(parse('cards.acme.workers.dev')).toEqual([dev])
  expect(parse('schedule: 0 * * * *', 'cards.example.com (custom domain)', 'cards.acme.workers.dev')).toEqual([
    ...['https://cards.example.com', dev],
  ])
  expect(parse('cards.example.com/* (zone name: example.com)')).toEqual(['https://cards.example.com'])
  expect(parse('*.example.com/*')).toEqual([])
  expect(parse()).toEqual([])
  expect(parseDeployedUrls('{"type":"wrangler-session"}\nnot json\n')).toEqual([])
})
