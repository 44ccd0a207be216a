import { execFileSync } from 'node:child_process'
import { symlinkSync, truncateSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadManifests } from '../../cli/manifests/load.ts'
import { starterCard } from '../../cli/manifests/starter.ts'
import { card, Workspace } from './workspace.ts'

const makeFifo = (workspace: Workspace, name: string): void => {
  execFileSync('mkfifo', [join(workspace.folder, name)])
}

const load = ({ folder }: Workspace) => {
  const { drafts, invalid, skipped } = loadManifests(['cards'], 'https://cards.example.com', folder)
  return { ids: drafts.map(({ id }) => id), invalid, skipped }
}

describe('a path that is no file', () => {
  it('is skipped without being opened: FIFOs, sockets and links to devices, even if they are named', async () => {
    const workspace = new Workspace({ 'cards/a.json': card('a') })
    makeFifo(workspace, 'cards/b.json')
    symlinkSync('/dev/zero', join(workspace.folder, 'cards/c.yaml'))
    const server = createServer()
    onTestFinished(() => void server.close())
    await new Promise<void>(listening => server.listen(join(workspace.folder, 'cards/d.md'), listening))
    const skipped = [
      { file: 'cards/b.json', reason: 'it is a FIFO' },
      { file: 'cards/c.yaml', reason: 'it is a link to a file outside of the repository; name it to read it' },
      { file: 'cards/d.md', reason: 'it is a socket' },
    ]
    expect(load(workspace)).toEqual({ ids: ['a'], invalid: [], skipped })
    const named = loadManifests(['cards/c.yaml'], 'https://cards.example.com', workspace.folder)
    expect(named.skipped).toEqual([{ file: 'cards/c.yaml', reason: 'it is a device' }])
  })

  it('invalidates the files that would inherit from it', () => {
    const workspace = new Workspace({ 'cards/a.json': card('a') })
    makeFifo(workspace, 'cards/defaults.yaml')
    const message = 'cannot be read: it is a FIFO'
    const problems = [{ file: 'cards/defaults.yaml', line: 1, column: 1, pointer: '', message }]
    expect(load(workspace)).toEqual({ ids: [], invalid: [{ file: 'cards/a.json', problems }], skipped: [] })
  })

  it('is reported on stderr', async () => {
    const workspace = new Workspace({ 'cards/a.json': card('a') })
    makeFifo(workspace, 'cards/b.json')
    for (const args of [['lint'], ['convert', 'cards', '--to', '1.0']])
      expect(await workspace.run(args)).toMatchObject({ code: 0, stderr: 'cards/b.json is skipped: it is a FIFO.\n' })
  })
})

it('skips the starter card until somebody edits it, however it is named', () => {
  const { folder } = new Workspace({ 'cards/my-agent.yaml': starterCard({}) })
  const edited = new Workspace({ 'cards/my-agent.yaml': starterCard({ name: 'Weather' }) })
  const reason = 'it is the unedited starter card; describe your agent in it, or delete it'
  for (const named of ['cards', 'cards/my-agent.yaml']) {
    const { drafts, invalid, skipped } = loadManifests([named], 'https://cards.example.com', folder)
    expect([drafts, invalid, skipped]).toEqual([[], [], [{ file: 'cards/my-agent.yaml', reason }]])
    const loaded = loadManifests([named], 'https://cards.example.com', edited.folder)
    expect(loaded).toMatchObject({ drafts: [{ id: 'my-agent' }], skipped: [] })
  }
})

it('rejects a file that is too large to be read at once, and reads the others', () => {
  const workspace = new Workspace({ 'cards/a.json': card('a'), 'cards/huge.yaml': '' })
  truncateSync(join(workspace.folder, 'cards/huge.yaml'), 2 ** 32)
  const { ids, invalid } = load(workspace)
  expect(ids).toEqual(['a'])
  expect(invalid).toMatchObject([{ file: 'cards/huge.yaml', problems: [{ message: 'is larger than 16 MiB' }] }])
})
