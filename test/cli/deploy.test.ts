import { chmodSync, existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { deployedUrl } from '../../cli/deployment/deployed-url.ts'
import { FakeHost } from './fake-host.ts'
import { card, ended, Workspace } from './workspace.ts'

/** Does what `wrangler deploy` does to its surroundings: reads the secrets, writes the output file. */
const fakeWrangler = `#!${process.execPath}
const { appendFileSync, readFileSync, writeFileSync } = require('node:fs')
const args = process.argv.slice(2)
const secrets = args.includes('--secrets-file') ? JSON.parse(readFileSync(args[args.indexOf('--secrets-file') + 1], 'utf8')) : undefined
appendFileSync('calls.ndjson', JSON.stringify({ args, secrets }) + '\\n')
if (args.includes('--fail') || args.join(' ').includes(process.env.BAD)) process.exit(7)
const entries = [{ type: 'wrangler-session' }]
entries.push({ type: 'deploy', targets: args.includes('--dry-run') ? undefined : [process.env.TARGET] })
writeFileSync(process.env.WRANGLER_OUTPUT_FILE_PATH, entries.map(entry => JSON.stringify(entry) + '\\n').join(''))
`

let host: FakeHost
beforeEach(async () => {
  host = await new FakeHost().listen()
})
afterEach(() => host.close())

const workspaceWithWrangler = (files: Record<string, unknown> = {}) => {
  const workspace = new Workspace({ 'bin/wrangler': fakeWrangler, 'cards/a.json': card('a'), ...files })
  chmodSync(join(workspace.folder, 'bin/wrangler'), 0o755)
  return workspace
}

const deploy = async (workspace: Workspace, args: string[] = [], env: Record<string, string> = {}) => {
  const path = join(workspace.folder, 'bin')
  const result = await ended(workspace.start('deploy.ts', args, { PATH: path, TARGET: host.url, ...env }))
  const calls = readFileSync(join(workspace.folder, 'calls.ndjson'), 'utf8').trim().split('\n')
  const [called, ...later] = calls.map(line => JSON.parse(line)).reverse()
  return { ...result, called, before: later.reverse() }
}

describe('npm run deploy', () => {
  it('deploys with the admin token as a secret, then sends the cards and waits until they are served', async () => {
    const workspace = workspaceWithWrangler({ '.env': `ADMIN_TOKEN=${host.token}` })
    const { code, stdout, stderr, called } = await deploy(workspace, ['--env', 'staging'])
    expect(called.args).toEqual(['deploy', '--secrets-file', expect.any(String), '--env', 'staging'])
    expect(called.secrets).toEqual({ ADMIN_TOKEN: host.token })
    expect(() => statSync(called.args[2])).toThrow('ENOENT')
    expect(stdout).toMatch(/\+ created {3}a .*live/)
    expect(stdout).toContain(`npx sync-card --url ${host.url}`)
    expect(stdout + stderr).not.toContain(host.token)
    expect(code).toBe(0)
  })

  describe('with services of wrangler.toml', () => {
    const toml = `name = "cards"
services = [{ binding = "ECHO", service = "echo-agent" }, { binding = "AGAIN", service = "echo-agent" }, { binding = "OTHER", service = "elsewhere" }]
[env.staging]
`
    const files = {
      'wrangler.toml': toml,
      'examples/echo-agent/wrangler.toml': '',
      'examples/unbound/wrangler.toml': '',
    }

    it('deploys those first that are examples, once each and without the token', async () => {
      const args = ['--dry-run', '--name', 'mine', '--profile', 'work']
      const { called, before } = await deploy(workspaceWithWrangler(files), args)
      expect(before).toEqual([
        { args: ['deploy', '-c', 'examples/echo-agent/wrangler.toml', '--dry-run', '--profile', 'work'] },
      ])
      expect(called.args.slice(3)).toEqual(args)
    })

    it('deploys none for an environment that binds none', async () => {
      expect((await deploy(workspaceWithWrangler(files), ['--dry-run', '--env', 'staging'])).before).toEqual([])
    })

    it('does not deploy the host where an example fails', async () => {
      const env = { ADMIN_TOKEN: host.token, BAD: 'echo-agent' }
      const { code, called, before } = await deploy(workspaceWithWrangler(files), [], env)
      expect({ code, last: called.args[2], before }).toEqual({
        code: 7,
        last: 'examples/echo-agent/wrangler.toml',
        before: [],
      })
    })
  })

  it('makes a token for a first deployment, and keeps it in .env for the owner alone', async () => {
    const workspace = workspaceWithWrangler({ '.env': 'OTHER=1' })
    const { code, stdout, called } = await deploy(workspace)
    const written = readFileSync(join(workspace.folder, '.env'), 'utf8')
    expect(written).toBe(`OTHER=1\nADMIN_TOKEN=${called.secrets.ADMIN_TOKEN}\n`)
    expect(called.secrets.ADMIN_TOKEN).toMatch(/^[\w-]{43}$/)
    expect(statSync(join(workspace.folder, '.env')).mode & 0o777).toBe(0o600)
    expect(stdout).toContain('A new ADMIN_TOKEN is in .env')
    expect(stdout).not.toContain(called.secrets.ADMIN_TOKEN)
    // The fake host knows another token: the real one would have been given this one.
    expect(code).toBe(4)
  })

  it('prefers the address that the owner gives', async () => {
    const env = { ADMIN_TOKEN: host.token, PUBLIC_URL: host.url, TARGET: 'https://nowhere.invalid' }
    expect((await deploy(workspaceWithWrangler(), [], env)).code).toBe(0)
    expect(host.writes).toEqual(['PUT /agents/a'])
  })

  it('makes no token for a dry run', async () => {
    const workspace = workspaceWithWrangler()
    expect((await deploy(workspace, ['--dry-run'])).code).toBe(0)
    expect(existsSync(join(workspace.folder, '.env'))).toBe(false)
  })

  it('deploys with no ADMIN_TOKEN that can be guessed', async () => {
    const workspace = workspaceWithWrangler({ '.env': 'ADMIN_TOKEN=fifteen-letters' })
    const { code, stderr } = await ended(workspace.start('deploy.ts', [], { PATH: join(workspace.folder, 'bin') }))
    expect([code, stderr]).toEqual([2, expect.stringContaining('ADMIN_TOKEN has fewer than 16 characters')])
    expect([existsSync(join(workspace.folder, 'calls.ndjson')), host.seen]).toEqual([false, []])
  })

  it.each([
    ['passes on wrangler’s failure', ['--fail'], 7],
    ['sends nothing after a dry run', ['--dry-run'], 0],
  ])('%s', async (_, args, expected) => {
    const { code } = await deploy(workspaceWithWrangler(), args, { ADMIN_TOKEN: host.token })
    expect({ code, requests: host.seen }).toEqual({ code: expected, requests: [] })
  })
})

describe('the address of a deployment', () => {
  it.each([
    [['https://cards.acme.workers.dev'], 'https://cards.acme.workers.dev'],
    [['cards.acme.workers.dev'], 'https://cards.acme.workers.dev'],
    [['schedule: 0 * * * *', 'cards.example.com (custom domain)'], 'https://cards.example.com'],
    [['cards.example.com/* (zone name: example.com)'], 'https://cards.example.com'],
    [['*.example.com/*'], undefined],
    [[], undefined],
  ])('%j', (targets, url) => {
    expect(deployedUrl(`${JSON.stringify({ type: 'deploy', targets })}\n`)).toBe(url)
  })

  it('is none where nothing was deployed', () => {
    expect(deployedUrl('{"type":"wrangler-session"}\nnot json\n')).toBeUndefined()
  })
})
