import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { findCardFiles, loadManifests } from '../../cli/manifests/load.ts'
import { card, Workspace } from './workspace.ts'

const makeFifo = (workspace: Workspace, name: string): void => {
  execFileSync('mkfifo', [join(workspace.folder, name)])
}

const load = ({ folder }: Workspace) => {
  const { drafts, invalid, skipped } = loadManifests(
    findCardFiles(['cards'], folder),
    'https://cards.example.com',
    folder,
  )
  return { ids: drafts.map(({ id }) => id), invalid, skipped }
}

describe('a path that is no file', () => {
  it('is skipped without being opened: FIFOs, sockets and links to devices', async () => {
    const workspace = new Workspace({ 'cards/a.json': card('a') })
    makeFifo(workspace, 'cards/b.json')
    symlinkSync('/dev/zero', join(workspace.folder, 'cards/c.yaml'))
    const server = createServer()
    onTestFinished(() => void server.close())
    await new Promise<void>(listening => server.listen(join(workspace.folder, 'cards/d.md'), listening))
    expect(load(workspace)).toEqual({
      ids: ['a'],
      invalid: [],
      skipped: [
        { file: 'cards/b.json', reason: 'is a FIFO' },
        { file: 'cards/c.yaml', reason: 'is a device' },
        { file: 'cards/d.md', reason: 'is a socket' },
      ],
    })
  })

  it('invalidates the files that would inherit from it', () => {
    const workspace = new Workspace({ 'cards/a.json': card('a') })
    makeFifo(workspace, 'cards/defaults.yaml')
    const message = 'is a FIFO, and cannot be read'
    const problems = [{ file: 'cards/defaults.yaml', line: 1, column: 1, pointer: '', message }]
    expect(load(workspace)).toEqual({ ids: [], invalid: [{ file: 'cards/a.json', problems }], skipped: [] })
  })

  it.each([[['lint']], [['convert', 'cards', '--to', '1.0']]])('is reported on stderr by %j', async args => {
    const workspace = new Workspace({ 'cards/a.json': card('a') })
    makeFifo(workspace, 'cards/b.json')
    const { code, stderr } = await workspace.run(args)
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'cards/b.json is a FIFO: skipped.\n' })
  })
})

it('reads a link to a file', () => {
  const workspace = new Workspace({ 'agent.json': card('a'), 'cards/b.json': card('b') })
  symlinkSync('../agent.json', join(workspace.folder, 'cards/a.json'))
  expect(load(workspace)).toEqual({ ids: ['a', 'b'], invalid: [], skipped: [] })
})
