import { once } from 'node:events'
import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkPort, EXAMPLE_WORKERS } from '../../cli/dev/dev-server.ts'
import { findFreePort } from '../support/free-ports.ts'
import { card, containing, Workspace, waitForEnd, waitForText } from './workspace.ts'

/** Does what `wrangler dev` does to its surroundings: its own runtime, if it is watched, ignores the end of its parent. */
const fakeWrangler = `#!${process.execPath}
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { FakeHost } from ${JSON.stringify(resolve('test/cli/fake-host.ts'))}
const args = process.argv.slice(2)
if (process.env.LINE) spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); require("node:net").connect(process.env.LINE, "127.0.0.1"); setInterval(() => {}, 1000)'])
const { ADMIN_TOKEN, LOCAL_ORIGINS, SIGNING_KEY } = process.env
writeFileSync('called.json', JSON.stringify({ args, pid: process.pid, token: ADMIN_TOKEN, origins: LOCAL_ORIGINS, key: SIGNING_KEY, other: process.env.OTHER, allowed: process.env.ALLOWED_ORIGINS, metrics: process.env.WRANGLER_SEND_METRICS, explorer: process.env.X_LOCAL_EXPLORER, traces: process.env.X_LOCAL_OBSERVABILITY, registry: process.env.WRANGLER_REGISTRY_PATH }))
if (process.env.BROKEN) process.exit(1)
const host = new FakeHost()
host.token = ADMIN_TOKEN
host.rootAgent = process.env.ROOT
await host.listen(Number(args[args.indexOf('--port') + 1]))
process.on('SIGUSR2', () => host.close())
`

/** Lists the files that a start has made. */
const listFiles = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name =>
    /start-.*\.(?:json|toml)$|npm-start/.test(name),
  )

/** Returns a server of this process and its port. */
const listen = async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, port: String((server.address() as AddressInfo).port) }
}

const freePort = async (): Promise<string> => String(await findFreePort())

/** Notices the end of the runtime by the connection that it keeps open: an ended process may still have its id. */
const watchRuntime = async () => {
  const { server, port } = await listen()
  const ended = new Promise<void>(done => {
    server.once('connection', socket => {
      socket.on('error', () => {}).once('close', () => server.close(() => done()))
    })
  })
  return { port, ended }
}

const start = (
  env: Record<string, string>,
  files: Record<string, unknown> = {},
  { script = 'start.ts', args = [] as string[] } = {},
) => {
  const workspace = new Workspace({
    'bin/wrangler': fakeWrangler,
    'bin/package.json': { type: 'module' },
    'wrangler.toml': 'name = "host"',
    'cards/a.json': card('a'),
    'cards/b.json': card('b'),
    'cards/c.json': { card: card('c'), visibility: 'internal' },
    ...files,
  })
  chmodSync(join(workspace.folder, 'bin/wrangler'), 0o755)
  const spawn = (args: string[], more: Record<string, string> = {}) =>
    workspace.spawn(script, args, { PATH: join(workspace.folder, 'bin'), ...env, ...more })
  const child = spawn(args)
  const called = () => JSON.parse(readFileSync(join(workspace.folder, 'called.json'), 'utf8'))
  return { child, end: waitForEnd(child), called, spawn, folder: workspace.folder }
}

describe('npm start', () => {
  it('runs the host and its examples, sends the cards, shows what to try, and leaves nothing behind', async () => {
    const port = await freePort()
    const runtime = await watchRuntime()
    const files = {
      ...Object.fromEntries(EXAMPLE_WORKERS.map(({ config }) => [config, ''])),
      '.dev.vars': 'OTHER=1\nSIGNING_KEY_2=of-production\nALLOWED_ORIGINS=http://localhost:1',
      // The empty ones count as not set.
      '.env': 'ADMIN_TOKEN=of-a-deployment\nSYNC_CARD_URL=\nPUBLIC_URL=\nVERBOSE=\n',
    }
    const env = {
      ...{ PORT: port, ROOT_AGENT: 'a', LOCAL_ORIGINS: 'http://localhost:5173', ALLOWED_ORIGINS: 'http://localhost:2' },
      ...{ OTHER: 'of the shell', WEBHOOK_URL: 'http://127.0.0.1:9000', ROOT: 'b', LINE: runtime.port },
    }
    const { child, end, called, folder } = start(env, files)
    await waitForText(child.stdout, 'in a browser.')
    const configs = [`.wrangler-start-${port}.toml`, ...EXAMPLE_WORKERS.map(({ config }) => config)]
    const url = `http://127.0.0.1:${port}`
    const { token } = called()
    expect(called()).toMatchObject({
      token: expect.stringMatching(/^[\da-f]{64}$/),
      origins: `${url} http://localhost:${port} http://localhost:5173`,
      key: expect.stringMatching(/^{"kty":"EC".*"d":/),
      ...{ other: '1', allowed: 'http://localhost:2', metrics: 'false', explorer: 'false', traces: 'false' },
      registry: join(folder, '.wrangler/state/registry'),
    })
    expect(readFileSync(join(folder, configs[0] ?? ''), 'utf8')).toContain(
      '\n[secrets]\nrequired = ["ADMIN_TOKEN","LOCAL_ORIGINS","SIGNING_KEY","ALLOWED_ORIGINS","OTHER"]\n',
    )
    const inspector = process.platform === 'darwin' ? /^127/ : /^127(?:\.[1-9]\d{0,2}){3}$/
    expect(called().args).toEqual([
      ...['dev', ...configs.flatMap(config => ['-c', config]), '--persist-to', join(folder, '.wrangler/state')],
      ...['--ip', '127.0.0.1', '--port', port, '--inspector-port', '0'],
      ...['--inspector-ip', expect.stringMatching(inspector)],
      ...['--log-level', 'error', '--show-interactive-dev-session=false'],
      ...['--var', 'ALLOWED_ORIGINS:http://localhost:2', '--var', 'ROOT_AGENT:a'],
      ...['--var', 'WEBHOOK_URL:http://127.0.0.1:9000', '--env-file', '.dev.vars'],
    ])
    const started = join(folder, `.wrangler/start-${port}.json`)
    expect([statSync(started).mode & 0o777, readFileSync(started, 'utf8').includes(token)]).toEqual([0o600, true])
    for (const file of listFiles(folder)) expect(readFileSync(join(folder, file), 'utf8')).not.toContain('"d":')
    expect(called().args.join(' ')).not.toContain(token)
    child.kill('SIGTERM')
    const { code, stdout } = await end
    expect(stdout.split('\n')).toEqual([
      `a  ${url}/agents/a/`,
      `b  ${url}/agents/b/  root`,
      `c  ${url}/agents/c/  internal: needs $TOKEN`,
      `Your token, for commands with $TOKEN and for ${url}/manage:`,
      `  export TOKEN=${token}`,
      'Try:',
      `  curl ${url}/.well-known/agent-card.json`,
      `  curl '${url}/agents/b?dialect=gopherhole'`,
      `  curl -H 'A2A-Version: 1.0' ${url}/agents/b/.well-known/agent-card.json`,
      `  npx sync-card verify ${url}/agents/b/`,
      `  npx sync-card check b --url ${url}`,
      'Find agents by words, and in the catalog that directories read:',
      `  curl '${url}/agents?q=b&facets=tag'`,
      `  curl ${url}/.well-known/ai-catalog.json`,
      'Ctrl-C stops. Registered agents stay in .wrangler/state.',
      `Open ${url}/ in a browser.`,
      '',
    ])
    expect([code, listFiles(folder)]).toEqual([0, []])
    await runtime.ended
  })

  it('ends with the npm that started it, even if that is killed', async () => {
    const runtime = await watchRuntime()
    const env = { PORT: await freePort(), LINE: runtime.port, npm_lifecycle_event: 'start' }
    const { child } = start(env, {}, { script: '../test/cli/fake-npm.ts' })
    await waitForText(child.stdout, 'in a browser.')
    child.kill('SIGKILL')
    await runtime.ended
  })

  it('leaves neither a runtime nor a secret behind when it is killed, and frees its port', async () => {
    const port = await freePort()
    const runtime = await watchRuntime()
    const { child, folder } = start({ PORT: port, LINE: runtime.port })
    await waitForText(child.stdout, 'in a browser.')
    expect(listFiles(folder)).toHaveLength(3)
    child.kill('SIGKILL')
    await runtime.ended
    expect(listFiles(folder)).toEqual([])
    await expect.poll(() => checkPort(`http://127.0.0.1:${port}`, port, fetch), { timeout: 10_000 }).toBeUndefined()
  })

  it('reports a host with the same state on any port, runs beside it with another state, and ends with wrangler', async () => {
    const [port, other] = [await freePort(), await freePort()]
    // A host that was killed together with all that could clean up; the process with its id today is another one.
    const files = { '.wrangler/state/npm-start.json': { pid: process.pid, began: '1', url: 'http://127.0.0.1:1' } }
    const runtime = await watchRuntime()
    const { child, end, called, spawn, folder } = start({ PORT: port, LINE: runtime.port }, files)
    await waitForText(child.stdout, 'in a browser.')
    const wrangler = called().pid
    const { code, stderr } = await waitForEnd(spawn([], { PORT: other }))
    const { pid } = JSON.parse(readFileSync(join(folder, '.wrangler/state/npm-start.json'), 'utf8'))
    const next = Number(port) + 1
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `npm start: A host runs here already: http://127.0.0.1:${port} (process ${pid}). Use that one, or stop it. To start another one with a state of its own: PORT=${next} npm start -- --state .wrangler/${next}\n`,
    })
    const beside = spawn(['--state', 'other/state'], { PORT: other, LINE: '' })
    await waitForText(beside.stdout, 'Registered agents stay in other/state.')
    expect(called().args.join(' ')).toContain(`--persist-to ${join(folder, 'other/state')} --ip`)
    beside.kill('SIGINT')
    await waitForEnd(beside)
    const own = [`.wrangler-start-${port}.toml`, `.wrangler/start-${port}.json`, '.wrangler/state/npm-start.json']
    expect(listFiles(folder).sort()).toEqual(own)
    process.kill(wrangler, 'SIGKILL')
    expect(await end).toMatchObject({ code: 1, stderr: containing('wrangler dev has ended, or its runtime has') })
    expect(listFiles(folder)).toEqual([])
    await runtime.ended
  })

  it('keeps chosen secrets out of the process list and its output, and reports the end of its runtime (exit 1)', async () => {
    const secrets = { ADMIN_TOKEN: 'very-secret-token', SIGNING_KEY: 'very-secret-token' }
    const port = await freePort()
    const { child, end, called } = start({ PORT: port, ...secrets })
    await waitForText(child.stdout, 'in a browser.')
    expect(called().token).toBe('very-secret-token')
    expect(called().args.join(' ')).not.toContain('very-secret')
    // wrangler survives the end of its runtime.
    process.kill(called().pid, 'SIGUSR2')
    const { code, stdout, stderr } = await end
    // The terminal in which it is typed is another one, and has no ADMIN_TOKEN.
    expect(stdout).toContain(`  export TOKEN="$(node -p 'require("./.wrangler/start-${port}.json").token')"\n`)
    expect(stdout).not.toContain('very-secret')
    expect([code, stderr]).toEqual([1, containing('npm start: wrangler dev has ended, or its runtime has')])
  })

  it('reports what keeps it from starting, and each with its exit code', async () => {
    const used = await listen()
    const wrong = { args: ['--stat', 'x'] }
    const ended = await Promise.all([
      start({ PORT: await freePort() }, {}, wrong).end,
      start({ PORT: await freePort() }, { '.dev.vars': 'ADMIN_TOKEN=dev' }).end,
      start({ PORT: used.port }).end,
      start({ PORT: await freePort(), BROKEN: '1' }).end,
    ])
    used.server.close()
    expect(ended.map(({ code, stderr }) => [code, stderr])).toEqual([
      [2, 'npm start: Its only option is the folder for what is registered: npm start -- --state DIR\n'],
      [1, containing('ADMIN_TOKEN in the environment or .dev.vars must be at least 16 characters')],
      [1, containing(`npm start: Port ${used.port} is in use`)],
      [1, containing('wrangler dev did not start')],
    ])
  })
})
