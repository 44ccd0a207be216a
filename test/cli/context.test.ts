import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createContext, type Environment, readEnvFile } from '../../cli/context.ts'
import { card, Workspace } from './workspace.ts'

/** Returns the context of a program in this folder of a workspace. */
const contextOf = (workspace: Workspace, { env = {}, folder = '' }: { env?: Environment; folder?: string } = {}) =>
  createContext({ ...workspace.io(env).io, cwd: join(workspace.folder, folder) }, 'sync-card')

describe('createContext', () => {
  it('overrides .env by the environment, and ignores empty variables in both', () => {
    const workspace = new Workspace({ '.env': 'PORT=\nSYNC_CARD_URL=""\nADMIN_TOKEN=of-the-file\nROLE=file\n' })
    const processEnv = { ADMIN_TOKEN: 'of-the-shell', VERBOSE: '1' }
    expect(contextOf(workspace, { env: { ...processEnv, ROLE: '' } })).toMatchObject({
      env: { ADMIN_TOKEN: 'of-the-shell', ROLE: 'file', VERBOSE: '1' },
      processEnv,
    })
  })

  it('reads sync-card.yaml and .env in the nearest folder of the repository that has sync-card.yaml', () => {
    const rows: [what: string, files: Record<string, unknown>, folder: string, expected: string][] = [
      [
        'the nearest folder with sync-card.yaml in a repository',
        { '.git/HEAD': '', 'sync-card.yaml': '' },
        'cards',
        '',
      ],
      ['the current folder at the root of a repository', { 'sync-card.yaml': '', 'a/.git/HEAD': '' }, 'a', 'a'],
      ['the current folder outside of a repository', { 'sync-card.yaml': '' }, 'cards', 'cards'],
      ['a folder between the current one and the root', { '.git': 'gitdir: x', 'a/sync-card.yaml': '' }, 'a/b', 'a'],
    ]
    for (const [what, files, folder, expected] of rows) {
      const workspace = new Workspace(files)
      mkdirSync(join(workspace.folder, folder), { recursive: true })
      expect(contextOf(workspace, { folder }).configFolder, what).toBe(join(workspace.folder, expected))
    }
  })
})

describe('readEnvFile', () => {
  it('reads files as shells and Windows write them', () => {
    const rows: (string | Buffer)[] = [
      '\ufeffURL=https://a.example.com\nTOKEN=x y\n',
      Buffer.from('\ufeffURL=https://a.example.com\r\nTOKEN=x y\r\n', 'utf16le'),
      'URL=https://a.example.com\nTOKEN=x y\nOTHER=\nLAST=""',
    ]
    const { folder } = new Workspace()
    for (const content of rows) {
      writeFileSync(join(folder, '.env'), content)
      expect(readEnvFile(folder, '.env'), String(content)).toEqual({ URL: 'https://a.example.com', TOKEN: 'x y' })
    }
  })

  it('ignores a folder of this name', () => {
    expect(readEnvFile(new Workspace({ '.env/pyvenv.cfg': '' }).folder, '.env')).toEqual({})
  })
})

it('a .env that cannot be read is a mistake for commands that need it, with the reason, and not for others', async () => {
  const rows: [make: (file: string) => void, text: string][] = [
    [file => symlinkSync('.env', file), '.env cannot be read: ELOOP: '],
    [file => execFileSync('mkfifo', [file]), '.env is a FIFO, which is not read: '],
  ]
  for (const [make, text] of rows) {
    const workspace = new Workspace({ 'cards/a.json': card('a') })
    make(join(workspace.folder, '.env'))
    const { code, stderr } = await workspace.run(['list'])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(`^sync-card: ${text}.*\n$`) })
    expect(await workspace.run(['lint'])).toMatchObject({ code: 0, stderr: '' })
  }
})
