import { describe, expect, it } from 'vitest'
import { readFile } from '../../cli/manifests/load.ts'
import { Workspace } from './workspace.ts'

const read = (bytes: Buffer) => readFile('cards/a.yaml', new Workspace({ 'cards/a.yaml': bytes }).folder)

describe('a file that is not UTF-8', () => {
  const problem = (line: number, column: number, message: string) => ({
    problems: [{ file: 'cards/a.yaml', line, column, pointer: '', message }],
  })

  it('is refused with the place of the byte', () => {
    expect(read(Buffer.from('card:\n  name: Café\n', 'latin1'))).toEqual(
      problem(2, 12, 'is not UTF-8: the byte 0xE9 at offset 17; save it as UTF-8'),
    )
  })

  it('is refused by its byte order mark', () => {
    const rows: [name: string, bytes: number[]][] = [
      ['UTF-16', [0xff, 0xfe, 0x61, 0]],
      ['UTF-16', [0xfe, 0xff, 0, 0x61]],
      ['UTF-32', [0xff, 0xfe, 0, 0, 0x61, 0, 0, 0]],
      ['UTF-32', [0, 0, 0xfe, 0xff, 0, 0, 0, 0x61]],
    ]
    for (const [name, bytes] of rows)
      expect(read(Buffer.from(bytes))).toEqual(problem(1, 1, `is ${name}, not UTF-8: save it as UTF-8`))
  })
})

it('reads UTF-8 with a byte order mark or U+FFFD', () => {
  expect(read(Buffer.from('\ufeffname: Café'))).toMatchObject({ value: { name: 'Café' } })
  expect(read(Buffer.from('name: \ufffd'))).toMatchObject({ value: { name: '\ufffd' } })
})
