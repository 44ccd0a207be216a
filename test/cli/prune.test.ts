import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { run as runCommand } from '../../cli/cli.ts'
import { starterCard } from '../../cli/manifests/starter.ts'
import { listed, problem } from './fake-host.ts'
import { card, containing, matching, useFakeHost, Workspace, waitForText } from './workspace.ts'

const { host, env, renew, run } = useFakeHost(host => {
  host.pageSize = 2
  for (const id of ['a', 'old', 'older']) host.register(id, { card: card(id), set: 'mine' })
  host.register('oldest', { card: card('oldest'), visibility: 'internal', set: 'mine' })
  host.register('theirs', { card: card('theirs'), set: 'theirs' })
  host.register('nobody', { card: card('nobody') })
})

const others = ['theirs', 'nobody']
const all = ['a', 'old', 'older', 'oldest', ...others]
const defaults = { 'cards/defaults.yaml': 'set: mine' }
const mine = { ...defaults, 'cards/a.json': card('a') }
/** Expects that nothing was requested but the health. */
const expectNoRequests = () => expect(host.seen).toEqual([])
const pruned = { code: 0, ids: ['a', ...others] }

/** Registers agents of the set that no file describes. */
const registerMany = (count: number) => {
  for (let index = 0; index < count; index++)
    host.register(`gone-${index}`, { card: card(`gone-${index}`), set: 'mine' })
}

describe('sync-card --prune', () => {
  it('deletes with --yes what no file describes: every page, internal agents too, and only with If-Match', async () => {
    expect(await run(mine, '--prune --yes')).toMatchObject(pruned)
    const deletes = host.seen.filter(({ method }) => method === 'DELETE')
    expect(deletes.map(({ headers }) => headers['if-match'])).toEqual(Array(3).fill(matching(/^"/)))
    // It reads no agent of another set or without a set.
    expect(host.seen.filter(({ path }) => /theirs|nobody/.test(path))).toEqual([])
  })

  it('deletes nothing that is listed without the set, as by a proxy that ignores the query', async () => {
    const agents = JSON.stringify({ agents: all.map(id => ({ ...listed(id), etag: '"a"' })) })
    host.faults = [({ path }, response) => path.startsWith('/agents?') && Boolean(response.end(agents))]
    expect(await run(mine, '--prune --yes')).toMatchObject({ code: 0, writes: [] })
  })

  it('requests nothing for what is no id in the list of a host', async () => {
    host.register('../tokens', { card: card('a'), set: 'mine' })
    expect((await run(mine, '--prune --yes')).code).toBe(0)
    expect(host.seen.filter(({ path }) => path.includes('tokens'))).toEqual([])
  })

  it('shows with --check or --dry-run what would be deleted (exit 1)', async () => {
    registerMany(11)
    for (const flag of ['--check', '--dry-run']) {
      const stdout = matching(/- to delete old\n[\s\S]*14 to delete/)
      expect(await run(mine, `--prune ${flag}`)).toMatchObject({ code: 1, writes: [], stdout })
    }
  })

  it('deletes nothing while a file is invalid: it may describe any agent (exit 3)', async () => {
    const stderr = containing('Nothing is pruned while a file is invalid.')
    const files = { ...mine, 'cards/b.json': '{' }
    expect(await run(files, '--prune --yes')).toMatchObject({ code: 3, writes: [], stderr })
  })

  it('deletes nothing while a folder is a link, which is not followed', async () => {
    const workspace = new Workspace({ ...mine, 'team/old.json': card('old') })
    symlinkSync('../team', join(workspace.folder, 'cards/team'))
    const stderr = containing('Nothing is pruned while a file cannot be read.')
    expect(await run(workspace, '--prune --yes')).toMatchObject({ writes: [], stderr })
  })

  it('deletes beside an unedited starter, which describes no agent', async () => {
    const files = { ...mine, 'cards/my-agent.yaml': starterCard({}) }
    expect(await run(files, '--prune --yes')).toMatchObject(pruned)
  })

  it('deletes up to 10 agents without --yes if the owner agrees, but no more, and then changes nothing', async () => {
    registerMany(7)
    const stderr = matching(
      /^Delete 10 agents of the set mine that no file describes: gone-0, .*, old, older, oldest\? \(y\/N\) $/,
    )
    expect(await run(mine, '--prune', { answer: 'n\n' })).toMatchObject({ code: 0, stderr, writes: [] })
    expect(await run(mine, '--prune', { answer: 'y\n' })).toMatchObject({ ...pruned, stderr })
    renew()
    registerMany(8)
    const files = { ...mine, 'cards/new.json': card('new') }
    expect(await run(files, '--prune', { answer: 'y\n' })).toMatchObject({
      ...{ code: 2, writes: [] },
      stderr:
        'sync-card: --prune would delete 11 agents of the set mine; more than 10 need --yes. Nothing was changed. --prune --dry-run lists them.\n',
    })
    expect(await run(mine, '--prune --yes')).toMatchObject({ code: 0, stdout: containing('11 deleted') })
  })

  it('keeps the agents that the token cannot write, and counts them (exit 0)', async () => {
    host.scope = 'old*'
    host.agents.delete('a')
    host.register('x', { card: card('x'), set: 'mine' })
    expect(await run({ ...defaults, 'cards/old.json': card('old') }, '--prune --yes')).toMatchObject({
      ...{ code: 0, ids: ['old', ...others, 'x'] },
      stderr: '1 agent of the set mine will not be deleted: the token cannot write it.\n',
      stdout: matching(/^(?:- deleted {3}\w+\n){2}.*: 2 deleted, 1 unchanged, 1 kept\n$/),
    })
  })

  it('needs one set for all files, named for the whole folder (exit 2)', async () => {
    const none =
      'sync-card: --prune deletes only agents of the set of a folder, but cards has none. Write `set: my-cards` into cards/defaults.yaml.\n'
    const several = (sets: string) => `sync-card: --prune takes the files of one set; these are of ${sets}.\n`
    const copied = (set: string | null) => ({ ...mine, 'cards/copied.json': { card: card('copied'), set } })
    const rows: [files: Record<string, unknown>, stderr: string, folder?: string][] = [
      [{ 'cards/a.json': card('a') }, none],
      // A copied file must not endanger its set.
      [copied('theirs'), several('mine, theirs')],
      [copied(null), several('mine, none')],
      [{ ...defaults, 'cards/team1/b.json': card('b') }, 'not named for cards/team1 alone.', 'cards/team1'],
      // Inherited from the current folder.
      [{ 'defaults.yaml': 'set: mine', 'cards/a.json': card('a') }, 'not named for cards alone.'],
    ]
    for (const [files, stderr, folder = 'cards'] of rows)
      expect(await run(files, `${folder} --prune --yes`)).toMatchObject({ code: 2, stderr: containing(stderr) })
    expectNoRequests()
  })

  it('takes a subfolder that has a set of its own', async () => {
    const team1 = { 'cards/team1/defaults.yaml': 'set: theirs', 'cards/team1/b.json': card('b') }
    const ids = [...all.filter(id => id !== 'theirs'), 'b']
    expect(await run({ ...mine, ...team1 }, 'cards/team1 --prune --yes')).toMatchObject({ code: 0, ids })
  })

  it('refuses a part of the cards of a host in sync-card.yaml (exit 2)', async () => {
    const workspace = new Workspace({
      ...{ '.git/HEAD': '', 'cards/a.json': card('a'), 'cards/team1/b.json': card('b') },
      'sync-card.yaml': `hosts: { prod: { url: "${host.url}", set: mine } }`,
    })
    const { io, output } = workspace.io(env)
    const code = await runCommand(['.', '--prune', '--yes'], { ...io, cwd: join(workspace.folder, 'cards/team1') })
    expect(output().stderr).toContain('mine is not named for . alone. Name the folder above')
    expect([code, host.writes]).toEqual([2, []])
  })

  it('looks with --only at the ids that match', async () => {
    expect(await run(mine, '--prune --yes --only olde*')).toMatchObject({ code: 0, ids: ['a', 'old', ...others] })
    expect(host.seen.filter(({ path }) => path.startsWith('/agents/a'))).toEqual([])
  })

  it('rejects with --only a glob that matches neither a file nor an agent of the set (exit 2)', async () => {
    const stderr = 'sync-card: --only theirs matches no agent.\n'
    expect(await run(mine, '--prune --yes --only theirs')).toMatchObject({ code: 2, stderr, writes: [] })
  })

  it('reports a token that cannot list the agents (exit 4)', async () => {
    const reject = (response: Parameters<typeof problem>[0]) =>
      Boolean(problem(response, 403, 'forbidden', 'It lacks the scope `read`.'))
    host.faults = [({ path }, response) => path.startsWith('/agents?') && reject(response)]
    const reason =
      'Stopped: the host does not list its agents: It lacks the scope `read` (SYNC_CARD_TOKEN in the environment).\n'
    expect(await run(mine, '--prune --yes')).toMatchObject({ code: 4, writes: [], stdout: containing(reason) })
  })

  it('does not delete an agent that changes after it was looked up (exit 3)', async () => {
    host.faults = [
      ({ method, path }) => {
        if (method === 'DELETE' && path === '/agents/old') host.register('old', { card: card('old', { version: '9' }) })
        return false
      },
    ]
    const stdout = containing('✗ changed meanwhile old It has changed.')
    expect(await run(mine, '--prune --yes')).toMatchObject({ code: 3, stdout, ids: ['a', 'old', ...others] })
  })
})

describe('sync-card --prune after the last file is deleted', () => {
  const empty = { 'cards/notes.txt': '' }
  const none = 'cards has no cards, so no file describes any agent of the set mine.\n'

  it('deletes all agents of the set of the folder, if the owner agrees', async () => {
    expect(await run({ ...empty, ...defaults }, '--prune', { answer: 'y\n' })).toMatchObject({
      ...{ code: 0, ids: others },
      stderr: `${none}Delete 4 agents of the set mine that no file describes: a, old, older, oldest? (y/N) `,
    })
    const stdout = `${host.url}: nothing to do\n`
    expect(await run({ ...empty, ...defaults }, '--prune --yes')).toMatchObject({ code: 0, stdout })
  })

  it('deletes nothing for a folder that does not exist, has no set of its own, or is a part of a set (exit 2)', async () => {
    const profile = { 'sync-card.yaml': `hosts: { prod: { url: "${host.url}", set: mine } }` }
    const rows: [args: string, files: Record<string, unknown>, message: string][] = [
      ['card', defaults, 'Did you mean "cards"?'],
      ['', {}, 'but cards has none. Write `set: my-cards` into cards/defaults.yaml.'],
      ['docs', { 'docs/notes.txt': '', ...profile }, 'but docs has none. Write `set: mine` into docs/defaults.yaml.'],
      ['cards/b', { ...defaults, 'cards/b/notes.txt': '' }, 'not named for cards/b alone.'],
    ]
    for (const [args, files, message] of rows)
      expect(await run({ ...empty, ...files }, `${args} --prune --yes`)).toMatchObject({
        ...{ code: 2, writes: [], stderr: containing(message) },
      })
  })

  it('deletes nothing while the folder is watched', async () => {
    const command = new Workspace({ ...empty, ...defaults }).start(['--watch', '--prune', '--yes'], env)
    await waitForText(command.stderr, 'Watching for changes')
    command.interrupt()
    expect(await command.ended).toMatchObject({ code: 0, stderr: containing('cards has no cards.') })
    expect(host.writes).toEqual([])
  })
})
