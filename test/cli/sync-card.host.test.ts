import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { sharedHost, token } from '../support/host.ts'
import { card, containing, matching, Workspace } from './workspace.ts'

const host = sharedHost()
const url = host.url.origin
const admin = { SYNC_CARD_URL: url, SYNC_CARD_TOKEN: token }

const folderOf = (set: string, ...ids: string[]) =>
  new Workspace({
    'cards/defaults.yaml': `set: ${set}`,
    ...Object.fromEntries(ids.map(id => [`cards/${id}.json`, card(id)])),
  })

/** Returns the ids of a set on the host, of which it lists up to a page. */
const idsOf = async (set: string): Promise<string[]> => {
  const response = await host.fetch(`/agents?limit=100&set=${set}`, { headers: { Authorization: `Bearer ${token}` } })
  const { agents } = (await response.json()) as { agents: { id: string }[] }
  return agents.map(({ id }) => id)
}

let team1: Record<string, string>
beforeAll(async () => {
  const issued = await host.issue({ scopes: ['write'], agents: ['synced1-*'] })
  team1 = { SYNC_CARD_URL: url, SYNC_CARD_TOKEN: issued.token }
})

afterAll(async () => {
  const headers = { Authorization: `Bearer ${token}` }
  for (const set of ['synced-weather', 'synced-counted', 'synced-secret', 'synced-many'])
    await Promise.all((await idsOf(set)).map(id => host.fetch(`/agents/${id}`, { method: 'DELETE', headers })))
})

describe('sync-card and the production build', () => {
  it('registers a set, leaves it unchanged, and prunes only what the token can write', async () => {
    const ids = ['synced1-rain', 'synced1-snow', 'synced2-wind']
    expect((await folderOf('synced-weather', ...ids).run([], admin)).code).toBe(0)
    expect((await folderOf('synced-weather', ...ids).run(['--check'], admin)).stdout).toContain('3 unchanged\n')
    const { code, stdout } = await folderOf('synced-weather', 'synced1-rain').run(['--prune', '--yes'], team1)
    expect(stdout).toMatch(/^- deleted {3}synced1-snow\n.*: 1 deleted, 1 unchanged\n$/)
    expect({ code, ids: await idsOf('synced-weather') }).toEqual({ code: 0, ids: ['synced1-rain', 'synced2-wind'] })
  })

  it('removes the last agent that a narrowed token covers, by name or with its file', async () => {
    const write = () => folderOf('synced-last', 'synced1-last').run([], team1)
    const empty = new Workspace({ 'cards/defaults.yaml': 'set: synced-last' })
    expect((await write()).code).toBe(0)
    expect((await new Workspace().run(['remove', 'synced1-lost', '--yes'], team1)).stderr).toContain('"synced1-last"?')
    expect(await new Workspace().run(['remove', 'synced1-last', '--yes'], team1)).toMatchObject({ code: 0 })
    expect([await idsOf('synced-last'), (await write()).code]).toEqual([[], 0])
    const stdout = containing('- deleted   synced1-last\n')
    expect(await empty.run(['--prune', '--yes'], team1)).toMatchObject({ code: 0, stdout })
    expect(await idsOf('synced-last')).toEqual([])
  })

  it('agrees with the host on secrets and on `$schema`', async () => {
    const description = 'Explains sk-proj-Zq7Vt2Xw9Lm4Np6Rk8Ys3 and others'
    const secret = card('synced1-secret', { $schema: 's', description })
    const written = { $schema: `${url}/schema/manifest.json`, card: secret }
    const workspace = new Workspace({
      ...{ 'cards/defaults.yaml': 'set: synced-secret', 'cards/synced1-secret.json': written },
    })
    const allow = ['--allow-secret', '/card/description']
    const codes: (number | null)[] = []
    for (const args of [[], allow, [...allow, '--check'], ['--check']])
      codes.push((await workspace.run(args, admin)).code)
    expect(codes).toEqual([3, 0, 0, 3])
    const body = JSON.stringify(written)
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
    const response = await host.fetch('/agents/synced1-secret', { method: 'PUT', headers, body })
    expect(await response.json()).toMatchObject({ errors: [{ pointer: '/card/description' }] })
    expect(response.status).toBe(422)
  })

  it('counts with --prune the agents that a token can read, but not write', async () => {
    await folderOf('synced-counted', 'synced1-counted').run([], admin)
    const { token: reader } = await host.issue({ scopes: ['read'] })
    const workspace = folderOf('synced-counted', 'synced1-other')
    const { code, stdout, stderr } = await workspace.run(['--prune', '--yes'], { ...admin, SYNC_CARD_TOKEN: reader })
    expect(stderr).toContain('1 agent of the set synced-counted will not be deleted: the token cannot write it.\n')
    expect(stdout).toMatch(/: 1 kept, 1 forbidden\n$/)
    expect(code).toBe(4)
  })

  it('is refused the agents that a token is not for, with a line each (exit 4)', async () => {
    const { code, stdout } = await folderOf('synced-weather', 'synced1-fog', 'synced2-hail').run([], team1)
    expect(stdout).toMatch(/^\+ created {3}synced1-fog .*\n✗ forbidden synced2-hail \(.*\) · \S/m)
    expect(code).toBe(4)
  })
})

it('registers 102 agents with 7 requests, and finds them unchanged with 4', async () => {
  const ids = Array.from({ length: 102 }, (_, index) => `synced-many-${String(index).padStart(3, '0')}`)
  const workspace = folderOf('synced-many', ...ids)
  const requests = vi.spyOn(globalThis, 'fetch')
  onTestFinished(() => requests.mockRestore())
  const takeRequests = () =>
    requests.mock.calls
      .splice(0)
      .map(([input, init]) => `${init?.method} ${String(input).slice(url.length).replace(/\?.*/, '?')}`)
  const first = '/agents/synced-many-000'
  const read = ['GET /health', `GET ${first}/manifest`, 'GET /agents?', 'GET /agents?']
  expect((await workspace.run([], admin)).stdout).toMatch(/: 102 created\n$/s)
  expect(takeRequests()).toEqual([...read, `PUT ${first}`, 'POST /agents:batch', 'POST /agents:batch'])
  const unchanged = { code: 0, stdout: matching(/: 102 unchanged\n$/) }
  expect(await workspace.run(['--check'], admin)).toMatchObject(unchanged)
  expect(takeRequests()).toEqual(read)
}, 60_000)
