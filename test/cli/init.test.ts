import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { isUneditedStarter, starterCard } from '../../cli/manifests/starter.ts'
import { FakeHost } from './fake-host.ts'
import { card, type Ended, Workspace } from './workspace.ts'

const answers = {
  name: 'Weather',
  description: 'Forecasts the weather of any place',
  url: 'https://weather.example.org/a2a',
}
const flags = Object.entries(answers).flatMap(([name, value]) => [`--${name}`, value])
const flagsWith = (changes: Partial<typeof answers>) =>
  Object.entries({ ...answers, ...changes }).flatMap(([name, value]) => [`--${name}`, value])

const read = ({ folder }: Workspace, file: string): string => readFileSync(join(folder, file), 'utf8')
const lint = async (workspace: Workspace): Promise<unknown[]> => {
  const { stdout } = await workspace.run(['lint', '--format', 'json'])
  return JSON.parse(stdout).files.flatMap((file: { errors: unknown[]; issues?: { severity: string }[] }) => [
    ...file.errors,
    ...(file.issues ?? []).filter(({ severity }) => severity !== 'info'),
  ])
}

describe('sync-card init with flags', () => {
  it('writes a commented card, the set of the folder and an example of .env, and says what comes next', async () => {
    const workspace = new Workspace()
    const { code, stdout, stderr } = await workspace.run(['init', ...flags])
    const set = basename(workspace.folder).toLowerCase()
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `+ created cards/weather.yaml\n+ created cards/defaults.yaml: the set ${parse(read(workspace, 'cards/defaults.yaml')).set}; another owner of the same host needs another name\n+ created .env.example\n`,
    })
    expect(stderr).toContain('npx sync-card lint')
    expect(stderr).toMatch(/\nIt goes to http:\/\/127\.0\.0\.1:8787\. For another host, copy \.env\.example to \.env/)
    expect(read(workspace, 'cards/weather.yaml')).toBe(starterCard(answers))
    expect(parse(read(workspace, 'cards/defaults.yaml'))).toEqual({ set: expect.stringMatching(/^[a-z0-9-]+$/) })
    expect(set).toContain('sync-card')
    expect(read(workspace, '.env.example')).toMatch(/^SYNC_CARD_URL=https:\/\/.*\n(?:.*\n)*SYNC_CARD_TOKEN=\n$/m)
    expect(readdirSync(workspace.folder).sort()).toEqual(['.env.example', 'cards'])
  })

  it('writes a card that lints clean and is unchanged once it is pushed', async () => {
    const host = await new FakeHost().listen()
    const env = { SYNC_CARD_URL: host.url, SYNC_CARD_TOKEN: host.token }
    const workspace = new Workspace()
    await workspace.run(['init', ...flags], env)
    expect(await lint(workspace)).toEqual([])
    const first = await workspace.run(['--json'], env)
    const second = await workspace.run(['--json'], env)
    await host.close()
    const actions = ({ stdout }: Ended) => JSON.parse(stdout).agents.map((agent: { action: string }) => agent.action)
    expect([actions(first), actions(second)]).toEqual([['created'], ['unchanged']])
  })

  it('names the schema of the host that it would talk to', async () => {
    const workspace = new Workspace({ '.env': 'SYNC_CARD_URL=https://cards.example.com/' })
    const { stderr } = await workspace.run(['init', ...flags])
    expect(stderr).toMatch(/\nIt goes to https:\/\/cards\.example\.com\.\n$/)
    expect(read(workspace, 'cards/weather.yaml').split('\n')[0]).toBe(
      '# yaml-language-server: $schema=https://cards.example.com/schema/manifest.json',
    )
  })

  it('names the schema of the host that --host names', async () => {
    const workspace = new Workspace({ 'sync-card.yaml': { hosts: { prod: { url: 'https://prod.example.com' } } } })
    await workspace.run(['init', ...flags, '--host', 'prod'])
    expect(read(workspace, 'cards/weather.yaml')).toContain('$schema=https://prod.example.com/schema/manifest.json\n')
  })

  it.each([
    ['an id', ['rain-and-sun'], answers, 'rain-and-sun'],
    ['a name of other letters', [], { ...answers, name: 'Wetter für Köln' }, 'wetter-fur-koln'],
    ['a name without letters that an id can have', [], { ...answers, name: '天気' }, 'my-agent'],
  ])('names the file after %s', async (_, id, given, expected) => {
    const workspace = new Workspace()
    const { code } = await workspace.run(['init', ...id, ...flagsWith(given)])
    expect({ code, name: parse(read(workspace, `cards/${expected}.yaml`)).card.name }).toEqual({
      code: 0,
      name: given.name,
    })
  })

  it.each([
    [{ name: ' ' }, '--name must not be empty.'],
    [{ name: 'two\nlines' }, '--name must be one line, without control characters.'],
    [{ description: '' }, '--description must not be empty.'],
    [{ description: 'Weather' }, '--description is too vague for routing'],
    [{ url: 'weather.example.org' }, '--url is relative: it must be absolute'],
    [{ url: 'ftp://weather.example.org/' }, '--url must be an absolute URL with http or https'],
    [{ url: 'https://user:pass@weather.example.org/' }, '--url must not contain a user name or password'],
    [{ url: 'http://localhost:9000/' }, '--url is a local or private address'],
    [{ url: 'https://weather.example.org/.well-known/agent-card.json' }, '--url is '],
  ])('rejects %j, says why, and writes nothing (exit 2)', async (changes, reason) => {
    const workspace = new Workspace()
    const { code, stdout, stderr } = await workspace.run(['init', ...flagsWith(changes)])
    expect({ code, stdout, files: readdirSync(workspace.folder) }).toEqual({ code: 2, stdout: '', files: [] })
    expect(stderr).toContain(reason)
  })

  it.each([
    ['../escape', '"../escape" is not an id: use lower-case letters, digits and hyphens, such as escape.'],
    ['Weather', '"Weather" is not an id: use lower-case letters, digits and hyphens, such as weather.'],
    ['defaults', 'cards/defaults.yaml would not be read as a card'],
    ['readme', 'cards/readme.yaml would not be read as a card'],
  ])('rejects the id %s (exit 2)', async (id, reason) => {
    const workspace = new Workspace()
    const { code, stderr } = await workspace.run(['init', id, ...flags])
    expect({ code, files: readdirSync(workspace.folder) }).toEqual({ code: 2, files: [] })
    expect(stderr).toContain(reason)
  })

  it.each([
    ['without flags', [], '--name, --description and --url'],
    ['with some flags', ['--name', 'Weather'], '--description and --url'],
    ['with all flags but one', flags.slice(0, 4), '--url'],
  ])('says which flags to add %s where nobody can answer (exit 2)', async (_, given, missing) => {
    const workspace = new Workspace()
    const { code, stdout, stderr } = await workspace.run(['init', ...given])
    expect(stderr).toBe(`sync-card: Nobody can answer questions here: give ${missing} too.\n`)
    expect({ code, stdout, files: readdirSync(workspace.folder) }).toEqual({ code: 2, stdout: '', files: [] })
  })
})

describe('sync-card init in a folder with files', () => {
  it.each([
    ['a file of the same name', { 'cards/weather.yaml': 'mine' }, 'cards/weather.yaml'],
    ['a card of the same id in another format', { 'cards/weather.json': card('weather') }, 'cards/weather.json'],
    ['a card with the id', { 'cards/other.yaml': { id: 'weather', card: card('weather') } }, 'cards/other.yaml'],
  ])('does not overwrite %s, and names it (exit 2)', async (_, files, named) => {
    const workspace = new Workspace(files)
    const before = read(workspace, named)
    const { code, stderr } = await workspace.run(['init', ...flags])
    expect(stderr).toBe(`sync-card: ${named} exists, and is not overwritten: give another id, or edit it.\n`)
    expect({ code, after: read(workspace, named), cards: readdirSync(join(workspace.folder, 'cards')) }).toEqual({
      code: 2,
      after: before,
      cards: [basename(named)],
    })
  })

  it('does not write through a link that leads out of the folder (exit 2)', async () => {
    const [workspace, outside] = [new Workspace(), new Workspace()]
    mkdirSync(join(workspace.folder, 'cards'))
    symlinkSync(join(outside.folder, 'target'), join(workspace.folder, 'cards/weather.yaml'))
    const { code, stderr } = await workspace.run(['init', ...flags])
    expect(stderr).toContain('cards/weather.yaml exists')
    expect({ code, files: readdirSync(outside.folder) }).toEqual({ code: 2, files: [] })
  })

  it('leaves defaults and .env.example as they are', async () => {
    const files = { 'cards/defaults.json': { visibility: 'internal' }, '.env.example': 'MINE=1\n' }
    const workspace = new Workspace(files)
    const { code, stdout } = await workspace.run(['init', ...flags])
    expect({ code, stdout }).toEqual({ code: 0, stdout: '+ created cards/weather.yaml\n' })
    expect(read(workspace, '.env.example')).toBe('MINE=1\n')
    expect(existsSync(join(workspace.folder, 'cards/defaults.yaml'))).toBe(false)
  })

  it('reports a folder that cannot be written (exit 2)', async () => {
    const { code, stderr } = await new Workspace({ cards: 'a file' }).run(['init', ...flags])
    expect(stderr).toMatch(/^sync-card: Cannot write cards\/weather\.yaml: /)
    expect(code).toBe(2)
  })

  it.each([
    ['creates .gitignore', undefined, '.env\n.env.*\n!.env.example\n'],
    ['completes .gitignore', 'out\n.env', 'out\n.env\n.env.*\n!.env.example\n'],
    ['leaves a complete .gitignore', '.env\r\n.env.*\r\n!.env.example', '.env\r\n.env.*\r\n!.env.example'],
  ])('%s in a git repository', async (_, before, after) => {
    const workspace = new Workspace({ '.git/HEAD': '', ...(before !== undefined && { '.gitignore': before }) })
    await workspace.run(['init', ...flags])
    expect(read(workspace, '.gitignore')).toBe(after)
  })
})

describe('sync-card init in a terminal', () => {
  const run = async (args: readonly string[], typed: string) => {
    const workspace = new Workspace()
    return { workspace, ...(await workspace.run(['init', ...args], {}, typed)) }
  }

  it('asks for what a card needs, again where an answer is not valid', async () => {
    const typed = `Weather\n\nWeather\n${answers.description}\nhere\n${answers.url}\n`
    const { workspace, code, stderr } = await run([], typed)
    expect(code).toBe(0)
    expect(stderr.split('\n').slice(0, 4)).toEqual([
      'What is the agent called? (My Agent) What does it do, for whom, and what does it need to know?   The description must not be empty.',
      'What does it do, for whom, and what does it need to know?   The description is too vague for routing: name the action, its object and its result, as in "Reads PDF invoices and returns their amounts as JSON".',
      'What does it do, for whom, and what does it need to know? Which URL do clients call? (https://weather.example.com/a2a)   The URL is relative: it must be absolute, such as https://agent.example.com/a2a.',
      expect.stringMatching(
        /^Which URL do clients call\? \(.*\) Edit cards\/weather\.yaml where there is more to say\.$/,
      ),
    ])
    expect(read(workspace, 'cards/weather.yaml')).toBe(starterCard(answers))
  })

  it('asks only for what the flags do not give', async () => {
    const { workspace, stderr } = await run(flags.slice(0, 4), '\n')
    expect(stderr).toContain('Which URL do clients call? (https://weather.example.com/a2a) ')
    expect(stderr).toContain('Edit cards/weather.yaml: its URL, https://weather.example.com/a2a, is only an example.')
    expect(stderr).not.toContain('called?')
    expect(read(workspace, 'cards/weather.yaml')).toBe(
      starterCard({ ...answers, url: 'https://weather.example.com/a2a' }),
    )
  })

  it('writes the starter if every default is taken, and says that it is skipped', async () => {
    const { workspace, code, stderr } = await run([], '\n\n\n')
    expect(isUneditedStarter(parse(read(workspace, 'cards/my-agent.yaml')))).toBe(true)
    expect(stderr).toContain('Edit cards/my-agent.yaml: sync-card skips it as long as it describes no agent.')
    expect(code).toBe(0)
  })

  it('asks for another name if its file exists', async () => {
    const workspace = new Workspace({ 'cards/weather.json': card('weather') })
    const { stderr } = await workspace.run(['init', ...flags.slice(2)], {}, 'Weather\nClimate\n')
    expect(stderr).toContain('cards/weather.json exists, and is not overwritten')
    expect(existsSync(join(workspace.folder, 'cards/climate.yaml'))).toBe(true)
  })

  it('writes nothing if the prompt is left', async () => {
    const { workspace, code, stdout, stderr } = await run([], 'Weather\n')
    expect(stderr).toMatch(/\nNothing is written\.\n$/)
    expect({ code, stdout, files: readdirSync(workspace.folder) }).toEqual({ code: 2, stdout: '', files: [] })
  })
})
