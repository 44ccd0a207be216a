import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from '../../cli/cli.ts'
import { sharedHost, startSharedUpstream, token } from '../support/host.ts'
import type { UpstreamServer } from '../support/upstream.ts'
import { card, containing, Workspace } from './workspace.ts'

const host = sharedHost()
const env = { SYNC_CARD_URL: host.url.origin, SYNC_CARD_TOKEN: token }

let upstream: UpstreamServer
beforeAll(async () => {
  upstream = await startSharedUpstream()
})
afterAll(() => upstream.close())

const authorized = (path: string, method = 'GET') =>
  host.fetch(path, { method, headers: { Authorization: `Bearer ${token}` } })

const manifestOf = (id: string, version: string) => JSON.parse(JSON.stringify({ card: card(id, { version }), set: id }))

const register = async (id: string, ...versions: string[]): Promise<string[]> => {
  for (const version of versions) await host.put(id, manifestOf(id, version))
  return []
}

/** Registers a remote card, and has the host find another one, which waits for approval. */
const registerPending = async (id: string): Promise<string[]> => {
  const serve = (url: string) => upstream.serve(() => Response.json({ ...card(id), version: '1.0.0', url }))
  serve('https://a.example.com/a2a')
  await host.put(id, { upstream: { card: `${upstream.origin}/card.json`, pin: true } })
  serve('https://b.example.com/a2a')
  const refreshed = await (await authorized(`/agents/${id}/refresh`, 'POST')).json()
  return ['--accept', (refreshed as { pending: { etag: string } }).pending.etag]
}

/**
 * Runs a command in a folder with these files. The response to its first write is lost after the host has done it;
 * `meanwhile` happens before the command sends the request again.
 */
const runWithLoss = async (
  args: readonly string[],
  { files = {}, meanwhile }: { files?: Record<string, unknown>; meanwhile?: (() => Promise<unknown>) | undefined } = {},
) => {
  const { io, output } = new Workspace(files).io(env)
  const writes: string[] = []
  const lossy: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    if (init?.method === 'GET') return response
    writes.push(`${init?.method} ${response.status}`)
    if (writes.length > 1) return response
    await meanwhile?.()
    throw new TypeError('fetch failed', { cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }) })
  }
  const code = await run(args, { ...io, fetch: lossy })
  return { code, ...output(), writes }
}

/** A write: what is registered before, its arguments, the owner's files, and what the command reports. */
type Row = {
  prepare?: (id: string) => Promise<string[]>
  args: (id: string, prepared: string[]) => string[]
  files?: (id: string) => Record<string, unknown>
  stdout: (id: string) => string
}

const rows: Record<string, Row> = {
  'a new card': {
    args: () => ['--json'],
    files: id => ({ [`cards/${id}.json`]: card(id) }),
    stdout: () => '"action":"created"',
  },
  'a rollback': {
    prepare: id => register(id, '1', '2'),
    args: id => ['rollback', id, '1'],
    stdout: id => `restored revision 1 of ${id} as 3\n`,
  },
  'a rollback of a removed agent': {
    prepare: async id => {
      await register(id, '1')
      await authorized(`/agents/${id}`, 'DELETE')
      return []
    },
    args: id => ['rollback', id, '1'],
    stdout: id => `restored revision 1 of ${id} as 3\n`,
  },
  'a removed agent': {
    prepare: id => register(id, '1'),
    args: id => ['remove', id, '--yes'],
    stdout: id => `removed ${id}\n`,
  },
  'tasks that are cleared': {
    prepare: id => register(id, '1'),
    args: id => ['tasks', 'clear', id],
    stdout: id => `cleared ${id};`,
  },
  'a revoked token': {
    prepare: async () => [(await host.issue({ scopes: ['read'] })).id],
    args: (_, [id = '']) => ['token', 'revoke', id],
    stdout: () => 'revoked ',
  },
  'an accepted card': {
    prepare: registerPending,
    args: (id, prepared) => ['refresh', id, ...prepared],
    stdout: id => `refreshed ${id}\n`,
  },
}

describe('sync-card, if the response to a write is lost', () => {
  it.each(Object.entries(rows))('reports the success of what the host has done: %s', async (title, row) => {
    const id = `lost-${title.replaceAll(' ', '-').slice(-20)}`
    const prepared = (await row.prepare?.(id)) ?? []
    const { code, stdout, stderr, writes } = await runWithLoss(row.args(id, prepared), { files: row.files?.(id) ?? {} })
    expect([code, stdout]).toEqual([0, containing(row.stdout(id))])
    expect(stderr).toContain('the connection failed (reset); retrying')
    expect(writes.length).toBeGreaterThan(1)
  })

  it('reports what somebody else has changed meanwhile (exit 3)', async () => {
    await register('lost-race', '1', '2')
    const meanwhile = () => register('lost-race', '9')
    const { code, stderr } = await runWithLoss(['rollback', 'lost-race', '1'], { meanwhile })
    expect(stderr).toContain('Agent "lost-race" has changed since you read it.')
    expect(code).toBe(3)
    const manifest = await (await authorized('/agents/lost-race/manifest')).json()
    expect(manifest).toMatchObject({ card: { version: '9' } })
  })

  it('reports no success of a token that never existed, or a card that never waited for approval (exit 3)', async () => {
    upstream.serve(() => Response.json({ ...card('lost-fresh'), url: 'https://a.example.com/a2a' }))
    await host.put('lost-fresh', { upstream: { card: `${upstream.origin}/card.json`, pin: true } })
    const messages = { 'token revoke abcdefgh': 'abcdefgh', 'refresh lost-fresh --accept "abc"': 'no pending card' }
    for (const [args, message] of Object.entries(messages)) {
      const { writes, ...ended } = await runWithLoss(args.split(' '))
      expect(ended).toEqual({ code: 3, stdout: '', stderr: containing(message) })
      expect(writes.length).toBe(2)
    }
  })
})
