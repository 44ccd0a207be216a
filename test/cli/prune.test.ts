import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createContext } from '../../cli/config.ts'
import { syncCards } from '../../cli/sync/index.ts'
import { FakeHost } from './fake-host.ts'
import { card, Workspace } from './workspace.ts'

let host: FakeHost
let env: Record<string, string>
beforeEach(async () => {
  host = await new FakeHost().listen()
  host.pageSize = 2
  for (const id of ['a', 'old', 'older']) host.register(id, { card: card(id) })
  host.register('oldest', { card: card('oldest'), visibility: 'internal' })
  env = { SYNC_CARD_URL: host.url, SYNC_CARD_TOKEN: host.token }
})
afterEach(() => host.close())

describe('sync-card --prune', () => {
  it('deletes with --yes what no file describes: every page, internal agents too, and only with If-Match', async () => {
    const { code } = await new Workspace({ 'cards/a.json': card('a') }).run(['--prune', '--yes'], env)
    expect({ code, agents: [...host.agents.keys()] }).toEqual({ code: 0, agents: ['a'] })
    const deletes = host.seen.filter(({ method }) => method === 'DELETE')
    expect(deletes.map(({ headers }) => headers['if-match'])).toEqual(Array(3).fill(expect.stringMatching(/^"/)))
  })

  it('shows with --check what would be deleted (exit 1)', async () => {
    const { code, stdout } = await new Workspace({ 'cards/a.json': card('a') }).run(['--prune', '--check'], env)
    expect(stdout).toMatch(/- to delete old\n/)
    expect({ code, writes: host.writes }).toEqual({ code: 1, writes: [] })
  })

  it('deletes nothing while a file is invalid: it may describe any agent (exit 3)', async () => {
    const workspace = new Workspace({ 'cards/a.json': card('a'), 'cards/b.json': '{' })
    const { code, stderr } = await workspace.run(['--prune', '--yes'], env)
    expect(stderr).toContain('Nothing is pruned while a file is invalid.')
    expect({ code, writes: host.writes }).toEqual({ code: 3, writes: [] })
  })

  it.each([
    [true, ['a']],
    [false, ['a', 'old', 'older', 'oldest']],
  ])('asks once before deleting; the answer is %s', async (answer, left) => {
    const { io } = new Workspace({ 'cards/a.json': card('a') }).io()
    const asked: string[] = []
    const confirm = async (question: string) => {
      asked.push(question)
      return answer
    }
    const options = { dryRun: false, check: false, prune: true, force: false, refresh: false, retries: 0, confirm }
    await syncCards([], { url: host.url, token: host.token }, options, createContext(io, 'sync-card'))
    expect(asked).toEqual(['Delete old, older, oldest from the host? No file describes them.'])
    expect([...host.agents.keys()]).toEqual(left)
  })
})
