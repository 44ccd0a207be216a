import { chmodSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findCardFiles, isFolder, pathsToWatch } from '../../cli/manifests/find-files.ts'
import { loadManifests } from '../../cli/manifests/load.ts'
import { card, Workspace } from './workspace.ts'

const tree = () =>
  new Workspace(
    Object.fromEntries(
      [
        ...['b.yaml', 'defaults.yaml', 'README.md', 'notes.txt', '.draft.yaml', '.git/a.yaml', '[c].yaml'],
        ...['node_modules/pkg/a.json', 'a/team1-x.yaml', 'a/deep/team1-y.json', 'a/deep/team2-z.md', 'a/defaults.json'],
        '../other/team1-w.yaml',
      ].map(name => [`cards/${name}`, '']),
    ),
  )

const inCards = [
  ...['cards/[c].yaml', 'cards/b.yaml', 'cards/a/team1-x.yaml', 'cards/a/deep/team1-y.json'],
  'cards/a/deep/team2-z.md',
]

describe('findCardFiles', () => {
  it('finds the files of folders, names and globs', () => {
    const rows: [named: string, files: string[]][] = [
      ['', inCards],
      ['cards', inCards],
      ['cards/b.yaml cards ./cards/b.yaml', ['cards/b.yaml', 'cards/[c].yaml', ...inCards.slice(2)]],
      ['./cards/*/*.yaml', ['cards/a/team1-x.yaml']],
      ['**/team1-*', ['cards/a/team1-x.yaml', 'cards/a/deep/team1-y.json', 'other/team1-w.yaml']],
      ['cards/**/*.{json,md}', ['cards/a/deep/team1-y.json', 'cards/a/deep/team2-z.md']],
      ['cards/*', inCards],
      ['*/a', inCards.slice(2)],
      ['cards/[c].yaml', ['cards/[c].yaml']],
      ['cards/.git/*.yaml', ['cards/.git/a.yaml']],
      ['cards/notes.txt', ['cards/notes.txt']],
    ]
    const { folder } = tree()
    for (const [named, files] of rows)
      expect(findCardFiles(named.split(' ').filter(Boolean), folder), named).toEqual(files)
  })

  it('rejects what names no file', () => {
    const { folder } = tree()
    for (const glob of ['nowhere/*.yaml', 'cards/*.txt'])
      expect(() => findCardFiles([glob], folder)).toThrow(`No card matches ${glob}.`)
    expect(() => findCardFiles(['nowhere.yaml'], folder)).toThrow('nowhere.yaml does not exist.')
  })

  it('ends at links that lead back to a folder above, and reports links to folders', () => {
    const workspace = new Workspace({ 'cards/a.json': card('a'), 'shared/b.json': card('b') })
    symlinkSync('..', join(workspace.folder, 'cards/loop'))
    symlinkSync('../shared', join(workspace.folder, 'cards/shared'))
    symlinkSync('./self', join(workspace.folder, 'cards/self'))
    const reason = 'it is a link to a folder; name that folder to read it'
    const { drafts, skipped } = loadManifests(['cards'], 'https://cards.example.com', workspace.folder)
    expect(drafts.map(({ id }) => id)).toEqual(['a'])
    expect(skipped).toEqual(['cards/loop', 'cards/shared'].map(file => ({ file, reason })))
    const named = loadManifests(['cards/shared'], 'https://cards.example.com', workspace.folder)
    expect(named.drafts.map(({ file }) => file)).toEqual(['cards/shared/b.json'])
    expect(isFolder('cards/self', workspace.folder)).toBe(false)
  })

  // Root may read every folder.
  it.skipIf(process.getuid?.() === 0)('rejects a subfolder that cannot be read', () => {
    const workspace = new Workspace({ 'cards/a.json': card('a') })
    mkdirSync(join(workspace.folder, 'cards/closed'), { mode: 0 })
    try {
      expect(() => findCardFiles([], workspace.folder)).toThrow(/^The folder cards\/closed cannot be read: EACCES/)
    } finally {
      chmodSync(join(workspace.folder, 'cards/closed'), 0o700)
    }
  })
})

describe('the defaults of folders', () => {
  const files = {
    'defaults.yaml':
      'visibility: internal\ncard: { provider: { organization: ACME }, iconUrl: https://acme.example.com/i }',
    'cards/team1/defaults.yaml': '$schema: s\ncard: { provider: { url: https://team1.example.com }, iconUrl: null }',
    'cards/team1/deep/a.json': card('a'),
    'cards/b.json': card('b'),
  }
  /** Returns the fields of each agent that are inherited. */
  const load = (named: string[], folder: string, cwd = folder) =>
    Object.fromEntries(
      loadManifests(named, 'https://cards.example.com', cwd).drafts.map(({ id, manifest }) => {
        const { provider, iconUrl } = manifest.card as { provider?: object; iconUrl?: string | null }
        return [id, [manifest.visibility, provider, iconUrl]]
      }),
    )
  const ofB = ['internal', { organization: 'ACME' }, 'https://acme.example.com/i']

  it('are inherited from all folders up to the current one, whatever is named', () => {
    const { folder } = new Workspace(files)
    const inherited = { a: ['internal', { organization: 'ACME', url: 'https://team1.example.com' }, undefined], b: ofB }
    for (const named of [['cards'], ['cards/team1/deep/a.json', 'cards/b.json'], ['**/*.json']]) {
      expect(load(named, folder)).toEqual(inherited)
      const absolute = named.map(name => join(folder, name))
      expect(load(absolute, folder)).toEqual(inherited)
    }
  })

  it('are inherited outside of the current folder from the folder that was named', () => {
    const { folder } = new Workspace({ ...files, 'here/x.txt': '' })
    const here = join(folder, 'here')
    const a = [undefined, { url: 'https://team1.example.com' }, null]
    expect(load(['../cards/team1/deep'], folder, here)).toEqual({ a: [undefined, undefined, undefined] })
    expect(load(['../cards/team1'], folder, here)).toEqual({ a })
    expect(load(['../cards'], folder, here)).toEqual({ a, b: [undefined, undefined, undefined] })
    expect(load([folder], folder, here)).toMatchObject({ b: ofB })
  })

  it('are reported with the file where a mistake is', () => {
    const problemsOf = (more: Record<string, string>) => {
      const { folder } = new Workspace({ ...files, ...more })
      const { invalid } = loadManifests(['cards'], 'https://cards.example.com', folder)
      return invalid.flatMap(({ problems }) => problems.map(({ file, pointer }) => `${file} ${pointer}`))
    }
    const hidden = { 'defaults.yaml': 'visibility: hidden' }
    const unknown = 'cards/defaults.yaml /no'
    expect(problemsOf({ ...hidden, 'cards/defaults.yaml': 'no: 1' })).toEqual([unknown, unknown])
    expect(problemsOf(hidden)).toEqual(['defaults.yaml /visibility', 'defaults.yaml /visibility'])
  })
})

describe('pathsToWatch', () => {
  it('follows what is named and the defaults above it, but no hidden folders, modules or links to folders', () => {
    const { folder } = tree()
    symlinkSync('a', join(folder, 'cards/link'))
    const { paths, isIgnored } = pathsToWatch(['cards/a', 'other/*.yaml', 'cards/b.yaml'], folder)
    expect(paths).toEqual(['cards/a', 'other', '.', 'cards'].map(name => join(folder, name)))
    const watched = ['cards/a/deep/new.yaml', 'cards/b.yaml', 'cards/defaults.json', 'defaults.yaml', 'other/new']
    const ignored = ['cards/c.yaml', 'cards/a/.git/x.yaml', 'other/node_modules', 'elsewhere', 'package.json']
    expect([...watched, ...ignored].filter(path => !isIgnored(join(folder, path)))).toEqual(watched)
    expect(pathsToWatch([], folder).isIgnored(join(folder, 'cards/link'))).toBe(true)
    expect(pathsToWatch(['cards/link'], folder).isIgnored(join(folder, 'cards/link'))).toBe(false)
    expect(pathsToWatch(['cards/.git'], folder).isIgnored(join(folder, 'cards/.git/a.yaml'))).toBe(false)
  })
})
