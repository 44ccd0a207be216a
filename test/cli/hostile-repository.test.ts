import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, truncateSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeEnvFile } from '../../cli/deploy/deployment.ts'
import { card, containing, useFakeHost, Workspace } from './workspace.ts'

const { host, env, run } = useFakeHost()

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
  it('is replaced by a file where something is written', async () => {
    const init = ['init', '--name', 'B', '--description', 'Answers questions about a', '--url', 'https://a.example.com']
    const rows: [name: string, text: string, write: (workspace: Workspace) => unknown][] = [
      ['.env', 'mine\nADMIN_TOKEN=x\n', ({ folder }) => writeEnvFile(folder, '.env', { ADMIN_TOKEN: 'x' })],
      ['.gitignore', '.env\n.env.*\n!.env.example\n', workspace => workspace.run(init)],
    ]
    for (const [name, text, write] of rows) {
      const { outside, workspace, read, isLink } = repository({ 'cards/a.json': card('a') }, { [name]: 'victim' })
      await write(workspace)
      expect([read(name).slice(0, text.length), isLink(name)]).toEqual([text, false])
      expectUntouched(outside)
    }
  })

  it('leads no card out of it (exit 2)', async () => {
    host.register('weather', { card: card('weather') })
    const init = 'init a --name B --description Answers --url https://b.example.com'
    for (const args of ['lint', 'pull --out cards/team --force', init]) {
      const { outside, workspace } = repository({}, { cards: 'folder' })
      const stderr = containing(`leads to ${join(outside.folder, 'folder')}`)
      expect(await run(workspace, args)).toMatchObject({ code: 2, stderr })
      expectUntouched(outside)
    }
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

describe('sync-card.yaml of a hostile repository', () => {
  it('is rejected (exit 2)', async () => {
    const invalidUrl = '/hosts/prod/url must be the URL of a host'
    const withDefault = (name: string) => `default: ${name}\nhosts: { a: { url: "https://b.example" } }`
    const rows: [text: string, message: string][] = [
      ['hosts: { prod: { url: "https://a\\e[2J.example" } }', invalidUrl],
      ['hosts: { prod: { url: "https://a:hidden@b.example" } }', invalidUrl],
      ['hosts: { "a\\e[2J": { url: "https://b.example" } }', 'is not the name of a host'],
      [withDefault('"\\e[2J"'), '/default names no host'],
      // Every object has it.
      [withDefault('constructor'), '/default names no host'],
    ]
    for (const [text, message] of rows) {
      const { code, stdout, stderr } = await run({ 'sync-card.yaml': text }, 'whoami', { env: { ADMIN_TOKEN: 'x' } })
      expect([code, stdout, stderr]).toEqual([2, '', containing(message)])
      expect(stderr.includes('\u001b') || stderr.includes('hidden')).toBe(false)
    }
  })

  it('is rejected, as are other files, if it is larger than any (exit 2)', async () => {
    const messages = {
      'sync-card.yaml': 'sync-card.yaml:1:1 (document) is larger than 16 MiB',
      '.env': '.env cannot be read: it is larger than 16 MiB.',
    }
    for (const [name, message] of Object.entries(messages)) {
      const workspace = new Workspace({ [name]: '' })
      truncateSync(join(workspace.folder, name), 2 ** 32)
      expect(await workspace.run(['whoami'])).toMatchObject({ code: 2, stderr: containing(message) })
    }
  })
})
