import { chmodSync, existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createContext, type Environment } from '../../cli/config.ts'
import { deploy } from '../../cli/deploy/deploy.ts'
import { parseDeployedUrl, type RunWrangler } from '../../cli/deploy/wrangler.ts'
import { UsageError } from '../../cli/exit-codes.ts'
import { FakeHost } from './fake-host.ts'
import { card, Workspace, waitForEnd } from './workspace.ts'

let host: FakeHost
beforeEach(async () => {
  host = await new FakeHost().listen()
})
afterEach(() => host.close())

const workspace = (files: Record<string, unknown> = {}) => new Workspace({ 'cards/a.json': card('a'), ...files })

/** Deploys with a replacement of wrangler, which deploys to the fake host. */
const runDeploy = async (
  folder: Workspace,
  { args = [], env = {}, exitCode }: { args?: string[]; env?: Environment; exitCode?: (args: string) => number } = {},
) => {
  const calls: { args: readonly string[]; secrets?: Readonly<Record<string, string>> }[] = []
  const runWrangler: RunWrangler = async (given, secrets) => {
    calls.push({ args: given, ...(secrets && { secrets }) })
    return {
      exitCode: exitCode?.(given.join(' ')) ?? 0,
      output: JSON.stringify({ type: 'deploy', targets: [host.url] }),
    }
  }
  const { io, output } = folder.io(env)
  const code = await deploy(args, createContext(io, 'npm run deploy'), runWrangler)
  return { code, ...output(), calls }
}

describe('deploy', () => {
  it('deploys with the admin token as a secret, then sends the cards and waits until they are live', async () => {
    host.slowReads = 3
    const folder = workspace({ '.env': `ADMIN_TOKEN=${host.token}` })
    const { code, stdout, stderr, calls } = await runDeploy(folder, { args: ['--env', 'staging'] })
    expect(calls).toEqual([{ args: ['--env', 'staging'], secrets: { ADMIN_TOKEN: host.token } }])
    expect(stdout).toMatch(/\+ created {3}a .*live/)
    expect(stdout).toContain(`npx sync-card --url ${host.url}`)
    expect(stdout + stderr).not.toContain(host.token)
    expect(code).toBe(0)
  })

  it('waits until the new URL responds as a host', async () => {
    let failures = 3
    host.faults = [
      ({ path }, response) => path === '/agents?limit=1' && failures-- > 0 && Boolean(response.writeHead(404).end()),
    ]
    const { code, stderr } = await runDeploy(workspace(), { env: { ADMIN_TOKEN: host.token } })
    expect({ code, stderr }).toEqual({ code: 0, stderr: `Waiting for ${host.url} …\n` })
  })

  it('reports a URL that never responds as a host (exit 4)', async () => {
    host.faults = [({ path }, response) => path === '/agents?limit=1' && Boolean(response.writeHead(404).end())]
    const { code, stderr } = await runDeploy(workspace(), { env: { ADMIN_TOKEN: host.token } })
    expect({ code, writes: host.writes }).toEqual({ code: 4, writes: [] })
    expect(stderr).toContain(`${host.url} does not respond yet. Run later: npx sync-card --url ${host.url} --wait`)
  })

  describe('with services in wrangler.toml', () => {
    const files = {
      'wrangler.toml': `name = "cards"
services = [{ binding = "ECHO", service = "echo-agent" }, { binding = "AGAIN", service = "echo-agent" }, { binding = "OTHER", service = "other" }]
[env.staging]
`,
      'examples/echo-agent/wrangler.toml': '',
      'examples/unbound/wrangler.toml': '',
    }

    it('deploys each bound example once before the host, without the token', async () => {
      const args = ['--dry-run', '--name', 'mine', '--profile', 'work', '--env-file', '.env.work']
      const { calls } = await runDeploy(workspace(files), { args })
      expect(calls).toEqual([
        {
          args: [
            '-c',
            'examples/echo-agent/wrangler.toml',
            '--dry-run',
            '--profile',
            'work',
            '--env-file',
            '.env.work',
          ],
        },
        { args, secrets: { ADMIN_TOKEN: 'none' } },
      ])
    })

    it('deploys no example for an environment that binds none', async () => {
      const args = ['--dry-run', '--env', 'staging']
      expect((await runDeploy(workspace(files), { args })).calls.map(call => call.args)).toEqual([args])
    })

    it('deploys no example for a configuration that wrangler rejects', async () => {
      const folder = workspace({ ...files, 'wrangler.toml': 'services = 7' })
      expect((await runDeploy(folder, { args: ['--dry-run'] })).calls).toHaveLength(1)
    })

    it('does not deploy the host if an example fails', async () => {
      const exitCode = (args: string) => (args.includes('echo-agent') ? 7 : 0)
      const { code, calls } = await runDeploy(workspace(files), { env: { ADMIN_TOKEN: host.token }, exitCode })
      expect({ code, calls }).toEqual({ code: 7, calls: [{ args: ['-c', 'examples/echo-agent/wrangler.toml'] }] })
    })
  })

  it('creates a token for a first deployment, in a .env that only the owner can read', async () => {
    const folder = workspace({ '.env': 'OTHER=1' })
    const { code, stdout, calls } = await runDeploy(folder)
    const token = calls[0]?.secrets?.ADMIN_TOKEN ?? ''
    expect(token).toMatch(/^[\w-]{43}$/)
    expect(readFileSync(join(folder.folder, '.env'), 'utf8')).toBe(`OTHER=1\nADMIN_TOKEN=${token}\n`)
    expect(statSync(join(folder.folder, '.env')).mode & 0o777).toBe(0o600)
    expect(stdout).toContain('A new ADMIN_TOKEN is in .env')
    expect(stdout).not.toContain(token)
    // The fake host has another token; a deployed one would have this one.
    expect(code).toBe(4)
  })

  it('creates a token in place of an empty ADMIN_TOKEN in .env', async () => {
    const folder = workspace({ '.env': 'ADMIN_TOKEN=\nPUBLIC_URL=\n' })
    const { calls } = await runDeploy(folder)
    expect(calls[0]?.secrets?.ADMIN_TOKEN).toMatch(/^[\w-]{43}$/)
  })

  it('prefers PUBLIC_URL to the URL that wrangler reports', async () => {
    const other = await new FakeHost().listen()
    const env = { ADMIN_TOKEN: other.token, PUBLIC_URL: other.url }
    const { code } = await runDeploy(workspace(), { env })
    await other.close()
    expect({ code, writes: other.writes, requests: host.seen }).toEqual({
      code: 0,
      writes: ['PUT /agents/a'],
      requests: [],
    })
  })

  it('creates no token and sends nothing in a dry run', async () => {
    const folder = workspace()
    const { code } = await runDeploy(folder, { args: ['--dry-run'] })
    expect({ code, requests: host.seen }).toEqual({ code: 0, requests: [] })
    expect(existsSync(join(folder.folder, '.env'))).toBe(false)
  })

  it.each([
    [
      'an ADMIN_TOKEN that can be guessed',
      { ADMIN_TOKEN: 'fifteen-letters' },
      'ADMIN_TOKEN must be at least 16 characters',
    ],
    ['a PUBLIC_URL that is no URL', { PUBLIC_URL: 'cards' }, '"cards" is not the URL of a host'],
  ])('rejects %s before anything is deployed', async (_, env, message) => {
    const calls: unknown[] = []
    const context = createContext(workspace().io(env).io, 'npm run deploy')
    const deployment = deploy([], context, async () => {
      calls.push('called')
      return { exitCode: 0, output: '' }
    })
    await expect(deployment).rejects.toThrow(UsageError)
    await expect(deployment).rejects.toThrow(message)
    expect(calls).toEqual([])
  })

  it('returns the exit code of wrangler, and sends nothing', async () => {
    const { code } = await runDeploy(workspace(), { env: { ADMIN_TOKEN: host.token }, exitCode: () => 7 })
    expect({ code, requests: host.seen }).toEqual({ code: 7, requests: [] })
  })
})

describe('npm run deploy', () => {
  /** Does what `wrangler deploy` does to its surroundings: reads the secrets, writes the output file. */
  const fakeWrangler = `#!${process.execPath}
const { readFileSync, writeFileSync } = require('node:fs')
const args = process.argv.slice(2)
const secrets = JSON.parse(readFileSync(args[args.indexOf('--secrets-file') + 1], 'utf8'))
writeFileSync('call.json', JSON.stringify({ args, secrets }))
writeFileSync(process.env.WRANGLER_OUTPUT_FILE_PATH, [{ type: 'wrangler-session' }, { type: 'deploy', targets: [process.env.TARGET] }].map(entry => JSON.stringify(entry) + '\\n').join(''))
`
  const start = (files: Record<string, unknown>, args: string[]) => {
    const folder = workspace({ 'bin/wrangler': fakeWrangler, ...files })
    chmodSync(join(folder.folder, 'bin/wrangler'), 0o755)
    const env = { PATH: join(folder.folder, 'bin'), TARGET: host.url }
    return { folder: folder.folder, ended: waitForEnd(folder.spawn('deploy.ts', args, env)) }
  }

  it('runs wrangler with its arguments and a secrets file that is deleted afterwards', async () => {
    const { folder, ended } = start({ '.env': `ADMIN_TOKEN=${host.token}` }, ['--env', 'staging'])
    const { code, stdout } = await ended
    const { args, secrets } = JSON.parse(readFileSync(join(folder, 'call.json'), 'utf8'))
    expect(args).toEqual(['deploy', '--secrets-file', expect.any(String), '--env', 'staging'])
    expect(secrets).toEqual({ ADMIN_TOKEN: host.token })
    expect(existsSync(args[2])).toBe(false)
    expect(stdout).toMatch(/\+ created {3}a .*live/)
    expect(code).toBe(0)
  })

  it('reports wrong usage without a stack (exit 2)', async () => {
    const { folder, ended } = start({ '.env': 'ADMIN_TOKEN=fifteen-letters' }, [])
    const { code, stderr } = await ended
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr:
        'npm run deploy: ADMIN_TOKEN must be at least 16 characters. Remove it from the environment and .env to have a random one generated.\n',
    })
    expect(existsSync(join(folder, 'call.json'))).toBe(false)
  })
})

describe('parseDeployedUrl', () => {
  it.each([
    [['https://cards.acme.workers.dev'], 'https://cards.acme.workers.dev'],
    [['cards.acme.workers.dev'], 'https://cards.acme.workers.dev'],
    [['schedule: 0 * * * *', 'cards.example.com (custom domain)'], 'https://cards.example.com'],
    [['cards.example.com/* (zone name: example.com)'], 'https://cards.example.com'],
    [['*.example.com/*'], undefined],
    [[], undefined],
  ])('finds in %j %s', (targets, url) => {
    expect(parseDeployedUrl(`${JSON.stringify({ type: 'deploy', targets })}\n`)).toBe(url)
  })

  it('finds nothing if nothing was deployed', () => {
    expect(parseDeployedUrl('{"type":"wrangler-session"}\nnot json\n')).toBeUndefined()
  })
})
