import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeHost, problem } from './fake-host.ts'
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
    ['y\n', ['a']],
    ['n\n', ['a', 'old', 'older', 'oldest']],
  ])('asks once before deleting; the answer is %j', async (answer, left) => {
    const { code, stderr } = await new Workspace({ 'cards/a.json': card('a') }).run(['--prune'], env, answer)
    expect(stderr).toBe('Delete old, older, oldest from the host? No file describes them. (y/N) ')
    expect({ code, agents: [...host.agents.keys()] }).toEqual({ code: 0, agents: left })
  })

  it('reports a token that cannot list the agents (exit 4)', async () => {
    host.faults = [
      ({ path }, response) =>
        path.startsWith('/agents?') && Boolean(problem(response, 403, 'forbidden', 'It lacks the scope `read`.')),
    ]
    const { code, stdout } = await new Workspace({ 'cards/a.json': card('a') }).run(['--prune', '--yes'], env)
    expect(stdout).toContain('Stopped: the host does not list its agents: It lacks the scope `read`.\n')
    expect({ code, writes: host.writes }).toEqual({ code: 4, writes: [] })
  })

  it('does not delete an agent that changes after it was looked up (exit 3)', async () => {
    host.faults = [
      ({ method, path }) => {
        if (method === 'DELETE' && path === '/agents/old') host.register('old', { card: card('old', { version: '9' }) })
        return false
      },
    ]
    const { code, stdout } = await new Workspace({ 'cards/a.json': card('a') }).run(['--prune', '--yes'], env)
    expect(stdout).toMatch(/✗ changed meanwhile old It has changed\./)
    expect({ code, agents: [...host.agents.keys()] }).toEqual({ code: 3, agents: ['a', 'old'] })
  })
})
