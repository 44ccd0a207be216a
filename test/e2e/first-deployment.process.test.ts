import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from '../../cli/cli.ts'
import { createContext, type Environment, readEnvFile } from '../../cli/context.ts'
import { deploy } from '../../cli/deploy/deployment.ts'
import { createWrangler, withLocalBin } from '../../cli/deploy/wrangler.ts'
import { readChosenToken } from '../../cli/dev/dev-server.ts'
import { Workspace } from '../cli/workspace.ts'
import { type OwnHost, sendRaw, startHost } from '../support/host.ts'

/** Sends what wrangler was called with to the platform, and does what the platform says. */
const fakeWrangler = `#!${process.execPath}
import { readFileSync, writeFileSync } from 'node:fs'
const args = process.argv.slice(2)
const file = args.includes('--secrets-file') && args[args.indexOf('--secrets-file') + 1]
const secrets = file ? JSON.parse(readFileSync(file, 'utf8')) : {}
const input = args[1] === 'put' ? readFileSync(0, 'utf8') : ''
const response = await fetch(process.env.PLATFORM, { method: 'POST', body: JSON.stringify({ args, secrets, input }) })
const { exitCode, stdout, target } = await response.json()
if (target) writeFileSync(process.env.WRANGLER_OUTPUT_FILE_PATH, JSON.stringify({ type: 'deploy', targets: [target] }))
if (stdout) console.log(stdout)
process.exitCode = exitCode
`

/** A deployed Worker: its address, its secrets, and the host that runs with them from the first request on. */
type Worker = { server: Server; url: string; secrets: Record<string, string>; storage: string; host?: Promise<OwnHost> }

/** An account of the platform, as far as deployments need it. Workers are real hosts; their storage survives new secrets. */
class Platform {
  readonly workers = new Map<string, Worker>()
  readonly calls: string[] = []
  /** The exit code of the next deployments. */
  exitCode = 0
  readonly #folder = mkdtempSync(join(tmpdir(), 'calling-card-platform-'))
  readonly #server = createServer(async (request, response) => {
    const { args, secrets, input } = JSON.parse(await text(request))
    response.end(JSON.stringify(await this.#handle(args, { ...secrets, ...(input && { [args[2]]: input }) })))
  })

  async listen(): Promise<void> {
    await new Promise<void>(done => this.#server.listen(0, '127.0.0.1', done))
    writeFileSync(join(this.#folder, 'wrangler'), fakeWrangler)
    writeFileSync(join(this.#folder, 'package.json'), '{"type":"module"}')
    chmodSync(join(this.#folder, 'wrangler'), 0o755)
  }

  /** The environment in which `wrangler` is this platform's. */
  get env(): Environment {
    return { PATH: `${this.#folder}:/usr/bin:/bin`, PLATFORM: urlOf(this.#server) }
  }

  async close(): Promise<void> {
    for (const { host, server } of this.workers.values()) {
      server.closeAllConnections()
      server.close()
      await (await host)?.close()
    }
    this.#server.close()
    rmSync(this.#folder, { recursive: true })
  }

  async #handle(args: readonly string[], secrets: Record<string, string>) {
    this.calls.push(args.filter(arg => !arg.startsWith(tmpdir())).join(' '))
    const environment = args.includes('--env') ? `-${args[args.indexOf('--env') + 1]}` : ''
    const name = `calling-card${environment}`
    if (this.exitCode !== 0) return { exitCode: this.exitCode }
    if (args[0] === 'deploy' && !this.workers.has(name)) this.workers.set(name, await this.#create(name))
    const worker = this.workers.get(name)
    if (worker === undefined) return { exitCode: 1 }
    if (args[1] === 'list') {
      const names = Object.keys(worker.secrets).map(secret => ({ name: secret, type: 'secret_text' }))
      return { exitCode: 0, stdout: JSON.stringify(names, null, 2) }
    }
    const isSame = Object.entries(secrets).every(([name, value]) => worker.secrets[name] === value)
    if (!isSame) {
      await (await worker.host)?.close()
      delete worker.host
      Object.assign(worker.secrets, secrets)
    }
    return { exitCode: 0, ...(args[0] === 'deploy' && { target: worker.url }) }
  }

  async #create(name: string): Promise<Worker> {
    const server = createServer(async (request, response) => {
      const { method = 'GET', headers, url = '/' } = request
      const body = await text(request)
      worker.host ??= startHost({ ADMIN_TOKEN: '', ...worker.secrets }, { storage: worker.storage })
      const target = new URL(url, (await worker.host).url)
      const answer = await sendRaw(target, {
        method,
        headers: headers as Record<string, string>,
        ...(body !== '' && { body }),
      })
      const received = [...answer.headers].filter(([header]) => !/^(?:transfer-encoding|connection)$/.test(header))
      response.writeHead(answer.status, Object.fromEntries(received)).end(await answer.text())
    })
    await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
    const worker: Worker = { server, url: urlOf(server), secrets: {}, storage: join(this.#folder, name) }
    return worker
  }
}

const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const platform = new Platform()
const clone = mkdtempSync(join(tmpdir(), 'calling-card-clone-'))
beforeAll(async () => {
  for (const file of execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' }).split('\0').filter(Boolean))
    if (!/^(?:test|docs)\//.test(file)) cpSync(file, join(clone, file), { recursive: true })
  symlinkSync(join(process.cwd(), 'node_modules'), join(clone, 'node_modules'))
  await platform.listen()
})
afterAll(async () => {
  await platform.close()
  rmSync(clone, { recursive: true })
})

/** Runs `npm run deploy` in a folder, at a terminal unless `env` says otherwise. */
const runDeploy = async (folder: string, args: string[] = [], env: Environment = {}) => {
  platform.calls.splice(0)
  const { io, output } = new Workspace().io({ ...platform.env, ...env })
  const stdin = Object.assign(io.stdin, { isTTY: true })
  const context = createContext({ ...io, stdin, cwd: folder }, 'npm run deploy')
  const code = await deploy(args, context, createWrangler(folder, { ...platform.env, ...env }))
  return { code, ...output(), calls: [...platform.calls] }
}

const listAgents = async (name = 'calling-card'): Promise<string[]> => {
  const response = await fetch(`${platform.workers.get(name)?.url}/agents`)
  return ((await response.json()) as { agents: { id: string }[] }).agents.map(({ id }) => id)
}

const tokenOf = (name: string): string | undefined => platform.workers.get(name)?.secrets.ADMIN_TOKEN

describe('a copy of the tracked files in an empty folder', () => {
  it('is what wrangler deploys, with its custom build and without bindings that an account does not have', () => {
    const { status, stdout, stderr } = spawnSync('wrangler', ['deploy', '--dry-run'], {
      cwd: clone,
      encoding: 'utf8',
      env: withLocalBin({ PATH: `${join(clone, 'node_modules/.bin')}:/usr/bin:/bin`, HOME: clone }, clone),
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toContain('env.REGISTRY (Registry)')
    expect(stdout).not.toMatch(/env\.(?:ECHO|TOOLS)\b/)
    expect(readFileSync(join(clone, 'out/index.js')).equals(readFileSync('out/index.js'))).toBe(true)
  })

  it('is deployed with a token of its own and an empty catalog, and the owner learns what to do', async () => {
    const { code, stdout, calls } = await runDeploy(clone)
    const { url = '' } = platform.workers.get('calling-card') ?? {}
    expect(calls).toEqual(['deploy', 'secret list --format json', 'secret put ADMIN_TOKEN'])
    expect(readFileSync(join(clone, '.env'), 'utf8')).toBe(
      `ADMIN_TOKEN=${tokenOf('calling-card')}\nSYNC_CARD_URL=${url}\n`,
    )
    expect(statSync(join(clone, '.env')).mode & 0o777).toBe(0o600)
    expect(stdout).toContain(
      `${url} runs. There is no card to send yet.\nEdit cards/my-agent.yaml, then run: npx sync-card\n`,
    )
    expect({ code, agents: await listAgents() }).toEqual({ code: 0, agents: [] })
    // The token of the deployment is not the one of `npm start`.
    expect(readChosenToken(clone, {})).toBeUndefined()
  })

  it('sends the edited starter card with sync-card alone', async () => {
    const file = join(clone, 'cards/my-agent.yaml')
    writeFileSync(file, readFileSync(file, 'utf8').replace('What your agent does', 'Finds flights'))
    const { io, output } = new Workspace().io()
    expect({ code: await run([], { ...io, cwd: clone }), ...output() }).toMatchObject({ code: 0, stderr: '' })
    expect(await listAgents()).toEqual(['my-agent'])
  })

  it('is deployed again with the same token, and keeps its agents', async () => {
    const before = readFileSync(join(clone, '.env'), 'utf8')
    const { code, calls } = await runDeploy(clone)
    expect({ code, calls }).toEqual({ code: 0, calls: ['deploy --secrets-file'] })
    expect(readFileSync(join(clone, '.env'), 'utf8')).toBe(before)
    expect(await listAgents()).toEqual(['my-agent'])
  })

  it('is deployed with --env to a Worker and a file of its own', async () => {
    const { code, stdout } = await runDeploy(clone, ['--env', 'staging'])
    expect({ code, agents: await listAgents('calling-card-staging') }).toEqual({ code: 0, agents: ['my-agent'] })
    expect(readEnvFile(clone, '.env.staging')).toEqual({
      ADMIN_TOKEN: tokenOf('calling-card-staging'),
      SYNC_CARD_URL: platform.workers.get('calling-card-staging')?.url,
    })
    expect(tokenOf('calling-card-staging')).not.toBe(tokenOf('calling-card'))
    expect(stdout).toContain('From now on: npx sync-card --host staging\n')
  })

  it('leaves nothing behind if wrangler fails', async () => {
    const { folder } = new Workspace({
      'cards/a.json': { name: 'A', description: 'Answers', url: 'https://a.example.com' },
    })
    platform.exitCode = 3
    const { code, calls } = await runDeploy(folder, ['--env', 'broken'])
    platform.exitCode = 0
    expect({ code, calls }).toEqual({ code: 3, calls: ['deploy --env broken'] })
    expect(readEnvFile(folder, '.env.broken')).toEqual({})
  })

  it('is deployed in Workers Builds without a token, and the host reports what is missing', async () => {
    const { folder } = new Workspace()
    const { code, calls } = await runDeploy(folder, ['--env', 'ci'], { CI: 'true', WORKERS_CI: '1' })
    expect({ code, calls, file: readEnvFile(folder, '.env.ci') }).toEqual({
      code: 0,
      calls: ['deploy --env ci'],
      file: {},
    })
    const health = await fetch(`${platform.workers.get('calling-card-ci')?.url}/health`)
    expect(await health.json()).toMatchObject({ status: 'degraded', missing: ['ADMIN_TOKEN'] })
  })

  it("keeps the token of the Worker when a colleague's clone is deployed", async () => {
    const token = tokenOf('calling-card')
    const { folder } = new Workspace({
      'cards/a.json': { name: 'A', description: 'Answers', url: 'https://a.example.com' },
    })
    const { code, stdout, calls } = await runDeploy(folder)
    expect({ code, calls }).toEqual({ code: 0, calls: ['deploy', 'secret list --format json'] })
    expect(stdout).toContain('that this clone does not have. It was kept, and no cards were sent.')
    expect({ token: tokenOf('calling-card'), agents: await listAgents() }).toEqual({ token, agents: ['my-agent'] })
  })
})
