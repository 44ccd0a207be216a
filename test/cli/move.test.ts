import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { json, problem } from './fake-host.ts'
import { containing, matching, useFakeHost, Workspace } from './workspace.ts'

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
        return Boolean(json(response, 201, { agents: 1, revisions: 2, tokens: 0 }))
      }
      response.writeHead(200, { 'Content-Type': 'application/x-ndjson' })
      if (!breaksOff) return Boolean(response.end(text))
      response.write(text.slice(0, 500), () => response.destroy())
      return true
    },
  ]
})

const run = (...args: string[]) => workspace.run(args, env)
const file = (name: string) => join(workspace.folder, name)

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
    expect(await run('export', 'host.ndjson')).toMatchObject({ code: 2, stderr: containing('exists already') })
  })

  it('leaves a file and a link alone whose names are those of parts, and writes through neither', async () => {
    writeFileSync(file('victim'), 'mine')
    symlinkSync('victim', file('host.ndjson.part'))
    writeFileSync(file('b.ndjson.part'), 'mine')
    for (const name of ['host.ndjson', 'b.ndjson']) {
      expect((await run('export', name)).code).toBe(0)
      expect([readFileSync(file(name), 'utf8'), statSync(file(name)).mode & 0o777]).toEqual([whole, 0o600])
    }
    for (const name of ['victim', 'b.ndjson.part']) expect(readFileSync(file(name), 'utf8')).toBe('mine')
    expect(lstatSync(file('host.ndjson.part')).isSymbolicLink()).toBe(true)
  })

  it('reports a file that cannot be written (exit 2)', async () => {
    writeFileSync(file('folder'), '')
    const { code, stderr } = await run('export', 'folder/host.ndjson')
    expect([code, stderr]).toEqual([2, matching(/^sync-card: Cannot write .*host.ndjson: E/)])
  })

  it('that breaks off, ends early or was changed on its way leaves no file (exit 4)', async () => {
    const rows: [text: string, breaksOff: boolean, message: string][] = [
      [whole, true, 'its last line is missing'],
      [lines, false, 'its last line is missing'],
      [whole.replace('漢', '字'), false, 'its content does not match its last line'],
    ]
    for (const [sent, isCut, message] of rows) {
      text = sent
      breaksOff = isCut
      const stderr = containing(`the export broke off: ${message}`)
      expect(await run('export', 'host.ndjson')).toMatchObject({ code: 4, stderr })
      expect(readdirSync(workspace.folder)).toEqual([])
    }
  })

  it('that is interrupted leaves no file (exit 130)', async () => {
    const begun = new Promise<void>(hasBegun => {
      host.faults = [
        (_, response) => {
          response
            .writeHead(200, { 'Content-Type': 'application/x-ndjson' })
            .write(text.slice(0, 500), () => hasBegun())
          return true
        },
      ]
    })
    const command = workspace.start(['export', 'host.ndjson'], env)
    await begun
    await vi.waitFor(() => expect(readdirSync(workspace.folder)).toEqual([matching(/\.part$/)]))
    command.interrupt()
    expect((await command.ended).code).toBe(130)
    expect(readdirSync(workspace.folder)).toEqual([])
  })
})

describe('sync-card import', () => {
  it('sends the file compressed, and reports what it brought', async () => {
    writeFileSync(file('host.ndjson'), whole)
    const stdout = 'Imported 1 agent with 2 revisions, and 0 tokens.\n'
    expect(await run('import', 'host.ndjson')).toMatchObject({ code: 0, stdout })
    expect(imports).toEqual([{ path: '/import', encoding: 'gzip' }])
    const json = await run('import', 'host.ndjson', '--json')
    expect(JSON.parse(json.stdout)).toEqual({ agents: 1, revisions: 2, tokens: 0 })
  })

  it('leaves the tokens out with --without-tokens', async () => {
    writeFileSync(file('host.ndjson'), whole)
    expect((await run('import', 'host.ndjson', '--without-tokens')).code).toBe(0)
    expect(imports).toEqual([{ path: '/import?tokens=false', encoding: 'gzip' }])
  })

  it('reports that there is no file (exit 2)', async () => {
    for (const name of ['.', 'no-such-file']) {
      const stderr = `sync-card: There is no file ${name}.\n`
      expect(await run('import', name)).toEqual({ code: 2, stdout: '', stderr })
    }
  })

  it('sends no file that is not whole (exit 3)', async () => {
    const missing = 'its last line is missing'
    const rows: [content: string, message: string][] = [
      [whole.slice(0, -1), missing],
      [whole.replace('{"table":"agents","row":{"é":"漢\u2028"}}\n', ''), 'its content does not match'],
    ]
    for (const [content, message] of rows) {
      writeFileSync(file('host.ndjson'), content)
      expect(await run('import', 'host.ndjson')).toMatchObject({ code: 3, stderr: containing(message) })
    }
    expect(imports).toEqual([])
  })

  it('reports why the host refuses it (exit 3)', async () => {
    writeFileSync(file('host.ndjson'), whole)
    refused = true
    expect(await run('import', 'host.ndjson')).toMatchObject({ code: 3, stderr: 'sync-card: Nothing was imported.\n' })
  })
})
