import { once } from 'node:events'
import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { EXAMPLE_WORKERS } from '../../cli/dev/samples.ts'
import { card, Workspace, waitForEnd, waitForText } from './workspace.ts'

/** Does what `wrangler dev` does to its surroundings: its own runtime serves the port, and ignores the end of its parent. */
const fakeWrangler = `#!${process.execPath}
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { FakeHost } from ${JSON.stringify(resolve('test/cli/fake-host.ts'))}
const args = process.argv.slice(2)
spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); process.env.LINE && require("node:net").connect(process.env.LINE, "127.0.0.1"); setInterval(() => {}, 1000)'])
const envFiles = args.flatMap((arg, index) => args[index - 1] === '--env-file' ? [parseEnv(readFileSync(arg, 'utf8'))] : [])
const { ADMIN_TOKEN, LOCAL_ORIGINS, SIGNING_KEY, SIGNING_KEY_2 } = Object.assign({}, ...envFiles)
writeFileSync('called.json', JSON.stringify({ args, pid: process.pid, token: ADMIN_TOKEN, origins: LOCAL_ORIGINS, keys: [SIGNING_KEY, SIGNING_KEY_2], metrics: process.env.WRANGLER_SEND_METRICS, explorer: process.env.X_LOCAL_EXPLORER }))
const host = new FakeHost()
host.token = ADMIN_TOKEN
host.rootAgent = process.env.ROOT
if (process.env.GARBAGE) host.faults = [({ path }, response) => path === '/agents?limit=100' && response.end('<html>')]
if (process.env.BROKEN) process.exit(1)
await host.listen(Number(args[args.indexOf('--port') + 1]))
process.on('SIGUSR2', () => host.close())
`

const freePort = async (): Promise<string> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise(done => server.close(done))
  return String(port)
}

/** Notices the end of the runtime by the connection that it keeps open: an ended process may still have its id. */
const watchRuntime = async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const ended = new Promise<void>(done => {
    server.once('connection', socket => {
      socket
        .on('error', () => {})
        .once('close', () => {
          server.close()
          done()
        })
    })
  })
  return { port: String((server.address() as AddressInfo).port), ended }
}

const start = (env: Record<string, string>, files: Record<string, unknown> = {}, script = 'start.ts') => {
  const workspace = new Workspace({
    'bin/wrangler': fakeWrangler,
    'bin/package.json': { type: 'module' },
    'cards/a.json': card('a'),
    'cards/b.json': card('b'),
    'cards/c.json': { card: card('c'), visibility: 'internal' },
    ...files,
  })
  chmodSync(join(workspace.folder, 'bin/wrangler'), 0o755)
  const child = workspace.spawn(script, [], { PATH: join(workspace.folder, 'bin'), ...env })
  const called = () => JSON.parse(readFileSync(join(workspace.folder, 'called.json'), 'utf8'))
  return { child, end: waitForEnd(child), called, folder: workspace.folder }
}

describe('npm start', () => {
  it('runs the host and its examples, sends the cards, shows what to try, and leaves nothing behind', async () => {
    const port = await freePort()
    const runtime = await watchRuntime()
    const files = {
      ...Object.fromEntries(EXAMPLE_WORKERS.map(({ config }) => [config, ''])),
      'wrangler.toml': 'name = "host"',
      '.dev.vars': 'OTHER=1',
      '.env': 'ADMIN_TOKEN=of-a-deployment',
    }
    const { child, end, called, folder } = start(
      {
        PORT: port,
        ROOT_AGENT: 'a',
        LOCAL_ORIGINS: 'http://localhost:5173',
        WEBHOOK_URL: 'http://127.0.0.1:9000',
        ROOT: 'b',
        LINE: runtime.port,
      },
      files,
    )
    await waitForText(child.stdout, 'in a browser.')
    const configs = [`.wrangler-start-${port}.toml`, ...EXAMPLE_WORKERS.map(({ config }) => config)]
    const url = `http://127.0.0.1:${port}`
    const { token } = called()
    expect(called()).toMatchObject({
      token: expect.stringMatching(/^[\da-f]{64}$/),
      origins: `${url} http://localhost:${port} http://localhost:5173`,
      keys: [expect.stringMatching(/^{"kty":"EC".*"d":/), ''],
      metrics: 'false',
      explorer: 'false',
    })
    expect(called().args).toEqual([
      'dev',
      ...configs.flatMap(config => ['-c', config]),
      ...['--ip', '127.0.0.1', '--port', port, '--inspector-port', '0'],
      ...[
        '--inspector-ip',
        expect.stringMatching(process.platform === 'darwin' ? /^127/ : /^127(?:\.[1-9]\d{0,2}){3}$/),
      ],
      ...['--log-level', 'error', '--show-interactive-dev-session=false'],
      ...['--var', 'ROOT_AGENT:a', '--var', 'WEBHOOK_URL:http://127.0.0.1:9000'],
      ...['--env-file', '.dev.vars', '--env-file', `.wrangler/start-${port}.vars`],
    ])
    const secrets = join(folder, `.wrangler/start-${port}.vars`)
    expect([statSync(secrets).mode & 0o777, readFileSync(secrets, 'utf8').includes(token)]).toEqual([0o600, true])
    expect(called().args.join(' ')).not.toContain(token)
    child.kill('SIGTERM')
    const { code, stdout } = await end
    expect(stdout.split('\n')).toEqual([
      `a  ${url}/agents/a/`,
      `b  ${url}/agents/b/  root`,
      `c  ${url}/agents/c/  internal`,
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
    expect(code).toBe(0)
    expect(
      [...readdirSync(folder), ...readdirSync(join(folder, '.wrangler'))].filter(name => name.includes(port)),
    ).toEqual([])
    await runtime.ended
  })

  it('ignores empty variables in .env', async () => {
    const files = { '.env': 'ADMIN_TOKEN=\nROOT_AGENT=\nSYNC_CARD_URL=\nVERBOSE=\n' }
    const { child, end, called } = start({ PORT: await freePort() }, files)
    await waitForText(child.stdout, 'in a browser.')
    child.kill('SIGINT')
    expect((await end).code).toBe(0)
    expect(called().token).toMatch(/^[\da-f]{64}$/)
    expect(called().args.filter((arg: string) => arg.startsWith('ROOT_AGENT'))).toEqual([])
  })

  it('leaves no runtime behind when it fails itself', async () => {
    const runtime = await watchRuntime()
    const { end } = start({ PORT: await freePort(), LINE: runtime.port, GARBAGE: '1' })
    expect((await end).code).toBe(4)
    await runtime.ended
  })

  it('ends with the npm that started it, even if that is killed', async () => {
    const runtime = await watchRuntime()
    const env = { PORT: await freePort(), LINE: runtime.port, npm_lifecycle_event: 'start' }
    const { child } = start(env, {}, '../test/cli/fake-npm.ts')
    await waitForText(child.stdout, 'in a browser.')
    child.kill('SIGKILL')
    await runtime.ended
  })

  it('keeps the admin token and a signing key of production out of the process list and of its output', async () => {
    const secrets = { ADMIN_TOKEN: 'very-secret-token', SIGNING_KEY: 'very-secret-token' }
    const { child, end, called } = start({ PORT: await freePort(), ...secrets })
    await waitForText(child.stdout, 'in a browser.')
    expect(called().token).toBe('very-secret-token')
    expect(called().args.join(' ')).not.toContain('very-secret')
    child.kill('SIGINT')
    const { stdout } = await end
    expect(stdout).toContain('  export TOKEN="$ADMIN_TOKEN"\n')
    expect(stdout).not.toContain('very-secret')
  })

  it('rejects an admin token that could be guessed (exit 1)', async () => {
    const { code, stderr } = await start({ PORT: await freePort() }, { '.dev.vars': 'ADMIN_TOKEN=dev' }).end
    expect(stderr).toContain('ADMIN_TOKEN in the environment or .dev.vars must be at least 16 characters')
    expect(code).toBe(1)
  })

  it('reports a port that is in use (exit 1)', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const { code, stderr } = await start({ PORT: String(port) }).end
    server.close()
    expect(stderr).toContain(`npm start: Port ${port} is in use`)
    expect(code).toBe(1)
  })

  it.each([
    ['runtime, which wrangler survives', 'SIGUSR2'],
    ['wrangler', 'SIGKILL'],
  ] as const)('reports the end of its %s, and leaves nothing behind (exit 1)', async (_, signal) => {
    const runtime = await watchRuntime()
    const { child, end, called } = start({ PORT: await freePort(), LINE: runtime.port })
    await waitForText(child.stdout, 'in a browser.')
    process.kill(called().pid, signal)
    const { code, stderr } = await end
    expect(stderr).toContain('npm start: wrangler dev has ended, or its runtime has')
    expect(code).toBe(1)
    await runtime.ended
  })

  it('reports a host that does not start (exit 1)', async () => {
    const { code, stderr } = await start({ PORT: await freePort(), BROKEN: '1' }).end
    expect(stderr).toContain('wrangler dev did not start')
    expect(code).toBe(1)
  })
})
