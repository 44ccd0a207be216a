import { describe, expect, it } from 'vitest'
import { starterCard } from '../../cli/manifests/starter.ts'
import { isPut, problem, type Seen, times } from './fake-host.ts'
import { card, containing, matching, useFakeHost } from './workspace.ts'

const { host, renew, run } = useFakeHost()

/** Registers agents, and returns their files. */
const registered = (...ids: string[]): Record<string, unknown> => {
  for (const id of ids) host.register(id, { card: card(id) })
  return Object.fromEntries(ids.map(id => [`cards/${id}.json`, card(id)]))
}

/** A card with a warning of the linter. */
const vague = card('vague', { skills: [{ id: 'ask', name: 'Ask', description: 'Ask', tags: ['a'] }] })
const silent = { code: 0, stdout: '', stderr: '' }

describe('the output of sync-card', () => {
  it('only counts unchanged agents', async () => {
    const files = registered('a', 'b', 'c')
    for (const args of ['', '--dry-run', '--check', '--refresh'])
      expect(await run(files, args)).toMatchObject({ code: 0, stdout: `${host.url}: 3 unchanged\n` })
  })

  it('has a line for an unchanged agent whose edge is behind', async () => {
    const files = registered('a', 'b')
    host.slowReads = Number.POSITIVE_INFINITY
    const { code, stdout } = await run(files, '--refresh --wait 1')
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
    const { stdout } = await run(Object.fromEntries(ids.map(id => [`cards/${id}.json`, card(id)])), '--retries 0')
    expect(stdout).toMatch(/\n {2}not pushed: a11, (a\d\d, ){18}a30 and 5 more\n/)
  })

  it('has the unchanged agents and the skipped files in JSON', async () => {
    const files = registered('a')
    const { stdout, stderr } = await run({ ...files, 'cards/my-agent.yaml': starterCard({}) }, '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      exitCode: 0,
      skipped: [{ file: 'cards/my-agent.yaml', reason: containing('starter') }],
      agents: [{ id: 'a', action: 'unchanged' }],
    })
    expect(stderr).toMatch(/^cards\/my-agent\.yaml is skipped: .*starter.*\n$/)
    expect(JSON.parse((await run(files, '--json')).stdout)).not.toHaveProperty('skipped')
  })
})

describe('sync-card --quiet', () => {
  it('prints nothing for what was pushed, lint warnings and retries included', async () => {
    host.faults = [times(1, isPut(), response => problem(response, 503, 'busy', 'Busy.'))]
    host.register('a', { card: card('a', { version: '1.0.0' }) })
    const files = { 'cards/a.json': card('a'), 'cards/vague.json': vague }
    expect(await run(files, '--quiet')).toMatchObject({ ...silent, ids: ['a', 'vague'] })
  })

  it('prints the agents that fail, and the summary', async () => {
    const files = { ...registered('a'), 'cards/b.json': card('b'), 'cards/c.json': '{' }
    const stdout = matching(
      /^✗ invalid {3}cards\/c\.json\n {4}cards\/c\.json:1:2 error .*\nhttp.*: 1 created, 1 unchanged, 1 invalid\n$/,
    )
    expect(await run(files, '--quiet')).toMatchObject({ code: 3, stdout, stderr: '' })
  })

  it('prints what differs with --check and --dry-run, without the differences', async () => {
    const files = { ...registered('a', 'b'), 'cards/b.json': card('b', { version: '2.0.0' }) }
    const stdout = `~ to update b (cards/b.json)\n${host.url}: 1 to update, 1 unchanged\n`
    for (const flag of ['--check', '--dry-run'])
      expect(await run(files, `--quiet ${flag}`)).toMatchObject({ code: 1, stdout })
  })

  it('prints why the host cannot be used', async () => {
    const stdout = matching(/^Stopped: .*token.*\n[^ ]*: 1 not pushed\n$/)
    expect(await run(registered('a'), '--quiet --token another')).toMatchObject({ code: 4, stdout })
  })

  it('does not change the output of --json', async () => {
    const files = registered('a')
    const { stdout } = await run(files, '--json')
    expect(JSON.parse(stdout)).toMatchObject({ agents: [{ id: 'a', action: 'unchanged' }] })
    expect((await run(files, '--quiet --json')).stdout).toBe(stdout)
  })
})

describe('sync-card --strict', () => {
  const warning = /vague .*\n {4}cards\/vague\.json:\d+:\d+ warning \/skills\/0/
  const files = { 'cards/vague.json': vague }

  it('fails for a warning of an unchanged agent, and prints it', async () => {
    host.register('vague', { card: vague })
    for (const args of ['--check', '--dry-run', '--refresh']) {
      expect((await run(files, args)).code).toBe(0)
      const stdout = matching(new RegExp(`^= unchanged ${warning.source}`))
      expect(await run(files, `--strict ${args}`)).toMatchObject({ code: 1, stdout })
    }
  })

  it('fails for a warning of an agent that it pushes nevertheless', async () => {
    const stdout = matching(new RegExp(`^\\+ created {3}${warning.source}`))
    expect(await run(files, '--strict --quiet')).toMatchObject({ code: 1, stdout, writes: ['PUT /agents/vague'] })
  })
})

describe('sync-card --only', () => {
  const ids = ['team1-rain', 'team1-snow', 'team2-wind']
  const files = Object.fromEntries(ids.map(id => [`cards/${id}.json`, card(id)]))

  it('looks only at the agents that match', async () => {
    const rows = {
      '--only team1-*': ['team1-rain', 'team1-snow'],
      '--only *-snow --only *-wind': ['team1-snow', 'team2-wind'],
      '--only team2-wind': ['team2-wind'],
    }
    for (const [args, expected] of Object.entries(rows)) {
      renew()
      const { code } = await run(files, args)
      expect([code, [...host.agents.keys()].sort()]).toEqual([0, expected])
      expect(host.seen.every(({ path }) => expected.some(id => path.startsWith(`/agents/${id}`)))).toBe(true)
    }
  })

  it('leaves out invalid files of other agents, but not one without a valid id, which may match', async () => {
    const invalid = { card: { name: 'x' } }
    const both = { ...files, 'cards/team2-hail.json': invalid, 'cards/team1-fog.json': invalid }
    const { code, stdout } = await run(both, '--only team1-*')
    expect(stdout.match(/^✗.*/gm)).toEqual(['✗ invalid   team1-fog (cards/team1-fog.json)'])
    expect(code).toBe(3)
    renew()
    const stdoutOfBroken = containing('✗ invalid   cards/team1-fog.json')
    const broken = { ...files, 'cards/team1-fog.json': '{' }
    expect(await run(broken, '--only team1-fog')).toMatchObject({ code: 3, stdout: stdoutOfBroken })
    expect(host.seen).toEqual([])
  })

  it('suggests what a glob that matches nothing may mean (exit 2)', async () => {
    const suggestions = {
      ...{ 'taem2-*': 'team2-*', 'team2-win': 'team2-wind', 'tam*': 'team*' },
    }
    for (const [glob, suggestion] of Object.entries(suggestions)) {
      const stderr = `sync-card: --only ${glob} matches no agent. Did you mean "${suggestion}"?\n`
      expect(await run(files, `--only team1-* --only ${glob}`)).toMatchObject({ code: 2, stderr })
    }
    for (const glob of ['payments-*', 'x', '']) {
      const stderr = `sync-card: --only ${glob} matches no agent.\n`
      expect(await run({ ...files, 'cards/b.json': card('b') }, ['--only', glob])).toMatchObject({ code: 2, stderr })
    }
    expect(host.seen).toEqual([])
  })
})
