import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sharedHost, token } from '../support/host.ts'
import { card, containing, Workspace } from './workspace.ts'

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
  for (const set of ['synced-weather', 'synced-many'])
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

  it('registers 102 agents, and finds them unchanged', async () => {
    const ids = Array.from({ length: 102 }, (_, index) => `synced-many-${index}`)
    const workspace = folderOf('synced-many', ...ids)
    expect((await workspace.run([], admin)).stdout).toMatch(/: 102 created\n$/)
    expect((await workspace.run(['--check'], admin)).stdout).toMatch(/: 102 unchanged\n$/)
  })
})
