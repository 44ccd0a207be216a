import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadManifests } from '../../cli/manifests/load.ts'
import { readFile } from '../../cli/manifests/read-file.ts'
import { card, Workspace } from './workspace.ts'

const workspaceWith = (file: string, bytes: Buffer): Workspace => {
  const workspace = new Workspace({ 'cards/good.json': card('good') })
  writeFileSync(join(workspace.folder, file), bytes)
  return workspace
}

const read = (bytes: Buffer) => readFile('cards/a.yaml', workspaceWith('cards/a.yaml', bytes).folder)

const text = (encoding: BufferEncoding): Buffer => Buffer.from('card:\n  name: Café ☕\n', encoding)

describe('a file that is not UTF-8', () => {
  it.each([
    ['Latin-1', Buffer.from('card:\n  name: Café\n', 'latin1'), 2, 12, '0xE9 at offset 17'],
    ['a text cut off', text('utf8').subarray(0, 21), 2, 14, '0xE2 at offset 20'],
    [
      'an invalid byte after U+FFFD',
      Buffer.from([0xef, 0xbf, 0xbd, 0x0a, 0xef, 0xbf, 0xbd, 0x80]),
      2,
      2,
      '0x80 at offset 7',
    ],
    ['a surrogate', Buffer.from([0x61, 0xed, 0xa0, 0x80]), 1, 2, '0xED at offset 1'],
    ['a byte after a byte order mark', Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0xff]), 1, 2, '0xFF at offset 4'],
  ])('is refused with the place of the byte: %s', (_, bytes, line, column, place) => {
    const message = `is not UTF-8: the byte ${place}; save it as UTF-8`
    expect(read(bytes)).toEqual({ problems: [{ file: 'cards/a.yaml', line, column, pointer: '', message }] })
  })

  it.each([
    ['UTF-16', Buffer.from([0xff, 0xfe, 0x61, 0])],
    ['UTF-16', Buffer.from([0xfe, 0xff, 0, 0x61])],
    ['UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0])],
    ['UTF-32', Buffer.from([0, 0, 0xfe, 0xff, 0, 0, 0, 0x61])],
  ])('is refused by its byte order mark: %s %j', (name, bytes) => {
    const message = `is ${name}, not UTF-8: save it as UTF-8`
    expect(read(bytes)).toEqual({ problems: [{ file: 'cards/a.yaml', line: 1, column: 1, pointer: '', message }] })
  })

  it.each(['cards/a.yaml', 'cards/a.json', 'cards/a.md', 'cards/agents.json', 'cards/defaults.yaml'])(
    'is refused as %s',
    file => {
      const { folder } = workspaceWith(file, Buffer.from('{"name":"Café"}', 'latin1'))
      const { invalid } = loadManifests(['cards'], 'https://cards.example.com', folder)
      expect(invalid).toMatchObject([{ problems: [{ file, line: 1, column: 13 }] }])
    },
  )
})

it.each([
  ['with a byte order mark', Buffer.from('\ufeffname: Café')],
  ['with U+FFFD', Buffer.from('name: \ufffd')],
])('reads UTF-8 %s', (_, bytes) => {
  expect(read(bytes)).toMatchObject({ value: { name: expect.any(String) } })
})
