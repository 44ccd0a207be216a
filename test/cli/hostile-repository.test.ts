import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, truncateSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeEnvFile } from '../../cli/deploy/env-file.ts'
import { card, useFakeHost, Workspace } from './workspace.ts'

const { host, env } = useFakeHost()

/** The files of the user that are no part of the repository. */
const outsideFiles = { victim: 'mine\n', 'folder/own.txt': 'mine\n' }

/** Creates a repository with links out of it: names in the repository to paths of the folder of the user. */
const repository = (files: Record<string, unknown>, links: Record<string, string>) => {
  const [outside, workspace] = [new Workspace(outsideFiles), new Workspace({ '.git/HEAD': '', ...files })]
  for (const [name, target] of Object.entries(links))
    symlinkSync(join(outside.folder, target), join(workspace.folder, name))
  const read = (name: string): string => readFileSync(join(workspace.folder, name), 'utf8')
  const isLink = (name: string): boolean => lstatSync(join(workspace.folder, name)).isSymbolicLink()
  return { outside, workspace, read, isLink }
}

const expectUntouched = ({ folder }: Workspace): void => {
  expect(readFileSync(join(folder, 'victim'), 'utf8')).toBe('mine\n')
  expect([readdirSync(folder).sort(), readdirSync(join(folder, 'folder'))]).toEqual([['folder', 'victim'], ['own.txt']])
}

describe('a link out of the repository', () => {
  it.each<[string, (workspace: Workspace) => unknown, string, string]>([
    ['.env', ({ folder }) => writeEnvFile(folder, '.env', { ADMIN_TOKEN: 'x' }), '.env', 'mine\nADMIN_TOKEN=x\n'],
    [
      '.gitignore',
      workspace =>
        workspace.run([
          'init',
          '--name',
          'B',
          '--description',
          'Answers questions about a',
          '--url',
          'https://a.example.com',
        ]),
      '.gitignore',
      '.env\n.env.*\n!.env.example\n',
    ],
    [
      'the output of convert',
      workspace => workspace.run(['convert', 'cards/a.json', '--to', 'gopherhole', '--out', '.']),
      'a.json',
      '{',
    ],
  ])('is replaced by a file where %s is written', async (_, write, name, text) => {
    const files = { 'cards/a.json': card('a') }
    const { outside, workspace, read, isLink } = repository(files, { [name]: 'victim' })
    await write(workspace)
    expect([read(name).slice(0, text.length), isLink(name)]).toEqual([text, false])
    expectUntouched(outside)
  })

  it('keeps .env readable by its owner only, and leaves no other file', () => {
    const { workspace } = repository({}, { '.env': 'victim' })
    writeEnvFile(workspace.folder, '.env', { ADMIN_TOKEN: 'x' })
    expect(statSync(join(workspace.folder, '.env')).mode & 0o777).toBe(0o600)
    expect(readdirSync(workspace.folder)).toEqual(['.env', '.git'])
  })

  it.each([
    [[]],
    [['lint']],
    [['pull']],
    [['pull', '--out', 'cards/team', '--force']],
    [['init', 'a', '--name', 'B', '--description', 'Answers questions about b', '--url', 'https://b.example.com']],
  ])('leads no card out of it: %j (exit 2)', async args => {
    host.register('weather', { card: card('weather') })
    const { outside, workspace } = repository({}, { cards: 'folder' })
    const { code, stderr } = await workspace.run(args, env)
    expect([code, stderr]).toEqual([2, expect.stringContaining(`leads to ${join(outside.folder, 'folder')}`)])
    expectUntouched(outside)
  })

  it('is no obstacle to the folder that the user names, nor is a link within the repository', async () => {
    host.register('weather', { card: card('weather') })
    const { outside, workspace } = repository({ 'own/team/a.json': card('a') }, {})
    symlinkSync('own', join(workspace.folder, 'cards'))
    for (const out of ['cards', join(outside.folder, 'folder')]) {
      expect(await workspace.run(['pull', 'weather', '--out', out], env)).toMatchObject({ code: 0, stderr: '' })
      expect(readdirSync(resolve(workspace.folder, out))).toContain('weather.yaml')
    }
  })

  it('is not read as a card or as defaults, so that nothing of the user is published', async () => {
    const { workspace, outside } = repository({ 'cards/a.json': card('a') }, {})
    outside.write({ 'private.json': card('private'), 'private.yaml': 'set: private' })
    symlinkSync(join(outside.folder, 'private.json'), join(workspace.folder, 'cards/private.json'))
    mkdirSync(join(workspace.folder, 'cards/team'))
    symlinkSync(join(outside.folder, 'private.yaml'), join(workspace.folder, 'cards/team/defaults.yaml'))
    workspace.write({ 'cards/team/b.json': card('b') })
    const { code, stdout, stderr } = await workspace.run([], env)
    expect([...host.agents.keys()]).toEqual(['a'])
    expect(stderr).toBe(
      'cards/private.json is skipped: it is a link to a file outside of the repository; name it to read it.\n',
    )
    expect(stdout).toContain(
      'cards/team/defaults.yaml:1:1 error (document) cannot be read: it is a link to a file outside of the repository',
    )
    expect(code).toBe(3)
    expect((await workspace.run([join(outside.folder, 'private.json')], env)).code).toBe(0)
    expect([...host.agents.keys()]).toEqual(['a', 'private'])
  })

  it('shows no text of the file where it leads', async () => {
    const { workspace, outside } = repository({}, {})
    outside.write({ key: '-----BEGIN KEY-----\n: SECRET: [SECRET\n\tSECRET\n' })
    mkdirSync(join(workspace.folder, 'cards'))
    const link = (name: string) => symlinkSync(join(outside.folder, 'key'), join(workspace.folder, name))
    for (const name of ['cards/a.yaml', 'cards/b.json', 'cards/c.md', 'cards/agents.json', '.env']) link(name)
    const outputs = [await workspace.run(['lint'], env), await workspace.run(['lint', '--format', 'sarif'], env)]
    link('sync-card.yaml')
    outputs.push(await workspace.run(['whoami'], env), await workspace.run(['--check'], env))
    expect(outputs.map(({ stdout, stderr }) => stdout + stderr).join()).not.toContain('SECRET')
    expect(outputs[2]).toEqual({
      ...{ code: 2, stdout: '' },
      stderr: 'sync-card: sync-card.yaml cannot be read: it is a link to a file outside of the repository.\n',
    })
  })
})

describe('a name of a file', () => {
  const names = ['\u001b[2Jx.json', 'a\n::error::b.json', '--force.json', '-', '..json', 'a;rm -rf b.json']

  it.each([
    [['lint']],
    [['lint', '--format', 'json']],
    [['lint', '--format', 'sarif']],
    [['--check']],
    [['convert', 'cards', '--to', '1.0', '--out', 'out']],
  ])('commands neither the terminal nor a CI service, and is no option: %j', async args => {
    const workspace = new Workspace(Object.fromEntries(names.map(name => [`cards/${name}`, '{"name": 1}'])))
    const { stdout, stderr } = await workspace.run(args, env)
    const text = stdout + stderr
    expect(text).toMatch(/force/)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal obeys
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]|^::/m)
    expect(host.writes).toEqual([])
  })
})

describe('sync-card.yaml of a hostile repository', () => {
  it.each<[string, string, string]>([
    [
      'a URL with controls',
      'hosts: { prod: { url: "https://a\\e[2J.example" } }',
      '/hosts/prod/url must be the URL of a host',
    ],
    [
      'a URL with a password',
      'hosts: { prod: { url: "https://a:hidden@b.example" } }',
      '/hosts/prod/url must be the URL of a host',
    ],
    [
      'a path with shell commands',
      'hosts: { prod: { url: "https://b.example/;id" } }',
      '/hosts/prod/url must be the URL of',
    ],
    ['a shell command as a name', 'hosts: { prod: { url: "https://$(id)" } }', '/hosts/prod/url must be the URL of'],
    ['a name with controls', 'hosts: { "a\\e[2J": { url: "https://b.example" } }', 'is not the name of a host'],
    [
      'a default with controls',
      'default: "\\e[2J"\nhosts: { a: { url: "https://b.example" } }',
      '/default names no host',
    ],
    [
      'a default that every object has',
      'default: constructor\nhosts: { a: { url: "https://b.example" } }',
      '/default names no host',
    ],
    [
      'aliases that expand without end',
      `a: &a [x, x]\n${[...'bcdefghi'].map((name, index) => `${name}: &${name} [${`*${'abcdefgh'[index]}, `.repeat(9)}]`).join('\n')}\n`,
      'sync-card.yaml:',
    ],
    ['deep nesting', `hosts: ${'['.repeat(5000)}`, 'nests deeper than'],
    ['a list of hosts', 'hosts: [https://b.example]', '/hosts must be'],
  ])('is rejected: %s (exit 2)', async (_, text, message) => {
    const { code, stdout, stderr } = await new Workspace({ 'sync-card.yaml': text }).run(['whoami'], {
      ADMIN_TOKEN: 'x',
    })
    expect(stderr).toContain(message)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal obeys
    expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]|hidden|^::/m)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })

  it.each([
    ['sync-card.yaml', 'sync-card.yaml:1:1 (document) is larger than 16 MiB'],
    ['.env', '.env cannot be read: it is larger than 16 MiB.'],
  ])('is rejected, as are other files, if it is larger than any: %s (exit 2)', async (name, message) => {
    const workspace = new Workspace({ [name]: '' })
    truncateSync(join(workspace.folder, name), 2 ** 32)
    const { code, stderr } = await workspace.run(['whoami'])
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  })
})
