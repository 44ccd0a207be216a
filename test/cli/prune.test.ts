import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { syncCards } from '../../cli/sync/sync.ts'
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

const quiet = { say: () => {}, note: () => {}, progress: () => ({ tick: () => {}, stop: () => {} }) }

describe('sync-card --prune', () => {
  it('--yes deletes what no file describes, on every page and internal ones too, if it is unchanged', async () => {
    const { code } = await new Workspace({ 'cards/a.json': card('a') }).run(['--prune', '--yes'], env)
    expect({ code, agents: [...host.agents.keys()] }).toEqual({ code: 0, agents: ['a'] })
    const deletes = host.seen.filter(({ method }) => method === 'DELETE')
    expect(deletes.map(({ headers }) => headers['if-match'])).toEqual(Array(3).fill(expect.stringMatching(/^"/)))
  })

  it('--check tells what would go (exit 1)', async () => {
    const { code, stdout } = await new Workspace({ 'cards/a.json': card('a') }).run(['--prune', '--check'], env)
    expect(stdout).toMatch(/- to delete old\n/)
    expect({ code, writes: host.writes }).toEqual({ code: 1, writes: [] })
  })

  it('deletes nothing while a file is bad: it may be the file of any agent', async () => {
    const workspace = new Workspace({ 'cards/a.json': card('a'), 'cards/b.json': '{' })
    const { code, stderr } = await workspace.run(['--prune', '--yes'], env)
    expect(stderr).toContain('Nothing is pruned while a file is bad.')
    expect({ code, writes: host.writes }).toEqual({ code: 3, writes: [] })
  })

  it.each([
    [true, ['a']],
    [false, ['a', 'old', 'older', 'oldest']],
  ])('asks once, and does what the owner says: %s', async (answer, left) => {
    const { folder } = new Workspace({ 'cards/a.json': card('a') })
    const asked: string[] = []
    const confirm = async (question: string) => {
      asked.push(question)
      return answer
    }
    const options = { dryRun: false, check: false, prune: true, force: false, refresh: false, retries: 0, confirm }
    await syncCards([`${folder}/cards`], { url: host.url, token: host.token }, options, quiet)
    expect(asked).toEqual(['Delete old, older, oldest from the host? No file describes it any more.'])
    expect([...host.agents.keys()]).toEqual(left)
  })
})
