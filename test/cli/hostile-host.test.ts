import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { HostError } from '../../cli/client/index.ts'
import { paginate } from '../../cli/client/pages.ts'
import { FakeHost, isPut, json, problem, times } from './fake-host.ts'
import { card, containing, matching, useFakeHost, Workspace } from './workspace.ts'

const { host, renew, run } = useFakeHost()

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
        return Boolean(json(response, 200, { ...page, cursor: cursors[count++ % cursors.length] }))
      },
    ]
  }
  const prunable = { 'cards/defaults.yaml': 'set: mine', 'cards/a.json': card('a') }

  it('is not read again and again (exit 4)', async () => {
    const noEntries = { entries: [], head: null }
    const rows: [command: string, path: string, page: object][] = [
      ['list', '/agents', { agents: [{ id: 'a' }] }],
      ['pull', '/agents', { agents: [{ id: 'a' }] }],
      ['--prune --yes', '/agents', { agents: [{ id: 'a', set: 'mine' }] }],
      ['token list', '/tokens', { tokens: [] }],
      ['history a --limit 9999', '/agents/a/revisions', { revisions: [] }],
      ['audit --limit 9999', '/audit', noEntries],
      ['audit verify', '/audit', noEntries],
    ]
    for (const [command, path, page] of rows) {
      renew()
      repeatPages(path, page, ['1', '2', '3'])
      const { code, stdout, stderr, writes } = await run(prunable, command)
      expect(stdout + stderr).toContain('the host returns the same page of a list again')
      const cursors = host.seen.map(seen => new URL(seen.path, host.url).searchParams.get('cursor'))
      expect([code, cursors, writes]).toEqual([4, [null, '1', '2', '3'], []])
    }
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
    const stderr = matching(/longer than any that a host imports/)
    expect(await run({}, 'export')).toMatchObject({ code: 4, stdout: '', stderr })
  })

  it('is not waited for longer than a minute at a time', async () => {
    const headers = { 'Retry-After': '9'.repeat(30) }
    host.faults = [times(1, isPut(), response => problem(response, 503, 'busy', 'No.', { headers }))]
    const stderr = matching(/^PUT \/agents\/a: .*; retrying in 60 s$/m)
    expect(await run(files, '')).toMatchObject({ code: 0, stderr })
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
      const { code, stdout, stderr } = await run(workspace, command)
      expect([code, stdout + stderr], command).toEqual([4, containing('the host has moved')])
      host.healthFault = redirect
      expect((await run(workspace, command)).code, command).toBe(4)
      host.healthFault = () => false
    }
    expect([...other.seen, ...other.contacts]).toEqual([])
  })
})

describe('a host with shell commands in its texts', () => {
  it('has none of them in a command that is shown', async () => {
    const [kid, key] = ['k1;id', { role: 'previous', secret: 'SIGNING_KEY' }]
    const keys = { keys: [{ kid, ...key }], unsigned: 0, cacheSeconds: 60, time: '2026-11-26T12:00:00Z' }
    host.faults = [({ path }, response) => path === '/keys' && Boolean(json(response, 200, keys))]
    const stderr = matching(/is not a Calling Card host\.\n$/)
    expect(await run({}, 'keys list')).toMatchObject({ code: 4, stdout: '', stderr })
  })
})
