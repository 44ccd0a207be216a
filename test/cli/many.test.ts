import { describe, expect, it } from 'vitest'
import { json, problem, type Seen, times } from './fake-host.ts'
import { card, matching, useFakeHost, Workspace } from './workspace.ts'

const { host, env, renew, run } = useFakeHost()

const idsOf = (count: number) => Array.from({ length: count }, (_, index) => `agent-${String(index).padStart(3, '0')}`)

/** Returns the folder of an owner with the cards of so many agents. */
const folderOf = (count: number, more: Record<string, unknown> = {}) =>
  new Workspace({
    'cards/defaults.yaml': 'set: mine',
    ...Object.fromEntries(idsOf(count).map(id => [`cards/${id}.json`, card(id)])),
    ...more,
  })

/** Returns how often each kind of request was made since the last time. */
const countRequests = (): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const { method, path } of host.seen.splice(0)) {
    const kind = `${method} ${path.replace(/\?.*/, '?').replace(/\/agent-\d+/, '/{id}')}`
    counts[kind] = (counts[kind] ?? 0) + 1
  }
  return counts
}

const isBatch = ({ path }: Seen): boolean => path === '/agents:batch'

describe('sync-card with many cards', () => {
  it('needs few requests: to create them, to find them unchanged, and to change some', async () => {
    const workspace = folderOf(30)
    expect(await run(workspace, '')).toMatchObject({ stdout: matching(/: 30 created\n$/) })
    const read = { 'GET /agents/{id}/manifest': 1, 'GET /agents?': 1 }
    expect(countRequests()).toEqual({ ...read, 'PUT /agents/{id}': 1, 'POST /agents:batch': 1 })
    expect(await run(workspace, '--check')).toMatchObject({ code: 0, stdout: matching(/: 30 unchanged\n$/) })
    expect(countRequests()).toEqual(read)
    workspace.write({ 'cards/agent-007.json': card('agent-007', { version: '2.0.0' }) })
    expect((await run(workspace, '')).stdout).toMatch(/"2\.0\.0".*: 1 updated, 29 unchanged\n$/s)
    expect(countRequests()).toEqual({ ...read, 'GET /agents/{id}/manifest': 2, 'PUT /agents/{id}': 1 })
  })

  it('sends each manifest as a registration, on the condition that the host has what was compared', async () => {
    for (const id of idsOf(20)) host.register(id, { card: card(id, { version: '0.1.0' }), set: 'mine' })
    await folderOf(30).run([], env)
    const [batch] = host.seen.filter(isBatch)
    const [first, ...lines] = batch?.body.split('\n').map(line => JSON.parse(line)) ?? []
    expect(first).toEqual({
      ...{ id: 'agent-001', manifest: { set: 'mine', card: card('agent-001') } },
      ifMatch: matching(/^"[0-9a-f]{64}"$/),
    })
    expect(lines.at(-1)).toMatchObject({ id: 'agent-029', ifNoneMatch: '*' })
    expect(batch?.headers).toMatchObject({
      ...{ 'content-type': 'application/x-ndjson', authorization: `Bearer ${host.token}` },
    })
  })

  it('sends a batch again that the host refused because of a rate limit, and nothing one by one', async () => {
    const headers = { 'Retry-After': '0' }
    const limit = (response: Parameters<typeof problem>[0]) =>
      void problem(response, 429, 'too-many-requests', 'Later.', { headers })
    host.faults = [times(2, isBatch, limit)]
    expect(await run(folderOf(25), '')).toMatchObject({ code: 0, stdout: matching(/: 25 created\n$/) })
    expect(countRequests()).toMatchObject({ 'POST /agents:batch': 3, 'PUT /agents/{id}': 1 })
  })

  it('splits what is too large for one request, and sends a very large card by itself', async () => {
    const large = (id: string, length: number) =>
      card(id, { documentation: Array.from({ length: 20 }, () => 'x'.repeat(length / 20)) })
    const files = idsOf(22).map((id, index) => [`cards/${id}.json`, large(id, index === 9 ? 261_000 : 100_000)])
    const { code } = await folderOf(0, Object.fromEntries(files)).run([], env)
    expect([code, host.agents.size]).toEqual([0, 22])
    expect(host.writes.sort()).toEqual([
      ...['POST /agents:batch', 'POST /agents:batch', 'PUT /agents/agent-000', 'PUT /agents/agent-009'],
    ])
    for (const { body } of host.seen.filter(isBatch)) expect(body.length).toBeLessThan(1.1 * 2 ** 20)
  })

  it('sends remote cards by themselves: the host fetches each, which may take long', async () => {
    const remote = { upstream: { card: 'https://remote.example.com/card.json' } }
    await folderOf(25, { 'cards/agent-010.json': remote }).run([], env)
    expect(host.writes.sort()).toEqual(['POST /agents:batch', 'PUT /agents/agent-000', 'PUT /agents/agent-010'])
  })

  it('reports what the host refuses, and registers the others', async () => {
    const refusals: Record<string, [number, string, string]> = {
      'agent-005': [422, 'invalid-card', 'Nothing was registered.'],
      'agent-006': [403, 'forbidden', 'The hostname is not yours.'],
    }
    host.refuseLine = id => refusals[id]
    const { code, stdout } = await run(folderOf(25), '')
    expect(stdout).toContain('✗ refused   agent-005 (cards/agent-005.json) · Nothing was registered.\n')
    expect(stdout).toContain(
      '✗ forbidden agent-006 (cards/agent-006.json) · The hostname is not yours (SYNC_CARD_TOKEN in the environment).\n',
    )
    expect(stdout).toMatch(/: 23 created, 1 refused, 1 forbidden\n$/)
    expect(code).toBe(4)
  })

  it('sends a line again by itself if the host failed at it', async () => {
    host.refuseLine = id => (id === 'agent-005' ? [503, 'unavailable', 'Later.'] : undefined)
    const { code } = await folderOf(25).run([], env)
    expect([code, host.agents.size]).toEqual([0, 25])
    expect(host.writes).toEqual(['PUT /agents/agent-000', 'POST /agents:batch', 'PUT /agents/agent-005'])
  })

  it('sends the lines by themselves if the host fails at a batch, but not past its rate limit', async () => {
    const failWith = (status: number) => [times(99, isBatch, response => void problem(response, status, 'x', 'Later.'))]
    host.faults = failWith(503)
    expect(await run(folderOf(25), '')).toMatchObject({ code: 0, stdout: matching(/: 25 created\n$/) })
    renew()
    host.faults = failWith(429)
    const { code, writes } = await run(folderOf(25), '')
    expect([code, writes.filter(write => write.startsWith('PUT'))]).toEqual([4, ['PUT /agents/agent-000']])
  })

  it('sends the lines by themselves if the host rejects a batch as a whole, or returns no results', async () => {
    const answers: ((response: Parameters<typeof problem>[0]) => void)[] = [
      ...[403, 404, 413].map(status => (response: Parameters<typeof problem>[0]) => {
        problem(response, status, 'x', 'Not at once.')
      }),
      response => void response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>'),
      response => void json(response, 200, []),
    ]
    for (const answer of answers) {
      renew()
      host.faults = [times(1, isBatch, answer)]
      expect(await run(folderOf(25), '')).toMatchObject({ code: 0, stdout: matching(/: 25 created\n$/) })
    }
  })

  it('finds out what became of a batch whose response is lost or cut off', async () => {
    const cut = (seen: Seen, response: Parameters<(typeof host.faults)[0]>[1]): boolean => {
      if (!isBatch(seen)) return false
      const end = response.end.bind(response)
      response.end = ((text: string) => end(text.slice(0, text.length / 2))) as typeof response.end
      return false
    }
    host.faults = [cut]
    expect(await run(folderOf(25), '')).toMatchObject({ code: 0, stdout: matching(/: 25 created\n$/) })
    expect(host.writes.filter(write => write.startsWith('PUT')).length).toBeGreaterThan(1)
  })

  it('does not overwrite what somebody registers meanwhile', async () => {
    host.faults = [
      seen => {
        if (isBatch(seen)) host.register('agent-005', { set: 'theirs', card: card('agent-005', { version: '9.0.0' }) })
        return false
      },
    ]
    const { code, stdout } = await run(folderOf(25), '')
    expect(stdout).toContain('✗ owned by another set agent-005')
    expect([code, host.agents.size]).toEqual([3, 25])
  })

  it('reports what a batch has registered when it is interrupted (exit 130)', async () => {
    const command = folderOf(110).start([], env)
    host.faults = [
      seen => {
        if (isBatch(seen)) command.interrupt()
        return false
      },
    ]
    const { code, stdout } = await command.ended
    expect(stdout).toMatch(/: 101 created, 9 not pushed\n$/)
    expect([code, host.agents.size, host.writes.length]).toEqual([130, 101, 2])
  })

  it('prunes many with the entity tags of the list', async () => {
    for (const id of idsOf(30)) host.register(id, { card: card(id), set: 'mine' })
    const { code, stdout } = await folderOf(1).run(['--prune', '--yes'], env)
    expect([code, stdout]).toEqual([0, expect.stringMatching(/: 29 deleted, 1 unchanged\n$/)])
    expect(countRequests()).toEqual({ 'GET /agents?': 1, 'GET /agents/{id}/manifest': 1, 'DELETE /agents/{id}': 29 })
  })
})
