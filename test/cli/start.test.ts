import { once } from 'node:events'
import { chmodSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { callLines } from '../../cli/dev/call-lines.ts'
import { card, ended, said, Workspace } from './workspace.ts'

/** Does what `wrangler dev` does to its surroundings: a runtime of its own serves the port, deaf to the end of its parent. */
const fakeWrangler = `#!${process.execPath}
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { FakeHost } from ${JSON.stringify(resolve('test/cli/fake-host.ts'))}
const args = process.argv.slice(2)
spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); process.env.LINE && require("node:net").connect(process.env.LINE, "127.0.0.1"); setInterval(() => {}, 1000)'])
writeFileSync('called.json', JSON.stringify({ args, token: process.env.ADMIN_TOKEN, metrics: process.env.WRANGLER_SEND_METRICS }))
const host = new FakeHost()
host.token = process.env.ADMIN_TOKEN
host.rootAgent = process.env.ROOT
if (process.env.GARBAGE) host.faults = [({ path }, response) => path === '/agents?limit=100' && response.end('<html>')]
if (process.env.BROKEN) process.exit(1)
await host.listen(Number(args[args.indexOf('--port') + 1]))
`

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise(done => server.close(done))
  return port
}

/** Hears of the runtime's end by the connection that it holds: a process that nobody collects still has its id. */
const runtimeLine = async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const ends = new Promise<void>(done => {
    server.once('connection', socket => {
      socket
        .on('error', () => {})
        .once('close', () => {
          server.close()
          done()
        })
    })
  })
  return { port: String((server.address() as AddressInfo).port), ends }
}

const start = (env: Record<string, string>, script = 'start.ts', files: Record<string, unknown> = {}) => {
  const workspace = new Workspace({
    ...files,
    'bin/wrangler': fakeWrangler,
    'bin/package.json': { type: 'module' },
    'cards/a.json': card('a'),
    'cards/b.json': card('b'),
    'cards/c.json': { card: card('c'), visibility: 'internal' },
  })
  chmodSync(join(workspace.folder, 'bin/wrangler'), 0o755)
  const child = workspace.start(script, [], { PATH: join(workspace.folder, 'bin'), ...env })
  const called = () => JSON.parse(readFileSync(join(workspace.folder, 'called.json'), 'utf8'))
  return { child, end: ended(child), called }
}

describe('npm start', () => {
  it('runs the host, syncs the cards, shows what to try, and leaves nothing behind', async () => {
    const port = await freePort()
    const runtime = await runtimeLine()
    const { child, end, called } = start({ PORT: String(port), ROOT_AGENT: 'a', ROOT: 'b', LINE: runtime.port })
    await said(child.stdout, 'Ctrl-C stops')
    expect(called()).toMatchObject({ token: 'dev', metrics: 'false' })
    expect(called().args).toEqual(
      expect.arrayContaining(['dev', '--ip', '127.0.0.1', '--port', String(port), '--var', 'ROOT_AGENT:a']),
    )
    child.kill('SIGTERM')
    const { code, stdout } = await end
    const url = `http://127.0.0.1:${port}`
    expect(stdout.split('\n')).toEqual([
      `a  ${url}/agents/a/`,
      `b  ${url}/agents/b/  root`,
      `c  ${url}/agents/c/  internal`,
      'Try:',
      `  curl ${url}/.well-known/agent-card.json`,
      `  curl '${url}/agents/b?dialect=gopherhole'`,
      `  curl -H 'A2A-Version: 1.0' ${url}/agents/b/.well-known/agent-card.json`,
      'Ctrl-C stops. What is registered stays in .wrangler/state.',
      '',
    ])
    expect(code).toBe(0)
    await runtime.ends
  })

  describe('with an agent to call', () => {
    const files = {
      'examples/echo-agent/wrangler.toml': '',
      'examples/another/wrangler.toml': '',
      'cards/echo.json': card('echo'),
    }
    const withAgent = async (env: Record<string, string> = {}, more: Record<string, unknown> = {}) => {
      const port = await freePort()
      const { child, end, called } = start({ PORT: String(port), ...env }, 'start.ts', { ...files, ...more })
      await said(child.stdout, 'Ctrl-C stops')
      child.kill('SIGTERM')
      const { stdout } = await end
      return { stdout, url: `http://127.0.0.1:${port}`, args: called().args as string[] }
    }

    it('runs it along, and shows how to call it', async () => {
      const { stdout, url, args } = await withAgent()
      const configs = ['wrangler.toml', 'examples/another/wrangler.toml', 'examples/echo-agent/wrangler.toml']
      expect(args.slice(0, 7)).toEqual(['dev', ...configs.flatMap(config => ['-c', config])])
      for (const line of callLines(url, "'Authorization: Bearer dev'")) expect(stdout).toContain(`\n  ${line}\n`)
    })

    it('shows no token that is somebody’s secret, but how the shell finds it', async () => {
      const inShell = await withAgent({ ADMIN_TOKEN: 'very-secret' })
      expect(inShell.stdout).not.toContain('very-secret')
      expect(inShell.stdout).toContain('-H "Authorization: Bearer $ADMIN_TOKEN" ')
      const inFile = await withAgent({}, { '.env': 'ADMIN_TOKEN=very-secret' })
      expect(inFile.stdout).not.toContain('very-secret')
      expect(inFile.stdout).toContain('Bearer $(node --env-file=.env -p process.env.ADMIN_TOKEN)" ')
    })

    it('shows nothing to call where everyone is refused its card', async () => {
      const { stdout } = await withAgent({}, { 'cards/echo.json': { card: card('echo'), visibility: 'internal' } })
      expect(stdout).not.toContain('SendMessage')
    })
  })

  it('leaves no runtime behind where it fails itself', async () => {
    const runtime = await runtimeLine()
    const { end } = start({ PORT: String(await freePort()), LINE: runtime.port, GARBAGE: '1' })
    expect((await end).code).toBe(1)
    await runtime.ends
  })

  it('ends with the npm that started it, however that ends', async () => {
    const runtime = await runtimeLine()
    const env = { PORT: String(await freePort()), LINE: runtime.port, npm_lifecycle_event: 'start' }
    const { child } = start(env, '../test/cli/fake-npm.ts')
    await said(child.stdout, 'Ctrl-C stops')
    child.kill('SIGKILL')
    await runtime.ends
  })

  it('keeps the admin token out of the process list', async () => {
    const { child, end, called } = start({ PORT: String(await freePort()), ADMIN_TOKEN: 'very-secret' })
    await said(child.stdout, 'Ctrl-C stops')
    expect(called().token).toBe('very-secret')
    expect(called().args.join(' ')).not.toContain('very-secret')
    child.kill('SIGINT')
    // No agent stands for the host name: its card is nothing to try.
    const { stdout } = await end
    expect(stdout).not.toMatch(/\d\/\.well-known/)
    expect(stdout).toMatch(/agents\/a\?dialect=gopherhole/)
  })

  it('says so where the port is in use', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const { code, stderr } = await start({ PORT: String(port) }).end
    server.close()
    expect(stderr).toContain(`Port ${port} is in use`)
    expect(code).toBe(1)
  })

  it('says so where no client would speak to the port', async () => {
    const { code, stderr } = await start({ PORT: '6000' }).end
    expect(stderr).toContain('6000 is a port that neither fetch nor browsers speak to')
    expect(code).toBe(1)
  })

  it('says so where the host does not start', async () => {
    const { code, stderr } = await start({ PORT: String(await freePort()), BROKEN: '1' }).end
    expect(stderr).toContain('did not start')
    expect(code).toBe(1)
  })
})
