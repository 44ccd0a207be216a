import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { HostError } from '../../cli/client/index.ts'
import { paginate } from '../../cli/client/pages.ts'
import { FakeHost, isPut, problem, times } from './fake-host.ts'
import { card, useFakeHost, Workspace } from './workspace.ts'

const { host, env } = useFakeHost()

const files = { 'cards/a.json': card('a') }
const noLines = '{"format":"calling-card-export","version":1}\n'
const wholeExport = `${noLines}{"end":true,"lines":1,"sha256":"${createHash('sha256').update(noLines).digest('hex')}"}\n`

describe('a host that never ends', () => {
  /** Responds to requests for a list with pages whose cursors come again and again. */
  const repeatPages = (path: string, page: object, cursors: readonly string[]): void => {
    let count = 0
    host.faults = [
      (seen, response) => {
        if (seen.path.split('?')[0] !== path) return false
        const body = JSON.stringify({ ...page, cursor: cursors[count++ % cursors.length] })
        response.writeHead(200, { 'Content-Type': 'application/json' }).end(body)
        return true
      },
    ]
  }
  const prunable = { 'cards/defaults.yaml': 'set: mine', 'cards/a.json': card('a') }

  it.each([
    ['list', '/agents', { agents: [{ id: 'a' }] }],
    ['pull', '/agents', { agents: [{ id: 'a' }] }],
    ['--prune --yes', '/agents', { agents: [{ id: 'a', set: 'mine' }] }],
    ['token list', '/tokens', { tokens: [] }],
    ['history a --limit 9999', '/agents/a/revisions', { revisions: [] }],
    ['audit --limit 9999', '/audit', { entries: [], head: null }],
    ['audit verify', '/audit', { entries: [], head: null }],
  ])('is not read by %s again and again (exit 4)', async (command, path, page) => {
    repeatPages(path, page, ['1', '2', '3'])
    const { code, stdout, stderr } = await new Workspace(prunable).run(command.split(' '), env)
    expect(stdout + stderr).toContain('the host returns the same page of a list again')
    expect([code, host.seen.map(seen => new URL(seen.path, host.url).searchParams.get('cursor'))]).toEqual([
      4,
      [null, '1', '2', '3'],
    ])
    expect(host.writes).toEqual([])
  })

  it('is not read beyond the pages of any list', async () => {
    let count = 0
    const pages = paginate(async () => ({ cursor: String(count++) }))
    await expect(Array.fromAsync(pages)).rejects.toThrow(new HostError('the host returns a list without end'))
    expect(count).toBe(100_000)
  })

  it('is not read by export beyond what a host imports (exit 4)', async () => {
    host.faults = [
      (_, response) => {
        response.writeHead(200, { 'Content-Type': 'application/x-ndjson' })
        const piece = 'x'.repeat(2 ** 20)
        const send = (): void => {
          while (!response.destroyed && response.write(piece));
          response.once('drain', send)
        }
        send()
        return true
      },
    ]
    const { code, stdout, stderr } = await new Workspace().run(['export'], env)
    expect([code, stdout, stderr]).toEqual([4, '', expect.stringMatching(/longer than any that a host imports/)])
  })

  it('is not waited for longer than a minute at a time', async () => {
    host.faults = [
      times(1, isPut(), response =>
        problem(response, 503, 'busy', 'No.', { headers: { 'Retry-After': '9'.repeat(30) } }),
      ),
    ]
    const { code, stderr } = await new Workspace(files).run([], env)
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^PUT \/agents\/a: .*; retrying in 60 s$/m)])
  })
})

describe('a host that redirects to another', () => {
  const other = new FakeHost()
  beforeEach(() => other.listen())
  afterEach(() => other.close())

  it('has no command follow it with the token (exit 4)', async () => {
    const commands = { list: 301, '': 302, export: 303, 'import export.ndjson': 307, 'token create --scope admin': 308 }
    const workspace = new Workspace({ ...files, 'export.ndjson': wholeExport })
    for (const [command, status] of Object.entries(commands)) {
      const redirect = (_: unknown, response: ServerResponse): boolean =>
        Boolean(response.writeHead(status, { Location: `${other.url}/agents` }).end())
      host.faults = [redirect]
      const { code, stdout, stderr } = await workspace.run(command.split(' ').filter(Boolean), env)
      expect([code, stdout + stderr], command).toEqual([4, expect.stringContaining('the host has moved')])
      host.healthFault = redirect
      expect((await workspace.run(command.split(' ').filter(Boolean), env)).code, command).toBe(4)
      host.healthFault = () => false
    }
    expect([...other.seen, ...other.contacts]).toEqual([])
  })
})

describe('a host with shell commands in its texts', () => {
  it('has none of them in a command that is shown', async () => {
    const [kid, key] = ['k1;id', { role: 'previous', secret: 'SIGNING_KEY' }]
    const keys = { keys: [{ kid, ...key }], unsigned: 0, cacheSeconds: 60, time: '2026-11-26T12:00:00Z' }
    host.faults = [
      ({ path }, response) =>
        path === '/keys' &&
        Boolean(response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(keys))),
    ]
    const { code, stdout, stderr } = await new Workspace().run(['keys', 'list'], env)
    expect([code, stdout + stderr]).toEqual([4, expect.stringMatching(/is not a Calling Card host\.\n$/)])
  })
})
