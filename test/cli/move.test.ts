import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { problem } from './fake-host.ts'
import { useFakeHost, Workspace } from './workspace.ts'

const lines = `{"format":"calling-card-export","version":1}\n${'{"table":"agents","row":{"é":"漢\u2028"}}\n'.repeat(50)}`
const whole = `${lines}{"end":true,"lines":51,"sha256":"${createHash('sha256').update(lines).digest('hex')}"}\n`

const { host, env } = useFakeHost()
let workspace: Workspace
let text: string
let breaksOff: boolean
let imports: { path: string; encoding: unknown }[]
let refused: boolean
beforeEach(() => {
  workspace = new Workspace()
  text = whole
  breaksOff = false
  refused = false
  imports = []
  host.faults = [
    ({ path, headers }, response) => {
      if (headers.authorization !== `Bearer ${host.token}`) return Boolean(problem(response, 401, 'bad-token', 'No.'))
      if (refused) return Boolean(problem(response, 409, 'host-not-empty', 'Nothing was imported.'))
      if (path.startsWith('/import')) {
        imports.push({ path, encoding: headers['content-encoding'] })
        response.writeHead(201, { 'Content-Type': 'application/json' }).end('{"agents":1,"revisions":2,"tokens":0}')
        return true
      }
      response.writeHead(200, { 'Content-Type': 'application/x-ndjson' })
      if (breaksOff) response.write(text.slice(0, 500), () => response.destroy())
      else response.end(text)
      return true
    },
  ]
})

const run = (...args: string[]) => workspace.run(args, env)
const file = (name: string) => join(workspace.io().io.cwd, name)

describe('sync-card export', () => {
  it('writes the file to stdout, byte for byte', async () => {
    const { code, stdout, stderr } = await run('export')
    expect({ code, stdout }).toEqual({ code: 0, stdout: whole })
    expect(stderr).toContain('Exported 51 lines. Keep the file secret')
  })

  it('writes a new file that only its owner can read', async () => {
    expect((await run('export', 'host.ndjson')).code).toBe(0)
    expect(readFileSync(file('host.ndjson'), 'utf8')).toBe(whole)
    expect(statSync(file('host.ndjson')).mode & 0o777).toBe(0o600)
    expect(await run('export', 'host.ndjson')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('exists already'),
    })
  })

  it('leaves a file and a link alone whose names are those of parts, and writes through neither', async () => {
    writeFileSync(file('victim'), 'mine')
    symlinkSync('victim', file('host.ndjson.part'))
    writeFileSync(file('b.ndjson.part'), 'mine')
    for (const name of ['host.ndjson', 'b.ndjson']) {
      expect((await run('export', name)).code).toBe(0)
      expect([readFileSync(file(name), 'utf8'), statSync(file(name)).mode & 0o777]).toEqual([whole, 0o600])
    }
    expect([readFileSync(file('victim'), 'utf8'), readFileSync(file('b.ndjson.part'), 'utf8')]).toEqual([
      'mine',
      'mine',
    ])
    expect(lstatSync(file('host.ndjson.part')).isSymbolicLink()).toBe(true)
  })

  it('replaces a link to no file, and writes nothing where it leads', async () => {
    symlinkSync('victim', file('host.ndjson'))
    expect((await run('export', 'host.ndjson')).code).toBe(0)
    expect(readdirSync(workspace.folder)).toEqual(['host.ndjson'])
    expect(lstatSync(file('host.ndjson')).isFile()).toBe(true)
  })

  it('reports a file that cannot be written (exit 2)', async () => {
    writeFileSync(file('folder'), '')
    const { code, stderr } = await run('export', 'folder/host.ndjson')
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^sync-card: Cannot write .*host.ndjson: E/)])
  })

  it.each<[string, () => void, string]>([
    [
      'breaks off',
      () => {
        breaksOff = true
      },
      'its last line is missing',
    ],
    [
      'ends early',
      () => {
        text = lines
      },
      'its last line is missing',
    ],
    [
      'was changed on its way',
      () => {
        text = whole.replace('漢', '字')
      },
      'its content does not match its last line',
    ],
  ])('that %s leaves no file (exit 4)', async (_, change, message) => {
    change()
    const { code, stderr } = await run('export', 'host.ndjson')
    expect([code, stderr]).toEqual([4, expect.stringContaining(`the export broke off: ${message}`)])
    expect(readdirSync(workspace.folder)).toEqual([])
  })

  it('that is interrupted leaves no file (exit 130)', async () => {
    let hasBegun = () => undefined as unknown
    const begun = new Promise<void>(resolve => {
      hasBegun = resolve
    })
    host.faults = [
      (_, response) => {
        response.writeHead(200, { 'Content-Type': 'application/x-ndjson' }).write(text.slice(0, 500), () => hasBegun())
        return true
      },
    ]
    const command = workspace.start(['export', 'host.ndjson'], env)
    await begun
    await vi.waitFor(() => expect(readdirSync(workspace.folder)).toEqual([expect.stringMatching(/\.part$/)]))
    command.interrupt()
    expect((await command.ended).code).toBe(130)
    expect(readdirSync(workspace.folder)).toEqual([])
  })

  it('reports a rejected token (exit 4)', async () => {
    env.SYNC_CARD_TOKEN = 'another-token-than-the-host-has'
    expect((await run('export')).code).toBe(4)
  })
})

describe('sync-card import', () => {
  it('sends the file compressed, and reports what it brought', async () => {
    writeFileSync(file('host.ndjson'), whole)
    expect(await run('import', 'host.ndjson')).toMatchObject({
      code: 0,
      stdout: 'Imported 1 agent with 2 revisions, and 0 tokens.\n',
    })
    expect(imports).toEqual([{ path: '/import', encoding: 'gzip' }])
    expect(JSON.parse((await run('import', 'host.ndjson', '--json')).stdout)).toEqual({
      agents: 1,
      revisions: 2,
      tokens: 0,
    })
  })

  it('leaves the tokens out with --without-tokens', async () => {
    writeFileSync(file('host.ndjson'), whole)
    expect((await run('import', 'host.ndjson', '--without-tokens')).code).toBe(0)
    expect(imports).toEqual([{ path: '/import?tokens=false', encoding: 'gzip' }])
  })

  it.each(['.', 'no-such-file'])('reports that there is no file: %s (exit 2)', async name => {
    const stderr = `sync-card: There is no file ${name}.\n`
    expect(await run('import', name)).toEqual({ code: 2, stdout: '', stderr })
  })

  it.each([
    ['truncated', whole.slice(0, -1), 'its last line is missing'],
    ['truncated in the middle', whole.slice(0, 700), 'its last line is missing'],
    ['empty', '', 'its last line is missing'],
    ['edited', whole.replace('漢', '字'), 'its content does not match its last line'],
    ['shorter', whole.replace('{"table":"agents","row":{"é":"漢\u2028"}}\n', ''), 'its content does not match'],
  ])('sends no file that is %s (exit 3)', async (_, content, message) => {
    writeFileSync(file('host.ndjson'), content)
    expect(await run('import', 'host.ndjson')).toMatchObject({ code: 3, stderr: expect.stringContaining(message) })
    expect(imports).toEqual([])
  })

  it('reports why the host refuses it (exit 3), and a missing file (exit 2)', async () => {
    writeFileSync(file('host.ndjson'), whole)
    refused = true
    expect(await run('import', 'host.ndjson')).toMatchObject({ code: 3, stderr: 'sync-card: Nothing was imported.\n' })
    expect(await run('import', 'other.ndjson')).toMatchObject({ code: 2, stderr: expect.stringContaining('no file') })
  })
})
