import { readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { listed } from './fake-host.ts'
import { card, containing, type Ended, matching, readFrom, useFakeHost, Workspace } from './workspace.ts'

const { host, env, run, renew } = useFakeHost()

const read = ({ folder }: Workspace, file: string): string => readFileSync(join(folder, file), 'utf8')
const list = ({ folder }: Workspace, path = 'cards'): string[] => readdirSync(join(folder, path)).sort()
const actions = ({ stdout }: Ended): Record<string, string> =>
  Object.fromEntries(JSON.parse(stdout).agents.map(({ id, action }: Record<string, string>) => [id, action]))

describe('sync-card pull into an empty folder', () => {
  it('adopts every sample: sync-card says then that all are unchanged, and pull that nothing is to write', async () => {
    expect((await run({}, [resolve('examples/cards')])).code).toBe(0)
    expect(host.agents.size).toBeGreaterThan(10)
    const ids = [...host.agents.keys()]
    const all = (action: string) => Object.fromEntries(ids.map(id => [id, action]))
    const workspace = new Workspace()
    const pulled = await run(workspace, 'pull --json')
    expect([pulled.code, actions(pulled)]).toEqual([0, all('created')])
    const synced = await run(workspace, '--check --json')
    expect([synced.code, actions(synced)]).toEqual([0, all('unchanged')])
    expect(actions(await run(workspace, 'pull --json'))).toEqual(all('unchanged'))
  })

  it('writes YAML that editors check with the schema of the host, and reports it', async () => {
    host.register('weather', { route: 'gateway', card: card('weather', { version: '1.10' }) })
    const workspace = new Workspace()
    expect(await run(workspace, 'pull')).toMatchObject({
      ...{ code: 0, stdout: `+ created   weather (cards/weather.yaml)\n${host.url}: 1 created\n`, stderr: '' },
    })
    const text = read(workspace, 'cards/weather.yaml')
    expect(text.split('\n')[0]).toBe(`# yaml-language-server: $schema=${host.url}/schema/manifest.json`)
    expect(parse(text)).toEqual({ route: 'gateway', card: card('weather', { version: '1.10' }) })
  })

  it('writes the set into the defaults if all agents have the same one, else into the files', async () => {
    const rows: [sets: (string | undefined)[], defaults: object | undefined, inFiles: (string | undefined)[]][] = [
      [['team', 'team'], { set: 'team' }, [undefined, undefined]],
      [['team', 'other'], undefined, ['team', 'other']],
      [['team', undefined], undefined, ['team', undefined]],
      [[undefined, undefined], undefined, [undefined, undefined]],
    ]
    for (const [sets, defaults, inFiles] of rows) {
      renew()
      for (const [index, set] of sets.entries()) host.register(`a${index}`, { card: card('a'), ...(set && { set }) })
      const workspace = new Workspace()
      await run(workspace, 'pull')
      const text = readFrom(workspace, 'cards/defaults.yaml')
      expect(text === undefined ? undefined : parse(text)).toEqual(defaults)
      expect(sets.map((_, index) => parse(read(workspace, `cards/a${index}.yaml`)).set)).toEqual(inFiles)
      expect((await run(workspace, '--check')).code).toBe(0)
    }
  })

  it('writes JSON what YAML would read as something else, into the folder of --out', async () => {
    const numbered = card('weather', { version: 2 })
    host.register('weather', numbered)
    const workspace = new Workspace()
    await run(workspace, 'pull --out a/b')
    expect(list(workspace, 'a/b')).toEqual(['weather.json'])
    expect(JSON.parse(read(workspace, 'a/b/weather.json'))).toEqual({ card: numbered })
  })

  it('names a file so that it is read as a card everywhere', async () => {
    const ids = ['com1', 'con', 'defaults', 'nul', 'readme', 'readme-first']
    for (const id of ids) host.register(id, { card: card('a') })
    const workspace = new Workspace()
    await run(workspace, 'pull')
    expect(list(workspace)).toEqual(ids.map(id => `_${id}.yaml`).sort())
    expect(actions(await run(workspace, '--check --json'))).toEqual(
      Object.fromEntries(ids.map(id => [id, 'unchanged'])),
    )
  })
})

describe('sync-card pull into a folder with files', () => {
  const registered = { card: card('weather', { description: 'What the host has registered for it' }) }
  beforeEach(() => host.register('weather', registered))

  /** Pulls with --force, which fails and leaves the files as they are; returns the output. */
  const expectUntouched = async (files: Record<string, unknown>): Promise<string> => {
    const workspace = new Workspace(files)
    const texts = () => Object.keys(files).map(file => read(workspace, file))
    const [before, names] = [texts(), list(workspace)]
    const { code, stdout } = await run(workspace, 'pull --force')
    expect({ code, texts: texts(), names: list(workspace) }, stdout).toEqual({ code: 3, texts: before, names })
    return stdout
  }

  it('counts what is equal, in whatever format it is', async () => {
    host.register('other', { card: card('other'), visibility: 'public' })
    const prompt =
      '---\nname: other\ndescription: Answers questions about other\nexposed: true\nurl: https://other.example.com\n---\nPrompt'
    const own = { id: 'weather', ...registered }
    const workspace = new Workspace({ 'cards/team/mine.json': own, 'cards/other.md': prompt })
    await run(workspace, 'cards/other.md')
    expect(await run(workspace, 'pull')).toMatchObject({ code: 0, stdout: `${host.url}: 2 unchanged\n` })
    expect(list(workspace)).toEqual(['other.md', 'team'])
  })

  it('shows how a file differs, and leaves it as it is (exit 1)', async () => {
    const text = `# mine\ncard: ${JSON.stringify(card('weather'))}`
    const workspace = new Workspace({ 'cards/weather.yaml': text })
    const { code, stdout, stderr } = await run(workspace, 'pull')
    expect(stdout).toContain('"Answers questions about weather" → "What the host has registered for it"')
    expect(stdout).toContain('~ differs   weather (cards/weather.yaml)\n')
    expect(stderr).toBe('--force overwrites the files that differ.\n')
    expect([code, read(workspace, 'cards/weather.yaml')]).toEqual([1, text])
  })

  it('overwrites a file with --force in its own format', async () => {
    const own = { id: 'weather', ...registered }
    const rows: [file: string, content: unknown, written: object][] = [
      ['cards/weather.yaml', 'card: {name: a}', registered],
      ['cards/weather.json', { card: card('weather') }, registered],
      ['cards/team/other.json', { id: 'weather', card: card('weather') }, own],
    ]
    for (const [file, content, written] of rows) {
      const workspace = new Workspace({ [file]: content })
      const ended = await run(workspace, 'pull --force')
      expect(ended).toMatchObject({ code: 0, stdout: containing(`~ updated   weather (${file})\n`) })
      const text = read(workspace, file)
      expect([parse(text), text.startsWith('{')]).toEqual([written, file.endsWith('.json')])
      expect((await run(workspace, '--check')).code).toBe(0)
    }
  })

  it('does not overwrite front matter or an entry of agents.json even with --force (exit 3)', async () => {
    const prompt = '---\nname: w\ndescription: d\nurl: https://w.example.com\n---\nPrompt'
    expect(await expectUntouched({ 'cards/weather.md': prompt })).toMatch(/✗ not written weather \(.*\) · .*prompt/)
    const agents = { Weather: { url: 'https://w.example.com' } }
    expect(await expectUntouched({ 'cards/agents.json': agents })).toMatch(
      /✗ not written weather \(.*\) · .*it is an entry of agents.json/,
    )
  })

  it('does not overwrite a file that describes no agent without --force (exit 1)', async () => {
    host.register('my-agent', registered)
    const workspace = new Workspace()
    await run(workspace, 'init', { env: {}, answer: '\n'.repeat(6) })
    expect(await run(workspace, 'pull my-agent')).toMatchObject({
      code: 1,
      stdout: containing('~ differs   my-agent (cards/my-agent.yaml) · the file describes no agent\n'),
    })
    await run(workspace, 'pull my-agent --force')
    expect(parse(read(workspace, 'cards/my-agent.yaml')).card).toEqual(registered.card)
  })

  it('removes what a file would inherit although the host does not have it', async () => {
    const provider = { organization: 'A', url: 'https://a.org' }
    const defaults = { visibility: 'internal', set: 'mine', card: { provider } }
    const workspace = new Workspace({ 'cards/defaults.yaml': defaults })
    await run(workspace, 'pull --all')
    expect(parse(read(workspace, 'cards/weather.yaml'))).toEqual({
      ...{ visibility: null, set: null },
      card: { ...registered.card, provider: null },
    })
    expect(actions(await run(workspace, '--check --json'))).toEqual({ weather: 'unchanged' })
  })

  it('never writes into the file of another agent, even with --force', async () => {
    const other = { id: 'other', card: card('other') }
    const rows: [file: string, content: unknown, created: string, id?: object][] = [
      ['cards/weather.yaml', other, '_weather.yaml', { id: 'weather' }],
      ['cards/Weather.yaml', other, '_weather.yaml', { id: 'weather' }],
      ['cards/_weather.yaml', other, 'weather.yaml'],
    ]
    for (const [file, content, created, id] of rows) {
      const workspace = new Workspace({ [file]: content })
      const before = read(workspace, file)
      for (const args of ['pull', 'pull --force']) {
        const { code, stdout } = await run(workspace, args)
        expect([code, stdout.includes(`(cards/${created})`)]).toEqual([0, args === 'pull'])
        expect(parse(read(workspace, `cards/${created}`))).toEqual({ ...id, ...registered })
        expect([read(workspace, file), list(workspace).length]).toEqual([before, 2])
      }
    }
  })

  it('writes nothing if the files of two other agents have its names (exit 3)', async () => {
    const names = ['weather.yaml', 'weather.json', '_weather.yml', '_weather.json', '_weather.yaml']
    const others = names.map((name, index) => [`cards/${name}`, { id: `other-${index}`, card: card('other') }])
    expect(await expectUntouched(Object.fromEntries(others))).toContain(
      '✗ not written weather files of other agents have the names weather and _weather\n',
    )
  })

  it('creates no second file while an invalid one may describe the agent (exit 3)', async () => {
    const rows: [file: string, content: unknown, more?: Record<string, unknown>][] = [
      ['cards/weather.yaml', 'id: other\ncard: ['],
      ['cards/agents.json', { Weather: {} }],
      ['cards/team/weather.yaml', { card: card('weather') }, { 'cards/team/defaults.yaml': 'hosts: [a.example.com]' }],
    ]
    for (const [file, content, more] of rows) {
      const source = file === 'cards/agents.json' ? `${file}#/Weather` : file
      expect(await expectUntouched({ [file]: content, ...more })).toContain(
        `✗ not written weather ${source} may describe it, and is invalid: correct or delete it first\n`,
      )
    }
  })

  it('overwrites neither of two files that describe the agent (exit 3)', async () => {
    const files = { 'cards/weather.yaml': { card: card('a') }, 'cards/x.json': { id: 'weather', card: card('b') } }
    expect(await expectUntouched(files)).toContain(
      '✗ not written weather (cards/x.json) · cards/weather.yaml describes it, too: delete one of them',
    )
  })

  it('replaces a link with the file, and does not write where it leads', async () => {
    const workspace = new Workspace({ 'mine.yaml': 'card: {name: mine}', 'cards/README.md': '' })
    symlinkSync('../mine.yaml', join(workspace.folder, 'cards/weather.yaml'))
    await run(workspace, 'pull --force')
    expect(read(workspace, 'mine.yaml')).toBe('card: {name: mine}')
    expect(parse(read(workspace, 'cards/weather.yaml'))).toEqual(registered)
  })

  it('leaves a link alone that is not read, because it leads out of the folder (exit 3)', async () => {
    const [workspace, outside] = [new Workspace({ 'cards/README.md': '' }), new Workspace({ 'weather.yaml': 'a: b' })]
    symlinkSync(join(outside.folder, 'weather.yaml'), join(workspace.folder, 'cards/weather.yaml'))
    const { code, stdout } = await run(workspace, 'pull --force')
    expect(stdout).toContain(
      '✗ not written weather cards/weather.yaml may describe it, and is not read: it is a link to a',
    )
    expect([code, read(outside, 'weather.yaml'), list(workspace)]).toEqual([3, 'a: b', ['README.md', 'weather.yaml']])
  })

  it('reports defaults that are invalid, and writes nothing (exit 2)', async () => {
    const workspace = new Workspace({ 'cards/defaults.yaml': 'hosts: [a.example.com]' })
    expect(await run(workspace, 'pull')).toMatchObject({
      code: 2,
      stderr:
        'sync-card: cards/defaults.yaml:1:1 belongs to one agent and cannot be inherited: write it into the file of that agent\n',
    })
    expect(list(workspace)).toEqual(['defaults.yaml'])
  })
})

describe('sync-card pull of some agents', () => {
  beforeEach(() => {
    for (const [id, set] of Object.entries({ 'mine-a': 'mine', 'mine-b': 'mine', other: 'other' }))
      host.register(id, { set, card: card(id) })
  })

  it('chooses them by names, --only and --set', async () => {
    const files = {
      'mine-a other': ['mine-a.yaml', 'other.yaml'],
      '--only mine-*': ['defaults.yaml', 'mine-a.yaml', 'mine-b.yaml'],
      '--set other': ['defaults.yaml', 'other.yaml'],
      '--set mine --only *-b': ['defaults.yaml', 'mine-b.yaml'],
    }
    for (const [args, expected] of Object.entries(files)) {
      const workspace = new Workspace()
      const { code } = await run(workspace, `pull ${args}`)
      expect([args, code, list(workspace)]).toEqual([args, 0, expected])
    }
  })

  it('pulls only the set of the folder or the profile, unless --all is given', async () => {
    const workspace = new Workspace({ 'cards/defaults.yaml': { set: 'mine' } })
    const { stderr } = await run(workspace, 'pull')
    expect(stderr).toBe('Only agents of the set mine were pulled; --all pulls all.\n')
    expect(list(workspace)).toEqual(['defaults.yaml', 'mine-a.yaml', 'mine-b.yaml'])
    await run(workspace, 'pull --all')
    expect(parse(read(workspace, 'cards/other.yaml')).set).toBe('other')
    const withProfile = new Workspace({ 'sync-card.yaml': { hosts: { prod: { url: host.url, set: 'other' } } } })
    await run(withProfile, 'pull --host prod')
    expect(list(withProfile)).toEqual(['defaults.yaml', 'other.yaml'])
  })

  it('leaves out agents that the token may not write, and says how many', async () => {
    host.scope = 'mine-*'
    const workspace = new Workspace()
    const { code, stdout, stderr } = await run(workspace, 'pull')
    expect(stderr).toBe('Left out: 1 agent that the token may not write.\n')
    expect(stdout).not.toContain('other')
    expect([code, list(workspace)]).toEqual([0, ['defaults.yaml', 'mine-a.yaml', 'mine-b.yaml']])
  })

  it('reports what cannot be pulled, and pulls the others', async () => {
    const rows: [id: string, message: string, code: number][] = [
      ['other', '✗ forbidden other The token cannot write other (SYNC_CARD_TOKEN in the environment).', 4],
      ['mine-z', '✗ not registered mine-z', 3],
    ]
    host.scope = 'mine-*'
    for (const [id, message, code] of rows) {
      const workspace = new Workspace()
      expect(await run(workspace, ['pull', id, 'mine-a'])).toMatchObject({ code, stdout: containing(`${message}\n`) })
      expect(list(workspace)).toEqual(['defaults.yaml', 'mine-a.yaml'])
    }
  })

  it('rejects wrong arguments (exit 2)', async () => {
    const rows = {
      'a --all': '--only, --set and --all choose agents',
      '--set a --all': '--set and --all exclude each other',
      '--only mime-*': '--only mime-* matches no agent. Did you mean "mine-*"?',
    }
    for (const [args, message] of Object.entries(rows))
      expect(await run({}, `pull ${args}`)).toMatchObject({ code: 2, stderr: containing(message) })
  })
})

describe('sync-card pull from a host that cannot be trusted', () => {
  const registerThree = () => {
    for (const id of ['a', 'b', 'c']) host.register(id, { card: card(id) })
  }

  it('writes no file for an id that is none, and requests none (exit 3)', async () => {
    const ids = ['../escape', 'A', 'a/b', '.', 'con.yaml', 'x\u001b[2J', '']
    const agents = JSON.stringify({ agents: ids.map(id => listed(id)) })
    host.faults = [({ path }, response) => path.startsWith('/agents?') && Boolean(response.end(agents))]
    const workspace = new Workspace()
    const { code, stdout } = await run(workspace, 'pull')
    expect(stdout).not.toContain('\u001b')
    expect([code, list(workspace, '.')]).toEqual([3, []])
    expect(host.seen.map(({ path }) => path)).toEqual(['/agents?limit=100'])
  })

  it('writes names of members and texts as data', async () => {
    const texts = ['# no comment', '--- ', '...', '\u0085\u2028\u0007', '%YAML 9.9', "'", '"', '{{ x }}']
    const odd = { 'x: y\n- z': '!!js/function "() => 1"', '*a': '&b', '<<': { name: 'merged' }, '? q': texts }
    host.register('a', { card: card('a', odd) })
    const workspace = new Workspace()
    await run(workspace, 'pull')
    expect(actions(await run(workspace, '--check --json'))).toEqual({ a: 'unchanged' })
  })

  it('names no set in defaults that is not the name of one', async () => {
    host.register('a', { set: 'x\nvisibility: internal', card: card('a') })
    const workspace = new Workspace()
    await run(workspace, 'pull')
    expect(list(workspace)).toEqual(['a.yaml'])
  })

  it('writes nothing if the host fails in the middle (exit 4)', async () => {
    registerThree()
    host.faults = [({ path }, response) => path === '/agents/c/manifest' && Boolean(response.destroy())]
    const workspace = new Workspace()
    const stdout = matching(/^Stopped: the connection failed .*; nothing was written\.\n$/)
    expect(await run(workspace, 'pull')).toMatchObject({ code: 4, stdout })
    expect(list(workspace, '.')).toEqual([])
  })

  it('stops between two requests on Ctrl-C, and writes nothing (exit 130)', async () => {
    registerThree()
    const workspace = new Workspace()
    const running = workspace.start(['pull'], env)
    host.faults = [
      ({ path }) => {
        if (path === '/agents/a/manifest') running.interrupt()
        return false
      },
    ]
    const stdout = matching(/^Stopped: interrupted; nothing was written\.\n/)
    expect(await running.ended).toMatchObject({ code: 130, stdout })
    expect(list(workspace, '.')).toEqual([])
    expect(host.seen.map(({ path }) => path)).toEqual(['/agents?limit=100', '/agents/a/manifest'])
  })

  it('prints one JSON object with --json', async () => {
    host.register('a', { card: card('a', { version: '2.0.0' }) })
    const { code, stdout } = await run({ 'cards/a.json': { card: card('a', { version: '1.0.0' }) } }, 'pull --json')
    const patch = [{ op: 'replace', path: '/card/version', value: '2.0.0' }]
    const agents = [{ id: 'a', file: 'cards/a.json', action: 'differs', patch }]
    expect([code, JSON.parse(stdout)]).toEqual([1, { url: host.url, exitCode: 1, forbidden: 0, agents }])
  })
})
