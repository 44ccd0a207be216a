import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadManifests } from '../../cli/manifests/load.ts'
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
})
