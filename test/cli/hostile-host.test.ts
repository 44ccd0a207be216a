import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { paginate } from '../../src/api/client/index.ts'
import { FakeHost, json } from './fake-host.ts'
import { containing, matching, useFakeHost, Workspace } from './workspace.ts'

const { host, run } = useFakeHost()

const noLines = '{"format":"calling-card-export","version":1}\n'
const wholeExport = `${noLines}{"end":true,"lines":1,"sha256":"${createHash('sha256').update(noLines).digest('hex')}"}\n`

describe('a host that never ends', () => {
  it('is not read again and again, nor beyond the pages of any list', async () => {
    const read = async (cursorOf: (count: number) => number) => {
      let count = 0
      const pages = paginate(async () => ({ cursor: String(cursorOf(count++)) }))
      return [String(await Array.fromAsync(pages).catch((error: unknown) => error)), count]
    }
    expect(await read(count => count % 3)).toEqual(['Error: the host returns the same page of a list again', 4])
    expect(await read(count => count)).toEqual(['Error: the host returns a list without end', 100_000])
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
})

describe('a host that redirects to another', () => {
  const other = new FakeHost()
  beforeEach(() => other.listen())
  afterEach(() => other.close())

  it('has no command follow it with the token (exit 4)', async () => {
    const workspace = new Workspace({ 'export.ndjson': wholeExport })
    for (const [command, status] of Object.entries({ export: 303, 'import export.ndjson': 307 })) {
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

  it('has no other secret of the Worker deleted than those of keys', async () => {
    const key = { kid: 'k1', role: 'previous', secret: 'ADMIN_TOKEN' }
    const keys = { keys: [key], unsigned: 0, cacheSeconds: 60, time: '2026-11-26T12:00:00Z' }
    host.faults = [({ path }, response) => path === '/keys' && Boolean(json(response, 200, keys))]
    const stderr = matching(/has a key of a kind that this sync-card does not know: upgrade it\.\n$/)
    expect(await run({}, 'keys list')).toMatchObject({ code: 4, stdout: '', stderr })
  })
})
