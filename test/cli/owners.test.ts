import { beforeEach, describe, expect, it } from 'vitest'
import { card, matching, useFakeHost, Workspace } from './workspace.ts'

const { host, env, run } = useFakeHost()

/** Returns the folder of an owner: its set, and the cards of these agents. */
const folderOf = (set: string, ids: readonly string[], version = '1.0.0') =>
  new Workspace({
    'cards/defaults.yaml': `set: ${set}`,
    ...Object.fromEntries(ids.map(id => [`cards/${id}.json`, card(id, { version })])),
  })

const setOf = (id: string): unknown => (host.agents.get(id)?.manifest as { set?: string } | undefined)?.set

describe('two owners of one host', () => {
  it('do not overwrite each other: the agent of another set stays as it is (exit 3)', async () => {
    await folderOf('theirs', ['weather']).run([], env)
    const { code, stdout } = await folderOf('mine', ['rain', 'weather'], '2.0.0').run([], env)
    expect(stdout).toContain(
      '✗ owned by another set weather (cards/weather.json) · it belongs to the set theirs, and this file is of the set mine: choose another id, or take it over with --force\n',
    )
    expect(stdout).toMatch(/: 1 created, 1 owned by another set\n$/)
    expect({ code, set: setOf('weather') }).toEqual({ code: 3, set: 'theirs' })
  })

  it('can take an agent over with --force, which shows the change, and adopt one without a set', async () => {
    host.register('weather', { card: card('weather'), set: 'theirs' })
    const stdout = matching(/~ \/set "theirs" → "mine"[\s\S]*~ updated {3}weather/)
    expect(await run(folderOf('mine', ['weather']), '--force')).toMatchObject({ code: 0, stdout })
    expect(setOf('weather')).toBe('mine')
    host.register('weather', { card: card('weather', { version: '1.0.0' }) })
    expect((await run(folderOf('mine', ['weather']), '')).code).toBe(0)
    expect(setOf('weather')).toBe('mine')
  })
})

describe('the set of a host in sync-card.yaml', () => {
  const profile = () => ({ 'sync-card.yaml': `hosts: { prod: { url: "${host.url}", set: team } }` })

  it('replaces the set of the files, and is the one that --prune looks at', async () => {
    host.register('old', { card: card('old'), set: 'team' })
    host.register('tax', { card: card('tax'), set: 'mine' })
    const workspace = folderOf('mine', ['weather'])
    workspace.write(profile())
    const ended = await run(workspace, '--host prod --prune --yes', { env: { SYNC_CARD_TOKEN_PROD: host.token } })
    expect(ended).toMatchObject({ code: 0, ids: ['tax', 'weather'] })
    expect(setOf('weather')).toBe('team')
  })
})

describe('a token for team1-*', () => {
  const ids = ['team1-rain', 'team1-snow', 'team2-wind', 'team2-hail']
  beforeEach(() => {
    host.scope = 'team1-*'
  })

  it('syncs its own agents, and is refused each of the others with a line (exit 4)', async () => {
    const { code, stdout } = await folderOf('weather', ids).run([], env)
    expect(stdout.match(/^✗.*/gm)).toEqual([
      '✗ forbidden team2-hail (cards/team2-hail.json) · The token cannot write team2-hail (SYNC_CARD_TOKEN in the environment).',
      '✗ forbidden team2-wind (cards/team2-wind.json) · The token cannot write team2-wind (SYNC_CARD_TOKEN in the environment).',
    ])
    expect({ code, agents: [...host.agents.keys()].sort() }).toEqual({ code: 4, agents: ['team1-rain', 'team1-snow'] })
  })

  it('is refused many others with one line, which counts them and names the first', async () => {
    const others = Array.from({ length: 50 }, (_, index) => `team2-${index + 100}`)
    const { code, stdout } = await folderOf('weather', ['team1-rain', ...others]).run([], env)
    expect(stdout.split('\n')).toEqual([
      '+ created   team1-rain (cards/team1-rain.json) · the root agent',
      '✗ forbidden 50 agents: team2-100, team2-101, team2-102 and 47 more · The token cannot write … (SYNC_CARD_TOKEN in the environment).',
      expect.stringMatching(/^\d infos?, shown by npx sync-card lint FILE$/),
      `${host.url}: 1 created, 50 forbidden`,
      '',
    ])
    const { agents } = JSON.parse((await folderOf('weather', others).run(['--json'], env)).stdout)
    expect(agents.map(({ id }: { id: string }) => id)).toEqual(others)
    expect(code).toBe(4)
  })

  it('is shown lint warnings and infos only of what it pushes', async () => {
    const skills = [{ id: 'ask', name: 'Ask', description: 'Ask', tags: ['a'] }]
    const files = {
      'cards/team2-rain.json': { name: 'Rain', description: 'Rain', url: 'https://rain.example.com' },
      'cards/team2-vague.json': card('vague', { skills }),
    }
    const { stdout } = await run(files, '')
    const reason = (id: string) => `The token cannot write ${id} (SYNC_CARD_TOKEN in the environment).`
    expect(stdout.match(/^ *(?:✗|cards).*|.*info.*/gm)).toEqual([
      `✗ forbidden team2-rain (cards/team2-rain.json) · ${reason('team2-rain')}`,
      `✗ forbidden team2-vague (cards/team2-vague.json) · ${reason('team2-vague')}`,
    ])
  })

  it('deletes with --prune no agent of another team, though no file describes it', async () => {
    for (let index = 0; index < 30; index++)
      host.register(`team2-${index}`, { card: card(`team2-${index}`), set: 'weather' })
    const { code, stderr } = await folderOf('weather', ['team1-rain']).run(['--prune', '--yes'], env)
    expect(stderr).toBe('30 agents of the set weather will not be deleted: the token cannot write them.\n')
    expect({ code, agents: host.agents.size }).toEqual({ code: 0, agents: 31 })
  })
})
