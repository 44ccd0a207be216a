import { describe, expect, it } from 'vitest'
import { starterCard } from '../../cli/manifests/starter.ts'
import { isPut, problem, type Seen, times } from './fake-host.ts'
import { card, useFakeHost, Workspace } from './workspace.ts'

const { host, env } = useFakeHost()

const registered = (...ids: string[]) => {
  for (const id of ids) host.register(id, { card: card(id) })
  return new Workspace(Object.fromEntries(ids.map(id => [`cards/${id}.json`, card(id)])))
}

/** A card with a warning of the linter. */
const vague = card('vague', { skills: [{ id: 'ask', name: 'Ask', description: 'Ask', tags: ['a'] }] })

describe('the output of sync-card', () => {
  it.each([[], ['--dry-run'], ['--check'], ['--refresh']])('only counts unchanged agents with %j', async (...flags) => {
    const { code, stdout } = await registered('a', 'b', 'c').run(flags, env)
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${host.url}: 3 unchanged\n` })
  })

  it('has a line for an unchanged agent whose edge is behind', async () => {
    const workspace = registered('a', 'b')
    host.slowReads = Number.POSITIVE_INFINITY
    const { code, stdout } = await workspace.run(['--refresh', '--wait', '1'], env)
    expect(stdout.match(/^= .*/gm)).toEqual([
      '= unchanged a (cards/a.json) · stored; the edge still serves the previous card',
      '= unchanged b (cards/b.json) · stored; the edge still serves the previous card',
    ])
    expect(code).toBe(1)
  })

  it('names at most 20 agents where it stopped', async () => {
    const isLater = (seen: Seen): boolean => seen.method !== 'GET' && !isPut('a10')(seen)
    host.faults = [times(Number.POSITIVE_INFINITY, isLater, response => response.socket?.destroy())]
    const ids = Array.from({ length: 26 }, (_, index) => `a${index + 10}`)
    const workspace = new Workspace(Object.fromEntries(ids.map(id => [`cards/${id}.json`, card(id)])))
    const { stdout } = await workspace.run(['--retries', '0'], env)
    expect(stdout).toMatch(/\n {2}not pushed: a11, (a\d\d, ){18}a30 and 5 more\n/)
  })

  it('has the unchanged agents and the skipped files in JSON', async () => {
    const workspace = registered('a')
    workspace.write({ 'cards/my-agent.yaml': starterCard({}) })
    const { stdout, stderr } = await workspace.run(['--json'], env)
    expect(JSON.parse(stdout)).toMatchObject({
      exitCode: 0,
      skipped: [{ file: 'cards/my-agent.yaml', reason: expect.stringContaining('starter') }],
      agents: [{ id: 'a', action: 'unchanged' }],
    })
    expect(stderr).toMatch(/^cards\/my-agent\.yaml is skipped: .*starter.*\n$/)
  })

  it('has no skipped files in JSON if there are none', async () => {
    expect(JSON.parse((await registered('a').run(['--json'], env)).stdout)).not.toHaveProperty('skipped')
  })
})

describe('sync-card --quiet', () => {
  it.each([[], ['--check'], ['--refresh']])('prints nothing on success with %j', async (...flags) => {
    const ended = await registered('a', 'b').run(['--quiet', ...flags], env)
    expect(ended).toEqual({ code: 0, stdout: '', stderr: '' })
  })

  it('prints nothing for what was pushed, lint warnings and retries included', async () => {
    host.faults = [times(1, isPut(), response => problem(response, 503, 'busy', 'Busy.'))]
    host.register('a', { card: card('a', { version: '1.0.0' }) })
    const workspace = new Workspace({ 'cards/a.json': card('a'), 'cards/vague.json': vague })
    const ended = await workspace.run(['--quiet'], env)
    expect(ended).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(host.agents.size).toBe(2)
  })

  it('prints the agents that fail, and the summary', async () => {
    const workspace = registered('a')
    workspace.write({ 'cards/b.json': card('b'), 'cards/c.json': '{' })
    const { code, stdout, stderr } = await workspace.run(['--quiet'], env)
    expect(stdout).toMatch(
      /^✗ invalid {3}cards\/c\.json\n {4}cards\/c\.json:1:2 error .*\nhttp.*: 1 created, 1 unchanged, 1 invalid\n$/,
    )
    expect({ code, stderr }).toEqual({ code: 3, stderr: '' })
  })

  it.each(['--check', '--dry-run'])('prints what differs with %s, without the differences', async flag => {
    const workspace = registered('a', 'b')
    workspace.write({ 'cards/b.json': card('b', { version: '2.0.0' }) })
    const { code, stdout } = await workspace.run(['--quiet', flag], env)
    expect(stdout).toBe(`~ to update b (cards/b.json)\n${host.url}: 1 to update, 1 unchanged\n`)
    expect(code).toBe(1)
  })

  it('prints why the host cannot be used', async () => {
    const { code, stdout } = await registered('a').run(['--quiet', '--token', 'another'], env)
    expect(stdout).toMatch(/^Stopped: .*token.*\n[^ ]*: 1 not pushed\n$/)
    expect(code).toBe(4)
  })

  it('does not change the output of --json', async () => {
    const workspace = registered('a')
    const [quiet, usual] = [await workspace.run(['--quiet', '--json'], env), await workspace.run(['--json'], env)]
    expect(quiet.stdout).toBe(usual.stdout)
  })
})

describe('sync-card --strict', () => {
  it.each([
    ['--check', []],
    ['--dry-run', []],
    ['a refresh', ['--refresh']],
  ])('fails for a warning of an unchanged agent, and prints it, with %s', async (name, flags) => {
    host.register('vague', { card: vague })
    const workspace = new Workspace({ 'cards/vague.json': vague })
    const args = name.startsWith('--') ? [name] : flags
    expect((await workspace.run(args, env)).code).toBe(0)
    const { code, stdout } = await workspace.run(['--strict', ...args], env)
    expect(stdout).toMatch(/^= unchanged vague .*\n {4}cards\/vague\.json:\d+:\d+ warning \/skills\/0/)
    expect(code).toBe(1)
  })

  it('fails for a warning of an agent that it pushes nevertheless', async () => {
    const workspace = new Workspace({ 'cards/vague.json': vague })
    const { code, stdout } = await workspace.run(['--strict', '--quiet'], env)
    expect(stdout).toMatch(/^\+ created {3}vague .*\n {4}cards\/vague\.json:\d+:\d+ warning \/skills\/0/)
    expect({ code, writes: host.writes }).toEqual({ code: 1, writes: ['PUT /agents/vague'] })
  })

  it('succeeds without findings', async () => {
    expect((await registered('a').run(['--strict'], env)).code).toBe(0)
  })
})

describe('sync-card --only', () => {
  const files = {
    'cards/team1-rain.json': card('team1-rain'),
    'cards/team1-snow.json': card('team1-snow'),
    'cards/team2-wind.json': card('team2-wind'),
  }

  it.each([
    [['team1-*'], ['team1-rain', 'team1-snow']],
    [
      ['*-snow', '*-wind'],
      ['team1-snow', 'team2-wind'],
    ],
    [['team2-wind'], ['team2-wind']],
  ])('looks only at the agents that match %j', async (globs, expected) => {
    const { code } = await new Workspace(files).run(
      globs.flatMap(glob => ['--only', glob]),
      env,
    )
    expect({ code, agents: [...host.agents.keys()].sort() }).toEqual({ code: 0, agents: expected })
    expect(host.seen.every(({ path }) => expected.some(id => path.startsWith(`/agents/${id}`)))).toBe(true)
  })

  it('leaves out invalid files of other agents', async () => {
    const invalid = { card: { name: 'x' } }
    const workspace = new Workspace({ ...files, 'cards/team2-hail.json': invalid, 'cards/team1-fog.json': invalid })
    const { code, stdout } = await workspace.run(['--only', 'team1-*'], env)
    expect(stdout.match(/^✗.*/gm)).toEqual(['✗ invalid   team1-fog (cards/team1-fog.json)'])
    expect(code).toBe(3)
  })

  it('reports a file without a valid id, which may be one that matches', async () => {
    const workspace = new Workspace({ ...files, 'cards/team1-fog.json': '{' })
    const { code, stdout } = await workspace.run(['--only', 'team1-fog'], env)
    expect(stdout).toContain('✗ invalid   cards/team1-fog.json')
    expect({ code, requests: host.seen }).toEqual({ code: 3, requests: [] })
  })

  it.each([
    ['team2-*', 'taem2-*'],
    ['team1-*', 'teem1-*'],
    ['team2-wind', 'team2-win'],
    ['team1-snow', 'team1-snwo'],
    ['team*', 'tam*'],
  ])('suggests %s for %s, which matches nothing (exit 2)', async (suggestion, glob) => {
    const { code, stderr } = await new Workspace(files).run(['--only', 'team1-*', '--only', glob], env)
    expect(stderr).toBe(`sync-card: --only ${glob} matches no agent. Did you mean "${suggestion}"?\n`)
    expect({ code, requests: host.seen }).toEqual({ code: 2, requests: [] })
  })

  it.each(['payments', '*-payments', 'payments-*', 'x', ''])('suggests nothing for "%s" (exit 2)', async glob => {
    const { code, stderr } = await new Workspace({ ...files, 'cards/b.json': card('b') }).run(['--only', glob], env)
    expect(stderr).toBe(`sync-card: --only ${glob} matches no agent.\n`)
    expect(code).toBe(2)
  })
})
