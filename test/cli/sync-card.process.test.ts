import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { run } from '../../cli/cli.ts'
import { isPut, problem } from './fake-host.ts'
import { card, containing, matching, useFakeHost, Workspace, waitForEnd, waitForText } from './workspace.ts'

const { host, env } = useFakeHost()

describe('sync-card as a process', () => {
  it('reads .env without its empty variables, writes to its own streams, and exits with the code of the command', async () => {
    const { port } = new URL(host.url)
    const workspace = new Workspace({
      '.env': `SYNC_CARD_URL=\nPORT=${port}\nSYNC_CARD_TOKEN=\nADMIN_TOKEN=${host.token}\n`,
      ...{ 'cards/a.json': card('a'), 'cards/b.json': '{' },
    })
    const { code, stdout, stderr } = await waitForEnd(workspace.spawn('sync-card.ts', []))
    expect(stdout).toMatch(/^\+ created {3}a .*\n✗ invalid {3}cards\/b\.json\n/)
    expect({ code, stderr, writes: host.writes }).toEqual({ code: 3, stderr: '', writes: ['PUT /agents/a'] })
  })

  it('finishes its work if nobody reads its output any more', async () => {
    const workspace = new Workspace({ 'cards/a.json': card('a') })
    const child = workspace.spawn('sync-card.ts', [], env)
    child.stdout.destroy()
    const { code, stderr } = await waitForEnd(child)
    expect({ code, stderr, writes: host.writes }).toEqual({ code: 0, stderr: '', writes: ['PUT /agents/a'] })
  })

  it('reports a crash as a bug, with its stack and an exit code of its own (exit 70)', async () => {
    const crash = 'globalThis.fetch = () => setImmediate(() => { throw new Error("boom") }) && new Promise(() => {})'
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(crash)}`
    const child = new Workspace().spawn('sync-card.ts', ['list'], { ...env, NODE_OPTIONS })
    expect(await waitForEnd(child)).toEqual({
      ...{ code: 70, stdout: '' },
      stderr: matching(
        /^Error: boom\n {4}at .*\nsync-card: This is a bug in Calling Card \d+\.\d+\.\d+\. .* an issue .*\n$/s,
      ),
    })
  })

  it('stops watching at SIGTERM, with the code of the last synchronisation', async () => {
    const child = new Workspace({ 'cards/a.json': '{' }).spawn('sync-card.ts', ['--watch'], env)
    const ended = waitForEnd(child)
    await waitForText(child.stderr, 'Watching for changes')
    child.kill('SIGTERM')
    expect((await ended).code).toBe(3)
  })

  it('waits after SIGINT for the request under way (exit 130), and ends at once after the second one', async () => {
    for (const isImpatient of [false, true]) {
      const workspace = new Workspace({ 'cards/a.json': card('a'), 'cards/b.json': card('b') })
      const child = workspace.spawn('sync-card.ts', [], env)
      const ended = waitForEnd(child)
      const response = await new Promise<ServerResponse>(resolve => {
        host.faults = [
          (seen, response) => {
            if (isPut()(seen)) resolve(response)
            return isPut()(seen)
          },
        ]
      })
      const stopping = waitForText(child.stderr, 'Ctrl-C again stops at once.')
      child.kill('SIGINT')
      await stopping
      if (isImpatient) child.kill('SIGINT')
      else problem(response, 422, 'invalid-card', 'Nothing was registered.')
      expect(await ended).toMatchObject(
        isImpatient ? { code: null, stdout: '' } : { code: 130, stdout: containing('1 refused, 1 not pushed') },
      )
    }
  })
})

it('opens a card in a browser, which gets no token', async () => {
  const opener = '#!/bin/sh\nprintf "%s %s" "$*" "$ADMIN_TOKEN" > opened.txt\n'
  const workspace = new Workspace({ '.env': 'ADMIN_TOKEN=hidden', 'bin/xdg-open': opener, 'bin/open': opener })
  for (const name of ['xdg-open', 'open']) chmodSync(join(workspace.folder, 'bin', name), 0o755)
  host.register('weather', { card: card('weather') })
  const { io, output } = workspace.io({ ...env, PATH: join(workspace.folder, 'bin'), DISPLAY: ':0' })
  Object.assign(io.stdout as PassThrough, { isTTY: true })
  const url = `${host.url}/agents/weather/.well-known/agent-card.json`
  expect(await run(['open', 'weather'], io)).toBe(0)
  expect(output()).toEqual({ stdout: '', stderr: `Opened ${url}\n` })
  const file = join(workspace.folder, 'opened.txt')
  await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8'), { timeout: 10_000 }).toBe(`${url} `)
})

it('is stopped by a .env that cannot be read, without a stack: npm start and npm run deploy (exit 2)', async () => {
  const workspace = new Workspace()
  execFileSync('mkfifo', [join(workspace.folder, '.env')])
  const ended = await Promise.all(['start.ts', 'deploy.ts'].map(script => waitForEnd(workspace.spawn(script, []))))
  const stderr = matching(/^npm (?:start|run deploy): \.env is a FIFO, which is not read: .*\n$/)
  expect(ended).toEqual([1, 2].map(() => ({ code: 2, stdout: '', stderr })))
})
