import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { run } from '../../cli/cli.ts'
import { starterCard } from '../../cli/manifests/starter.ts'
import { problem } from './fake-host.ts'
import { card, useFakeHost, Workspace, waitForText } from './workspace.ts'

const { host, env } = useFakeHost()
beforeEach(() => {
  host.pageSize = 2
  for (const id of ['a', 'old', 'older']) host.register(id, { card: card(id), set: 'mine' })
  host.register('oldest', { card: card('oldest'), visibility: 'internal', set: 'mine' })
  host.register('theirs', { card: card('theirs'), set: 'theirs' })
  host.register('nobody', { card: card('nobody') })
})

const others = ['theirs', 'nobody']
const registered = () => [...host.agents.keys()]
const defaults = { 'cards/defaults.yaml': 'set: mine' }
const mine = (files: Record<string, unknown> = {}) =>
  new Workspace({ ...defaults, 'cards/a.json': card('a'), ...files })

/** Registers agents of the set that no file describes. */
const registerMany = (count: number) => {
  for (let index = 0; index < count; index++)
    host.register(`gone-${index}`, { card: card(`gone-${index}`), set: 'mine' })
}

describe('sync-card --prune', () => {
  it('deletes with --yes what no file describes: every page, internal agents too, and only with If-Match', async () => {
    const { code } = await mine().run(['--prune', '--yes'], env)
    expect({ code, agents: registered() }).toEqual({ code: 0, agents: ['a', ...others] })
    const deletes = host.seen.filter(({ method }) => method === 'DELETE')
    expect(deletes.map(({ headers }) => headers['if-match'])).toEqual(Array(3).fill(expect.stringMatching(/^"/)))
  })

  it('reads no agent of another set or without a set', async () => {
    await mine().run(['--prune', '--yes'], env)
    expect(host.seen.filter(({ path }) => /theirs|nobody/.test(path))).toEqual([])
  })

  it('deletes nothing on a host that does not know sets', async () => {
    host.faults = [
      ({ path }, response) => {
        if (!path.startsWith('/agents?')) return false
        const agents = registered().map(id => ({ id, name: id }))
        response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ agents }))
        return true
      },
    ]
    const { code } = await mine().run(['--prune', '--yes'], env)
    expect({ code, writes: host.writes }).toEqual({ code: 0, writes: [] })
  })

  it('requests nothing for what is no id in the list of a host', async () => {
    host.register('../tokens', { card: card('a'), set: 'mine' })
    const { code } = await mine().run(['--prune', '--yes'], env)
    expect(code).toBe(0)
    expect(host.seen.filter(({ path }) => path.includes('tokens'))).toEqual([])
  })

  it.each(['--check', '--dry-run'])('shows with %s what would be deleted (exit 1)', async flag => {
    registerMany(11)
    const { code, stdout } = await mine().run(['--prune', flag], env)
    expect(stdout).toMatch(/- to delete old\n/)
    expect(stdout).toContain('14 to delete')
    expect({ code, writes: host.writes }).toEqual({ code: 1, writes: [] })
  })

  it('deletes nothing while a file is invalid: it may describe any agent (exit 3)', async () => {
    const { code, stderr } = await mine({ 'cards/b.json': '{' }).run(['--prune', '--yes'], env)
    expect(stderr).toContain('Nothing is pruned while a file is invalid.')
    expect({ code, writes: host.writes }).toEqual({ code: 3, writes: [] })
  })

  it('deletes nothing while a folder is a link, which is not followed', async () => {
    const workspace = mine({ 'team/old.json': card('old') })
    symlinkSync('../team', join(workspace.folder, 'cards/team'))
    const { stderr } = await workspace.run(['--prune', '--yes'], env)
    expect(stderr).toContain('Nothing is pruned while a file cannot be read.')
    expect(host.writes).toEqual([])
  })

  it('deletes beside an unedited starter, which describes no agent', async () => {
    const { code } = await mine({ 'cards/my-agent.yaml': starterCard({}) }).run(['--prune', '--yes'], env)
    expect({ code, agents: registered() }).toEqual({ code: 0, agents: ['a', ...others] })
  })

  it.each([
    ['y\n', ['a', ...others]],
    ['n\n', ['a', 'old', 'older', 'oldest', ...others]],
  ])('asks once before deleting; the answer is %j', async (answer, left) => {
    const { code, stderr } = await mine().run(['--prune'], env, answer)
    expect(stderr).toBe('Delete 3 agents of the set mine that no file describes: old, older, oldest? (y/N) ')
    expect({ code, agents: registered() }).toEqual({ code: 0, agents: left })
  })

  it('deletes up to 10 agents without --yes, if the owner agrees', async () => {
    registerMany(7)
    const { code } = await mine().run(['--prune'], env, 'y\n')
    expect({ code, agents: registered() }).toEqual({ code: 0, agents: ['a', ...others] })
  })

  it('refuses to delete more than 10 agents without --yes, and changes nothing (exit 2)', async () => {
    registerMany(8)
    const { code, stderr } = await mine({ 'cards/new.json': card('new') }).run(['--prune'], env, 'y\n')
    expect(stderr).toBe(
      'sync-card: --prune would delete 11 agents of the set mine; more than 10 need --yes. Nothing was changed. --prune --dry-run lists them.\n',
    )
    expect({ code, writes: host.writes }).toEqual({ code: 2, writes: [] })
  })

  it('deletes more than 10 agents with --yes', async () => {
    registerMany(8)
    const { code, stdout } = await mine().run(['--prune', '--yes'], env)
    expect(stdout).toContain('11 deleted')
    expect(code).toBe(0)
  })

  it('keeps the agents that the token cannot write, and counts them (exit 0)', async () => {
    host.scope = 'old*'
    host.agents.delete('a')
    host.register('x', { card: card('x'), set: 'mine' })
    const workspace = new Workspace({ ...defaults, 'cards/old.json': card('old') })
    const { code, stdout, stderr } = await workspace.run(['--prune', '--yes'], env)
    expect(stderr).toBe('1 agent of the set mine will not be deleted: the token cannot write it.\n')
    expect(stdout).toContain('2 deleted, 1 unchanged, 1 kept\n')
    expect({ code, agents: registered() }).toEqual({ code: 0, agents: ['old', ...others, 'x'] })
  })

  it('needs a set (exit 2)', async () => {
    const { code, stderr } = await new Workspace({ 'cards/a.json': card('a') }).run(['--prune', '--yes'], env)
    expect(stderr).toBe(
      'sync-card: --prune deletes only agents of the set of a folder, but cards has none. Write `set: my-cards` into cards/defaults.yaml.\n',
    )
    expect({ code, requests: host.seen }).toEqual({ code: 2, requests: [] })
  })

  it.each([
    ['a copied file, which must not endanger its set', { card: card('copied'), set: 'theirs' }, 'mine, theirs'],
    ['a file without a set', { card: card('copied'), set: null }, 'mine, none'],
  ])('refuses %s (exit 2)', async (_, copied, sets) => {
    const { code, stderr } = await mine({ 'cards/copied.json': copied }).run(['--prune', '--yes'], env)
    expect(stderr).toBe(`sync-card: --prune takes the files of one set; these are of ${sets}.\n`)
    expect({ code, requests: host.seen }).toEqual({ code: 2, requests: [] })
  })

  it.each([
    [
      'a set that only files name',
      'cards',
      { 'cards/a.json': { card: card('a'), set: 'mine' } },
      'but cards has none.',
    ],
    [
      'a subfolder',
      'cards/team1',
      { ...defaults, 'cards/team1/b.json': card('b') },
      'not named for cards/team1 alone.',
    ],
    [
      'a folder that inherits its set from the current folder',
      'cards',
      { 'defaults.yaml': 'set: mine', 'cards/a.json': card('a') },
      'not named for cards alone.',
    ],
  ])('refuses %s: other files may have the same set (exit 2)', async (_, folder, files, message) => {
    const { code, stderr } = await new Workspace(files).run([folder, '--prune', '--yes'], env)
    expect(stderr).toContain(message)
    expect({ code, requests: host.seen }).toEqual({ code: 2, requests: [] })
  })

  it('takes a subfolder that has a set of its own', async () => {
    const workspace = mine({ 'cards/team1/defaults.yaml': 'set: theirs', 'cards/team1/b.json': card('b') })
    const { code } = await workspace.run(['cards/team1', '--prune', '--yes'], env)
    expect({ code, agents: registered() }).toEqual({
      ...{ code: 0, agents: ['a', 'old', 'older', 'oldest', 'nobody', 'b'] },
    })
  })

  it.each([
    ['from the repository', '.', 'cards/team1'],
    ['from the part', 'cards/team1', '.'],
  ])('refuses %s a part of the cards of a host in sync-card.yaml (exit 2)', async (_, cwd, folder) => {
    const workspace = new Workspace({
      '.git/HEAD': 'ref: refs/heads/main',
      'sync-card.yaml': `hosts: { prod: { url: "${host.url}", set: mine } }`,
      'cards/a.json': card('a'),
      'cards/team1/b.json': card('b'),
    })
    const { io, output } = workspace.io(env)
    const code = await run([folder, '--prune', '--yes'], { ...io, cwd: join(workspace.folder, cwd) })
    expect(output().stderr).toContain(`mine is not named for ${folder} alone. Name the folder above`)
    expect({ code, writes: host.writes }).toEqual({ code: 2, writes: [] })
  })

  it('looks with --only at the ids that match', async () => {
    const { code } = await mine().run(['--prune', '--yes', '--only', 'olde*'], env)
    expect({ code, agents: registered() }).toEqual({ code: 0, agents: ['a', 'old', ...others] })
    expect(host.seen.filter(({ path }) => path.startsWith('/agents/a'))).toEqual([])
  })

  it('rejects with --only a glob that matches neither a file nor an agent of the set (exit 2)', async () => {
    const { code, stderr } = await mine().run(['--prune', '--yes', '--only', 'theirs'], env)
    expect(stderr).toBe('sync-card: --only theirs matches no agent.\n')
    expect({ code, writes: host.writes }).toEqual({ code: 2, writes: [] })
  })

  it('reports a token that cannot list the agents (exit 4)', async () => {
    host.faults = [
      ({ path }, response) =>
        path.startsWith('/agents?') && Boolean(problem(response, 403, 'forbidden', 'It lacks the scope `read`.')),
    ]
    const { code, stdout } = await mine().run(['--prune', '--yes'], env)
    expect(stdout).toContain(
      'Stopped: the host does not list its agents: It lacks the scope `read` (SYNC_CARD_TOKEN in the environment).\n',
    )
    expect({ code, writes: host.writes }).toEqual({ code: 4, writes: [] })
  })

  it('does not delete an agent that changes after it was looked up (exit 3)', async () => {
    host.faults = [
      ({ method, path }) => {
        if (method === 'DELETE' && path === '/agents/old') host.register('old', { card: card('old', { version: '9' }) })
        return false
      },
    ]
    const { code, stdout } = await mine().run(['--prune', '--yes'], env)
    expect(stdout).toMatch(/✗ changed meanwhile old It has changed\./)
    expect({ code, agents: registered() }).toEqual({ code: 3, agents: ['a', 'old', ...others] })
  })
})

describe('sync-card --prune after the last file is deleted', () => {
  const empty = (files: Record<string, unknown> = defaults) => new Workspace({ 'cards/notes.txt': '', ...files })

  it.each(['--check', '--dry-run'])('shows with %s what would be deleted (exit 1)', async flag => {
    const { code, stdout, stderr } = await empty().run(['--prune', flag], env)
    expect(stderr).toBe('cards has no cards, so no file describes any agent of the set mine.\n')
    expect(stdout).toMatch(/4 to delete\n$/)
    expect({ code, writes: host.writes }).toEqual({ code: 1, writes: [] })
    expect((await empty().run(['diff', '--prune'], env)).stdout).toMatch(/4 to delete\n$/)
  })

  it('deletes all agents of the set of the folder, if the owner agrees', async () => {
    const { code, stderr } = await empty().run(['--prune'], env, 'y\n')
    expect(stderr).toBe(
      'cards has no cards, so no file describes any agent of the set mine.\nDelete 4 agents of the set mine that no file describes: a, old, older, oldest? (y/N) ',
    )
    expect({ code, agents: registered() }).toEqual({ code: 0, agents: others })
    expect(await empty().run(['--prune', '--yes'], env)).toMatchObject({
      code: 0,
      stdout: `${host.url}: nothing to do\n`,
    })
  })

  it.each<[string, string[], Record<string, unknown>, Record<string, string>, string]>([
    ['a folder that does not exist', ['card'], defaults, {}, 'Did you mean "cards"?'],
    ['a folder without a set', [], {}, {}, 'but cards has none. Write `set: my-cards` into cards/defaults.yaml.'],
    [
      'a folder without a set of its own, although the host has one',
      ['docs'],
      { 'docs/notes.txt': '' },
      { 'sync-card.yaml': 'hosts: { prod: { url: "URL", set: mine } }' },
      'but docs has none. Write `set: mine` into docs/defaults.yaml.',
    ],
    ['a part of a set', ['cards/b'], { ...defaults, 'cards/b/notes.txt': '' }, {}, 'not named for cards/b alone.'],
    ['a folder that is watched', ['--watch'], defaults, {}, 'cards has no cards.'],
  ])('deletes nothing for %s (exit 2)', async (_, args, files, config, message) => {
    const hosts = Object.fromEntries(
      Object.entries(config).map(([name, text]) => [name, text.replace('URL', host.url)]),
    )
    const command = empty({ ...files, ...hosts }).start([...args, '--prune', '--yes'], env)
    if (args[0] === '--watch') {
      await waitForText(command.stderr, 'Watching for changes')
      command.interrupt()
    }
    const { code, stderr } = await command.ended
    expect(stderr).toContain(message)
    expect({ code, writes: host.writes }).toEqual({ code: args[0] === '--watch' ? 0 : 2, writes: [] })
  })
})
