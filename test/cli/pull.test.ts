import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { renderManifest } from '../../cli/manifests/index.ts'
import type { Seen } from './fake-host.ts'
import { card, type Ended, useFakeHost, Workspace } from './workspace.ts'

const { host, env } = useFakeHost()

const read = ({ folder }: Workspace, file: string): string => readFileSync(join(folder, file), 'utf8')
const list = ({ folder }: Workspace, path = 'cards'): string[] => readdirSync(join(folder, path)).sort()
const actions = ({ stdout }: Ended): Record<string, string> =>
  Object.fromEntries(
    JSON.parse(stdout).agents.map(({ id, action }: { id: string; action: string }) => [id, action] as const),
  )

describe('sync-card pull into an empty folder', () => {
  it('adopts every sample: sync-card says then that all are unchanged, and pull that nothing is to write', async () => {
    await new Workspace().run([resolve('examples/cards')], env)
    expect(host.agents.size).toBeGreaterThan(10)
    const workspace = new Workspace()
    const pulled = await workspace.run(['pull', '--json'], env)
    expect(pulled.code).toBe(0)
    expect(new Set(Object.values(actions(pulled)))).toEqual(new Set(['created']))
    const synced = await workspace.run(['--check', '--json'], env)
    const ids = [...host.agents.keys()].sort()
    expect(actions(synced)).toEqual(Object.fromEntries(ids.map(id => [id, 'unchanged'])))
    expect(synced.code).toBe(0)
    const again = await workspace.run(['pull', '--json'], env)
    expect(actions(again)).toEqual(Object.fromEntries(ids.map(id => [id, 'unchanged'])))
  })

  it('writes YAML that editors check with the schema of the host, and reports it', async () => {
    host.register('weather', { route: 'gateway', card: card('weather', { version: '1.10' }) })
    const workspace = new Workspace()
    const { code, stdout, stderr } = await workspace.run(['pull'], env)
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: `+ created   weather (cards/weather.yaml)\n${host.url}: 1 created\n`,
      stderr: '',
    })
    const text = read(workspace, 'cards/weather.yaml')
    expect(text.split('\n')[0]).toBe(`# yaml-language-server: $schema=${host.url}/schema/manifest.json`)
    expect(parse(text)).toEqual({ route: 'gateway', card: card('weather', { version: '1.10' }) })
  })

  it('writes a bare card that was registered with curl as a manifest', async () => {
    host.register('weather', card('weather'))
    const workspace = new Workspace()
    await workspace.run(['pull'], env)
    expect(parse(read(workspace, 'cards/weather.yaml'))).toEqual({ card: card('weather') })
  })

  it('writes into the folder of --out', async () => {
    host.register('weather', { card: card('weather') })
    const workspace = new Workspace()
    await workspace.run(['pull', '--out', 'a/b'], env)
    expect(list(workspace, 'a/b')).toEqual(['weather.yaml'])
  })

  it.each([
    ['all have one', ['team', 'team'], { set: 'team' }, [undefined, undefined]],
    ['all have another', ['team', 'other'], undefined, ['team', 'other']],
    ['one has none', ['team', undefined], undefined, ['team', undefined]],
    ['none has one', [undefined, undefined], undefined, [undefined, undefined]],
  ])('writes the set where %s', async (_, sets, defaults, inFiles) => {
    for (const [index, set] of sets.entries()) host.register(`a${index}`, { card: card('a'), ...(set && { set }) })
    const workspace = new Workspace()
    await workspace.run(['pull'], env)
    const file = join(workspace.folder, 'cards/defaults.yaml')
    expect(existsSync(file) ? parse(readFileSync(file, 'utf8')) : undefined).toEqual(defaults)
    expect(sets.map((__, index) => parse(read(workspace, `cards/a${index}.yaml`)).set)).toEqual(inFiles)
    expect((await workspace.run(['--check'], env)).code).toBe(0)
  })

  it('writes JSON what YAML would read as something else', async () => {
    host.register('weather', { card: card('weather', { version: 2 }) })
    const workspace = new Workspace()
    await workspace.run(['pull'], env)
    expect(JSON.parse(read(workspace, 'cards/weather.json'))).toEqual({ card: card('weather', { version: 2 }) })
    expect((await workspace.run(['--check'], env)).code).toBe(0)
  })

  it.each(['defaults', 'readme', 'readme-first', 'con', 'nul', 'com1'])(
    'names the file of the agent %s so that it is read as a card everywhere',
    async id => {
      host.register(id, { card: card('a') })
      const workspace = new Workspace()
      await workspace.run(['pull'], env)
      expect(list(workspace)).toEqual([`_${id}.yaml`])
      expect(actions(await workspace.run(['--check', '--json'], env))).toEqual({ [id]: 'unchanged' })
    },
  )
})

describe('sync-card pull into a folder with files', () => {
  const registered = { card: card('weather', { description: 'What the host has registered for it' }) }
  beforeEach(() => host.register('weather', registered))

  it('counts what is equal, in whatever format it is', async () => {
    host.register('other', { card: card('other'), visibility: 'public' })
    const prompt =
      '---\nname: other\ndescription: Answers questions about other\nexposed: true\nurl: https://other.example.com\n---\nPrompt'
    const workspace = new Workspace({
      'cards/team/mine.json': { id: 'weather', ...registered },
      'cards/other.md': prompt,
    })
    await workspace.run(['cards/other.md'], env)
    const { code, stdout } = await workspace.run(['pull'], env)
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${host.url}: 2 unchanged\n` })
    expect(list(workspace)).toEqual(['other.md', 'team'])
  })

  it('shows how a file differs, and leaves it as it is (exit 1)', async () => {
    const workspace = new Workspace({ 'cards/weather.yaml': `# mine\ncard: ${JSON.stringify(card('weather'))}` })
    const before = read(workspace, 'cards/weather.yaml')
    const { code, stdout, stderr } = await workspace.run(['pull'], env)
    expect(stdout).toContain('"Answers questions about weather" → "What the host has registered for it"')
    expect(stdout).toContain('~ differs   weather (cards/weather.yaml)\n')
    expect(stderr).toBe('--force overwrites the files that differ.\n')
    expect({ code, after: read(workspace, 'cards/weather.yaml') }).toEqual({ code: 1, after: before })
  })

  it.each([
    ['cards/weather.yaml', 'card: {name: a}', undefined],
    ['cards/weather.json', { card: card('weather') }, undefined],
    ['cards/team/other.json', { id: 'weather', card: card('weather') }, 'weather'],
  ])('overwrites %s with --force in its own format', async (file, content, id) => {
    const workspace = new Workspace({ [file]: content })
    const { code, stdout } = await workspace.run(['pull', '--force'], env)
    expect(stdout).toContain(`~ updated   weather (${file})\n`)
    expect(code).toBe(0)
    expect(parse(read(workspace, file))).toEqual({ ...(id !== undefined && { id }), ...registered })
    expect((await workspace.run(['--check'], env)).code).toBe(0)
  })

  it.each([
    [
      'front matter',
      'cards/weather.md',
      '---\nname: w\ndescription: d\nurl: https://w.example.com\n---\nPrompt',
      'prompt',
    ],
    [
      'an entry of agents.json',
      'cards/agents.json',
      { Weather: { url: 'https://w.example.com' } },
      'it is an entry of agents.json',
    ],
  ])('does not overwrite %s even with --force (exit 3)', async (_, file, content, reason) => {
    const workspace = new Workspace({ [file]: content })
    const before = read(workspace, file)
    const { code, stdout } = await workspace.run(['pull', '--force'], env)
    expect(stdout).toMatch(new RegExp(`✗ not written weather \\(.*\\) · .*${reason}`))
    expect({ code, after: read(workspace, file), files: list(workspace).length }).toEqual({
      code: 3,
      after: before,
      files: 1,
    })
  })

  it('does not overwrite a file that describes no agent without --force (exit 1)', async () => {
    host.register('my-agent', registered)
    const workspace = new Workspace()
    await workspace.run(['init'], {}, '\n'.repeat(6))
    const first = await workspace.run(['pull', 'my-agent'], env)
    expect(first.stdout).toContain('~ differs   my-agent (cards/my-agent.yaml) · the file describes no agent\n')
    expect(first.code).toBe(1)
    await workspace.run(['pull', 'my-agent', '--force'], env)
    expect(parse(read(workspace, 'cards/my-agent.yaml')).card).toEqual(registered.card)
  })

  it('removes what a file would inherit although the host does not have it', async () => {
    const defaults = {
      visibility: 'internal',
      set: 'mine',
      card: { provider: { organization: 'A', url: 'https://a.org' } },
    }
    const workspace = new Workspace({ 'cards/defaults.yaml': defaults })
    await workspace.run(['pull', '--all'], env)
    expect(parse(read(workspace, 'cards/weather.yaml'))).toEqual({
      visibility: null,
      set: null,
      card: { ...registered.card, provider: null },
    })
    expect(actions(await workspace.run(['--check', '--json'], env))).toEqual({ weather: 'unchanged' })
  })

  it.each([
    ['a manifest', 'cards/weather.yaml', { id: 'other', card: card('other') }, '_weather.yaml'],
    ['an invalid manifest', 'cards/weather.yaml', { id: 'other', card: { name: 'a' } }, '_weather.yaml'],
    ['a file with another case', 'cards/Weather.yaml', { id: 'other', card: card('other') }, '_weather.yaml'],
    ['a file with the prefix, too', 'cards/_weather.yaml', { id: 'other', card: card('other') }, 'weather.yaml'],
  ])('never writes into the file of another agent, even with --force: %s', async (_, file, content, created) => {
    const workspace = new Workspace({ [file]: content })
    const before = read(workspace, file)
    for (const args of [['pull'], ['pull', '--force']]) {
      const { code, stdout } = await workspace.run(args, env)
      expect({ code, created: stdout.includes(`(cards/${created})`) }).toEqual({ code: 0, created: args.length === 1 })
      expect(parse(read(workspace, `cards/${created}`))).toEqual({
        ...(created.startsWith('_') && { id: 'weather' }),
        ...registered,
      })
      expect([read(workspace, file), list(workspace).length]).toEqual([before, 2])
    }
  })

  it('writes nothing if the files of two other agents have its names (exit 3)', async () => {
    const workspace = new Workspace(
      Object.fromEntries(
        ['weather.yaml', 'weather.json', '_weather.yml', '_weather.json', '_weather.yaml'].map((name, index) => [
          `cards/${name}`,
          { id: `other-${index}`, card: card('other') },
        ]),
      ),
    )
    const { code, stdout } = await workspace.run(['pull', '--force'], env)
    expect(stdout).toContain('✗ not written weather files of other agents have the names weather and _weather\n')
    expect({ code, files: list(workspace).length }).toEqual({ code: 3, files: 5 })
  })

  it.each<[string, string, unknown]>([
    ['cannot be parsed', 'cards/weather.yaml', 'id: other\ncard: ['],
    ['has several documents', 'cards/x.yaml', 'id: weather\n---\nid: other'],
    ['is a list', 'cards/x.json', [{ id: 'weather', card: card('weather') }]],
    ['is empty', 'cards/weather.yaml', ''],
    ['has an id that is no text', 'cards/x.yaml', 'id: 5\ncard: {}'],
    ['has an entry without a URL', 'cards/agents.json', { Weather: {} }],
    ['inherits from defaults that are invalid', 'cards/team/weather.yaml', { card: card('weather') }],
  ])('creates no second file while one that %s may describe the agent (exit 3)', async (_, file, content) => {
    const workspace = new Workspace({ [file]: content })
    if (file.includes('team')) workspace.write({ 'cards/team/defaults.yaml': 'hosts: [a.example.com]' })
    const before = read(workspace, file)
    const { code, stdout } = await workspace.run(['pull', '--force'], env)
    expect(stdout).toContain(
      `✗ not written weather ${file}${file.endsWith('agents.json') ? '#/Weather' : ''} may describe it, and is invalid: correct or delete it first\n`,
    )
    expect({ code, after: read(workspace, file) }).toEqual({ code: 3, after: before })
    expect(
      readdirSync(join(workspace.folder, 'cards'), { recursive: true }).filter(name => /weather/.test(String(name))),
    ).toEqual(/weather/.test(file) ? [file.slice('cards/'.length)] : [])
  })

  it('overwrites neither of two files that describe the agent (exit 3)', async () => {
    const files = { 'cards/weather.yaml': { card: card('a') }, 'cards/x.json': { id: 'weather', card: card('b') } }
    const workspace = new Workspace(files)
    const before = Object.keys(files).map(file => read(workspace, file))
    const { code, stdout } = await workspace.run(['pull', '--force'], env)
    expect(stdout).toContain(
      '✗ not written weather (cards/x.json) · cards/weather.yaml describes it, too: delete one of them',
    )
    expect({ code, after: Object.keys(files).map(file => read(workspace, file)) }).toEqual({ code: 3, after: before })
  })

  it('replaces a link with the file, and does not write where it leads', async () => {
    const workspace = new Workspace({ 'mine.yaml': 'card: {name: mine}', 'cards/README.md': '' })
    symlinkSync('../mine.yaml', join(workspace.folder, 'cards/weather.yaml'))
    await workspace.run(['pull', '--force'], env)
    expect(read(workspace, 'mine.yaml')).toBe('card: {name: mine}')
    expect(parse(read(workspace, 'cards/weather.yaml'))).toEqual(registered)
  })

  it('leaves a link alone that is not read, because it leads out of the folder (exit 3)', async () => {
    const [workspace, outside] = [new Workspace({ 'cards/README.md': '' }), new Workspace({ 'weather.yaml': 'a: b' })]
    symlinkSync(join(outside.folder, 'weather.yaml'), join(workspace.folder, 'cards/weather.yaml'))
    const { code, stdout } = await workspace.run(['pull', '--force'], env)
    expect(stdout).toContain(
      '✗ not written weather cards/weather.yaml may describe it, and is not read: it is a link to a',
    )
    expect({ code, text: read(outside, 'weather.yaml'), files: list(workspace) }).toEqual({
      ...{ code: 3, text: 'a: b', files: ['README.md', 'weather.yaml'] },
    })
  })

  it('reports defaults that are invalid, and writes nothing (exit 2)', async () => {
    const workspace = new Workspace({ 'cards/defaults.yaml': 'hosts: [a.example.com]' })
    const { code, stderr } = await workspace.run(['pull'], env)
    expect(stderr).toBe(
      'sync-card: cards/defaults.yaml:1:1 belongs to one agent and cannot be inherited: write it into the file of that agent\n',
    )
    expect({ code, files: list(workspace) }).toEqual({ code: 2, files: ['defaults.yaml'] })
  })
})

describe('sync-card pull of some agents', () => {
  beforeEach(() => {
    host.register('mine-a', { set: 'mine', card: card('a') })
    host.register('mine-b', { set: 'mine', card: card('b') })
    host.register('other', { set: 'other', card: card('c') })
  })

  it.each([
    ['names', ['mine-a', 'other'], ['mine-a.yaml', 'other.yaml']],
    ['--only', ['--only', 'mine-*'], ['defaults.yaml', 'mine-a.yaml', 'mine-b.yaml']],
    ['--set', ['--set', 'other'], ['defaults.yaml', 'other.yaml']],
    ['--set and --only', ['--set', 'mine', '--only', '*-b'], ['defaults.yaml', 'mine-b.yaml']],
  ])('chooses by %s', async (_, args, files) => {
    const workspace = new Workspace()
    const { code } = await workspace.run(['pull', ...args], env)
    expect({ code, files: list(workspace) }).toEqual({ code: 0, files })
  })

  it('pulls only the set of the folder, unless --all is given', async () => {
    const workspace = new Workspace({ 'cards/defaults.yaml': { set: 'mine' } })
    const { stderr } = await workspace.run(['pull'], env)
    expect(stderr).toBe('Only agents of the set mine were pulled; --all pulls all.\n')
    expect(list(workspace)).toEqual(['defaults.yaml', 'mine-a.yaml', 'mine-b.yaml'])
    await workspace.run(['pull', '--all'], env)
    expect(parse(read(workspace, 'cards/other.yaml')).set).toBe('other')
  })

  it('pulls only the set of the profile', async () => {
    const hosts = { prod: { url: host.url, set: 'other' } }
    const workspace = new Workspace({ 'sync-card.yaml': { hosts } })
    await workspace.run(['pull', '--host', 'prod'], env)
    expect(list(workspace)).toEqual(['defaults.yaml', 'other.yaml'])
  })

  it('leaves out agents that the token may not write, and says how many', async () => {
    host.scope = 'mine-*'
    const workspace = new Workspace()
    const { code, stdout, stderr } = await workspace.run(['pull'], env)
    expect(stderr).toBe('Left out: 1 agent that the token may not write.\n')
    expect(stdout).not.toContain('other')
    expect({ code, files: list(workspace) }).toEqual({
      code: 0,
      files: ['defaults.yaml', 'mine-a.yaml', 'mine-b.yaml'],
    })
  })

  it.each([
    ['other', '✗ forbidden other The token cannot write other (SYNC_CARD_TOKEN in the environment).', 4],
    ['mine-z', '✗ not registered mine-z', 3],
    ['../../etc/passwd', '✗ not written ../../etc/passwd this is not the id of an agent', 3],
  ])('reports that %s cannot be pulled', async (id, message, exitCode) => {
    host.scope = 'mine-*'
    const workspace = new Workspace()
    const { code, stdout } = await workspace.run(['pull', id, 'mine-a'], env)
    expect(stdout).toContain(`${message}\n`)
    expect({ code, files: list(workspace) }).toEqual({ code: exitCode, files: ['defaults.yaml', 'mine-a.yaml'] })
  })

  it.each([
    [['a', '--all'], '--only, --set and --all choose agents'],
    [['--set', 'a', '--all'], '--set and --all exclude each other'],
    [['--only', 'mime-*'], '--only mime-* matches no agent. Did you mean "mine-*"?'],
  ])('rejects the arguments %j (exit 2)', async (args, message) => {
    const { code, stderr } = await new Workspace().run(['pull', ...args], env)
    expect(stderr).toContain(message)
    expect(code).toBe(2)
  })
})

describe('sync-card pull from a host that cannot be trusted', () => {
  it('writes no file for an id that is none, and requests none (exit 3)', async () => {
    const ids = ['../escape', 'A', 'a/b', '.', 'con.yaml', 'x\u001b[2J', '']
    host.faults = [
      ({ path }, response) =>
        path.startsWith('/agents?') && Boolean(response.end(JSON.stringify({ agents: ids.map(id => ({ id })) }))),
    ]
    const workspace = new Workspace()
    const { code, stdout } = await workspace.run(['pull'], env)
    expect(stdout).not.toContain('\u001b')
    expect({ code, files: readdirSync(workspace.folder) }).toEqual({ code: 3, files: [] })
    expect(host.seen.map(({ path }) => path)).toEqual(['/agents?limit=100'])
  })

  it('writes names of members and texts as data', async () => {
    const manifest = {
      card: card('a', {
        'x: y\n- z': '!!js/function "() => 1"',
        '*a': '&b',
        '<<': { name: 'merged' },
        '? q': ['# no comment', '--- ', '...', '\u0085\u2028\u0007', '%YAML 9.9', "'", '"', '{{ x }}'],
      }),
    }
    host.register('a', manifest)
    const workspace = new Workspace()
    await workspace.run(['pull'], env)
    expect(actions(await workspace.run(['--check', '--json'], env))).toEqual({ a: 'unchanged' })
  })

  it('names no set in defaults that is not the name of one', async () => {
    host.register('a', { set: 'x\nvisibility: internal', card: card('a') })
    const workspace = new Workspace()
    await workspace.run(['pull'], env)
    expect(list(workspace)).toEqual(['a.yaml'])
  })

  it('writes nothing if the host fails in the middle (exit 4)', async () => {
    for (const id of ['a', 'b', 'c']) host.register(id, { card: card(id) })
    host.faults = [({ path }, response) => path === '/agents/c/manifest' && Boolean(response.destroy())]
    const workspace = new Workspace()
    const { code, stdout } = await workspace.run(['pull'], env)
    expect(stdout).toMatch(/^Stopped: the connection failed .*; nothing was written\.\n$/)
    expect({ code, files: readdirSync(workspace.folder) }).toEqual({ code: 4, files: [] })
  })

  it('stops between two requests on Ctrl-C, and writes nothing (exit 130)', async () => {
    for (const id of ['a', 'b', 'c']) host.register(id, { card: card(id) })
    const workspace = new Workspace()
    const isFirst = ({ path }: Seen): boolean => path === '/agents/a/manifest'
    const running = workspace.start(['pull'], env)
    host.faults = [
      seen => {
        if (isFirst(seen)) running.interrupt()
        return false
      },
    ]
    const { code, stdout } = await running.ended
    expect(stdout).toMatch(/^Stopped: interrupted; nothing was written\.\n/)
    expect({ code, files: readdirSync(workspace.folder) }).toEqual({ code: 130, files: [] })
    expect(host.seen.map(({ path }) => path)).toEqual(['/agents?limit=100', '/agents/a/manifest'])
  })

  it('prints one JSON object with --json', async () => {
    host.register('a', { card: card('a', { version: '2.0.0' }) })
    const workspace = new Workspace({ 'cards/a.json': { card: card('a', { version: '1.0.0' }) } })
    const { code, stdout } = await workspace.run(['pull', '--json'], env)
    const patch = [{ op: 'replace', path: '/card/version', value: '2.0.0' }]
    expect(JSON.parse(stdout)).toEqual({
      url: host.url,
      exitCode: 1,
      forbidden: 0,
      agents: [{ id: 'a', file: 'cards/a.json', action: 'differs', patch }],
    })
    expect(code).toBe(1)
  })
})

describe('renderManifest', () => {
  it('returns a text that is read as the same manifest, or none', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), extra => {
        const manifest = JSON.parse(JSON.stringify({ card: extra }))
        const text = renderManifest(manifest, 'a.yaml', 'https://cards.example.com')
        expect(text === undefined ? manifest : parse(text, { merge: true })).toEqual(manifest)
        expect(renderManifest(manifest, 'a.json', '')).toBeDefined()
      }),
    )
  })
})
