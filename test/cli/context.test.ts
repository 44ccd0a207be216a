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

  it('works without a .env', () => {
    expect(contextOf(new Workspace(), { env: { PORT: '9000' } }).env).toEqual({ PORT: '9000' })
  })

  it('reads sync-card.yaml and .env in the nearest folder of the repository that has sync-card.yaml', () => {
    const rows: [what: string, files: Record<string, unknown>, folder: string, expected: string][] = [
      ['the current folder', { '.env': 'PORT=1', 'cards/.env': 'PORT=2' }, 'cards', 'cards'],
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
      'URL=https://a.example.com\nTOKEN=x y\n',
      '\ufeffURL=https://a.example.com\nTOKEN=x y\n',
      Buffer.from('\ufeffURL=https://a.example.com\r\nTOKEN=x y\r\n', 'utf16le'),
      'URL=https://a.example.com\r\nTOKEN=x y\r\n',
      'URL="https://a.example.com"\nTOKEN="x y"',
      "URL='https://a.example.com'\nTOKEN='x y'",
      'export URL=https://a.example.com\nexport TOKEN="x y"',
      '# hosts\n\n  URL = https://a.example.com  # mine\nTOKEN = "x y"  \n',
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

/** Creates a workspace whose `.env` cannot be read, not even by root. */
const withUnreadable = (kind: 'link' | 'FIFO'): Workspace => {
  const workspace = new Workspace({ 'cards/a.json': card('a') })
  const file = join(workspace.folder, '.env')
  if (kind === 'link') symlinkSync('.env', file)
  else execFileSync('mkfifo', [file])
  return workspace
}

describe('a .env that cannot be read', () => {
  it.each([
    ['link', '.env cannot be read: ELOOP: '],
    ['FIFO', '.env is a FIFO, which is not read: '],
  ] as const)(
    'is a mistake for commands that need it, with the reason, and not for others: a %s',
    async (kind, text) => {
      const workspace = withUnreadable(kind)
      for (const args of [[], ['diff'], ['list'], ['token', 'list'], ['rollback', 'a', '1'], ['keys', 'create']]) {
        const { code, stderr } = await workspace.run(args)
        expect({ args, code, stderr }).toEqual({ args, code: 2, stderr: expect.stringContaining(`sync-card: ${text}`) })
        expect(stderr).not.toContain('    at ')
      }
      for (const args of [['lint'], ['convert', 'cards', '--to', '1.0'], ['completion', 'bash'], ['--version']])
        expect(await workspace.run(args)).toMatchObject({ code: 0, stderr: '' })
    },
  )
})
