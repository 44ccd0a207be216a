import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { sharedHost, startHost, token } from '../support/host.ts'
import { card, Workspace } from './workspace.ts'

const host = sharedHost()
const url = host.url.origin
const admin = { SYNC_CARD_URL: url, SYNC_CARD_TOKEN: token }

const folderOf = (set: string, ...ids: string[]) =>
  new Workspace({
    'cards/defaults.yaml': `set: ${set}`,
    ...Object.fromEntries(ids.map(id => [`cards/${id}.json`, card(id)])),
  })

/** Returns the ids of a set on the host. */
const idsOf = async (set: string): Promise<string[]> => {
  const response = await host.fetch(`/agents?set=${set}`, { headers: { Authorization: `Bearer ${token}` } })
  const { agents } = (await response.json()) as { agents: { id: string }[] }
  return agents.map(({ id }) => id)
}

let team1: Record<string, string>
beforeAll(async () => {
  const issued = await host.issue({ scopes: ['write'], agents: ['synced1-*'] })
  team1 = { SYNC_CARD_URL: url, SYNC_CARD_TOKEN: issued.token }
})

afterAll(async () => {
  for (const set of ['synced-weather', 'synced-tax', 'synced-counted', 'synced-secret'])
    for (const id of await idsOf(set))
      await host.fetch(`/agents/${id}`, { method: 'DELETE', headers: { Authorization: `Bearer ${token}` } })
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
    expect(await empty.run(['--prune', '--yes'], team1)).toMatchObject({
      ...{ code: 0, stdout: expect.stringContaining('- deleted   synced1-last\n') },
    })
    expect(await idsOf('synced-last')).toEqual([])
  })

  it('agrees with the host on secrets and on `$schema`', async () => {
    const description = 'Explains sk-proj-Zq7Vt2Xw9Lm4Np6Rk8Ys3 and others'
    const written = {
      $schema: `${url}/schema/manifest.json`,
      card: card('synced1-secret', { $schema: 's', description }),
    }
    const workspace = new Workspace({
      'cards/defaults.yaml': 'set: synced-secret',
      'cards/synced1-secret.json': written,
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

  it('keeps two owners apart, unless one takes an agent over', async () => {
    await folderOf('synced-weather', 'synced1-rain').run([], admin)
    const tax = folderOf('synced-tax', 'synced1-rain', 'synced1-vat')
    const refused = await tax.run(['--prune', '--yes'], admin)
    expect(refused.stdout).toMatch(/✗ owned by another set synced1-rain .*it belongs to the set synced-weather/)
    expect({ code: refused.code, ids: await idsOf('synced-tax') }).toEqual({ code: 3, ids: ['synced1-vat'] })
    expect((await tax.run(['--force'], admin)).code).toBe(0)
    expect(await idsOf('synced-tax')).toEqual(['synced1-rain', 'synced1-vat'])
  })

  it('lets one of two owners who write one id at once have it', async () => {
    const sets = ['synced-weather', 'synced-tax']
    const ended = await Promise.all(sets.map(set => folderOf(set, 'synced1-both').run([], admin)))
    expect(ended.map(({ code }) => code).sort()).toEqual([0, 3])
  })

  it('is refused the agents that a token is not for, with a line each (exit 4)', async () => {
    const { code, stdout } = await folderOf('synced-weather', 'synced1-fog', 'synced2-hail').run([], team1)
    expect(stdout).toMatch(/^\+ created {3}synced1-fog .*\n✗ forbidden synced2-hail \(.*\) · \S/m)
    expect(code).toBe(4)
  })
})

it('registers 301 agents with 9 requests, and finds them unchanged with 5', async () => {
  const own = await startHost()
  onTestFinished(() => own.close())
  const env = { SYNC_CARD_URL: own.url.origin, SYNC_CARD_TOKEN: token }
  const ids = Array.from({ length: 301 }, (_, index) => `many-${String(index).padStart(3, '0')}`)
  const workspace = folderOf('many', ...ids)
  const requests = vi.spyOn(globalThis, 'fetch')
  onTestFinished(() => requests.mockRestore())
  const takeRequests = () =>
    requests.mock.calls
      .splice(0)
      .filter(([url]) => String(url).startsWith(own.url.origin))
      .map(([url, init]) => `${init?.method} ${String(url).slice(own.url.origin.length).replace(/\?.*/, '?')}`)
  const read = ['GET /health', 'GET /agents/many-000/manifest', 'GET /agents?', 'GET /agents?', 'GET /agents?']
  const write = ['PUT /agents/many-000', 'POST /agents:batch', 'POST /agents:batch', 'POST /agents:batch']
  const created = await workspace.run([], env)
  expect(created.stdout).toMatch(/created {3}many-000 .* the root agent\n.*: 301 created\n$/s)
  expect(takeRequests()).toEqual([...read, ...write])
  const unchanged = await workspace.run(['--check'], env)
  expect([unchanged.code, unchanged.stdout]).toEqual([0, expect.stringMatching(/: 301 unchanged\n$/)])
  expect(takeRequests()).toEqual(read)
}, 60_000)
