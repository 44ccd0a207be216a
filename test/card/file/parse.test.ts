import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Document, Parser } from 'yaml'
import { readDrafts } from '../../../cli/manifests/draft.ts'
import { parseFile } from '../../../src/card/file/index.ts'

const locate = (file: string, text: string, pointer: string) => {
  const source = parseFile(file, text)
  return 'problems' in source ? source.problems : source.locate(pointer)
}

describe('locate', () => {
  it('finds the position of a pointer', () => {
    const rows: [
      file: string,
      text: string,
      pointer: string,
      position: { line: number; column: number } | undefined,
    ][] = [
      ['a.json', '{\n  "a/b": [1, { "c": 2 }]\n}', '/a~1b/1/c', { line: 2, column: 16 }],
      ['a.json', '\ufeff{ "a": 1 }', '/a', { line: 1, column: 3 }],
      ['a.yaml', 'card:\n  skills:\n    - id: one\n    - id: two\n', '/card/skills/1/id', { line: 4, column: 7 }],
      ['a.yaml', 'a: &x { b: 1 }\nc: *x\n', '/c/b', { line: 1, column: 9 }],
      ['a.yaml', 'a: &x { b: 1 }\nc:\n  <<: *x\n  d: 2\n', '/c/b', { line: 1, column: 9 }],
      ['a.yaml', 'a: &x { b: 1 }\nc:\n  <<: [{ e: 1 }, *x]\n', '/c/b', { line: 1, column: 9 }],
      ['a.yaml', 'a: { b: 1 }\nversion: 1.10\n', '/version', { line: 2, column: 1 }],
      ['a.md', '---\nname: A\ntags:\n  - one\n---\nname: not this\n', '/tags/0', { line: 4, column: 5 }],
      ['a.md', '--- \nname: A\n---\t\nurl: not this\n', '/name', { line: 2, column: 1 }],
      ['a.card', 'name: A', '/name', { line: 1, column: 1 }],
      ['a.json', '{}', '/missing', undefined],
    ]
    for (const [file, text, pointer, position] of rows) expect(locate(file, text, pointer), text).toEqual(position)
  })
})

const read = (file: string, text: string) => {
  const source = parseFile(file, text)
  return 'problems' in source ? source.problems : source.value
}

describe('YAML', () => {
  it('keeps the text of versions', () => {
    const rows: [text: string, value: object][] = [
      ['version: 1.10', { version: '1.10' }],
      ['version: null', { version: null }],
      ['temperature: 1.10', { temperature: 1.1 }],
      ['{ "protocolVersion": 1.0 }', { protocolVersion: '1.0' }],
      ['a: [{ protocol_version: 2.0 }]', { a: [{ protocol_version: '2.0' }] }],
      ['is: &v 1.10\nversion: *v', { is: 1.1, version: '1.10' }],
      ['version: &v 1.10\nwas: { version: *v }', { version: '1.10', was: { version: '1.10' } }],
    ]
    for (const [text, value] of rows)
      expect([text, read('a.yaml', text), read('a.md', `---\n${text}\n---\n`)]).toEqual([text, value, value])
  })

  it('keeps the numbers of JSON', () => {
    expect(read('a.json', '{ "version": 1.5 }')).toEqual({ version: 1.5 })
  })

  it('applies merge keys; own members win', () => {
    const text = 'a: &a { x: 1, y: 1 }\nb: &b { x: 2, z: 2 }\nc: { <<: *a, y: 3 }\nd: { <<: [*b, *a] }\n'
    expect(read('a.yaml', text)).toMatchObject({ c: { x: 1, y: 3 }, d: { x: 2, y: 1, z: 2 } })
  })
})

describe('an invalid file', () => {
  it('is reported with its position', () => {
    const rows: [file: string, text: string, line: number, column: number][] = [
      ['a.json', '{\n  "a": 1,\n}', 3, 1],
      ['a.yaml', 'a: *nowhere\n', 1, 4],
      ['a.md', '---\nname: A\n  bad: [\n---\n', 3, 3],
      ['a.md', '# no front matter', 1, 1],
    ]
    for (const [file, text, line, column] of rows)
      expect(locate(file, text, ''), text).toMatchObject({ 0: { file, line, column } })
  })

  it('is reported with what is missing in front matter', () => {
    const rows: [text: string, message: RegExp][] = [
      ['---\nname: A\n', /closing line of --- is missing/],
      ['----\nname: A\n', /has no front matter/],
    ]
    for (const [text, message] of rows)
      expect(locate('a.md', text, '')).toMatchObject([{ message: expect.stringMatching(message) }])
  })

  it('is reported once for each line that is no YAML, for 20 of them at most', () => {
    const found = locate('a.yaml', 'a: @b @c\n'.repeat(30), '')
    expect(Array.isArray(found) && found.map(({ line }) => line)).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 1),
    )
  })

  const deep = '['.repeat(20_000) + ']'.repeat(20_000)
  const cyclic = (anchor: string) => `Alias *${anchor} refers to its own anchor; cyclic documents are not supported.`

  it('is reported in terms of cards', () => {
    const rows: [text: string, line: number, column: number, message: string][] = [
      ['a: &a [*a]\n', 1, 8, cyclic('a')],
      ['a: &a\n  <<: *a\n', 2, 7, cyclic('a')],
      ['a: &a [1]\nb: &a [*a]\n', 2, 8, cyclic('a')],
      ['a: *b\nb: &b 1\n', 1, 4, 'Alias *b has no anchor &b before it.'],
      ['a:\n  <<: 5\n', 2, 3, 'A merge key (<<) takes a map or a list of maps.'],
      ['a: &a [1]\nb: { <<: [*a] }\n', 2, 6, 'A merge key (<<) takes a map or a list of maps.'],
      ['a: &a [1]\n*a : 1\n', 2, 1, 'A key must be text.'],
      ['oauth2: 1\noauth2: 1\n', 2, 1, 'The object already has the key "oauth2", in line 1.'],
      ['1: a\n"1": b\n', 2, 1, 'The object already has the key "1", in line 1.'],
      ['a: &a b\nb: 1\n*a : 2\n', 3, 1, 'The object already has the key "b", in line 2.'],
      ['a: 1\n---\nb: 2\n', 2, 1, 'The file has more than one document. Write each agent in a file of its own.'],
    ]
    for (const [text, line, column, message] of rows)
      expect(locate('a.yaml', text, '')).toEqual([{ file: 'a.yaml', pointer: '', line, column, message }])
  })

  it('is reported for a key that JSON.parse would overwrite', () => {
    const rows: [text: string, line: number, column: number, message: string][] = [
      ['{ "a": 1,\n  "b": { "a": 2 },\n  "a": 3 }', 3, 3, 'The object already has the key "a", in line 1.'],
      ['[{ "__proto__": 1,\n"\\u005f_proto__": 2 }]', 2, 1, 'The object already has the key "__proto__", in line 1.'],
      ['{ "a": { "<<": {} }, "a"\n: 2 }', 1, 22, 'The object already has the key "a", in line 1.'],
    ]
    for (const [text, line, column, message] of rows)
      expect(locate('a.json', text, '')).toEqual([{ file: 'a.json', pointer: '', line, column, message }])
  })

  it('is reported once when it nests too deep', () => {
    const rows: [file: string, text: string, line: number][] = [
      ['a.yaml', `name: A\nb: ${deep}\n`, 2],
      ['a.json', `{ "a":\n${deep} }`, 2],
    ]
    const message = 'The document nests deeper than 64 levels.'
    for (const [file, text, line] of rows)
      expect(locate(file, text, '')).toEqual([{ file, pointer: '', line, column: expect.any(Number), message }])
  })

  it('is reported at once if it is much longer than a card, however it is written', () => {
    const parse = vi.spyOn(Parser.prototype, 'next')
    onTestFinished(() => parse.mockRestore())
    const message = 'This text is too long for a card: shorten it.'
    for (const part of ['a:\n', 'a:\r\n', '[]', '}', '""', '&a ', '- '])
      expect(locate('a.yaml', part.repeat(200_000), ''), part).toMatchObject([{ message }])
    expect(locate('a.json', `[1${',1'.repeat(200_000)}]`, '')).toMatchObject([{ line: 1, message }])
    expect(parse).not.toHaveBeenCalled()
    const skills = Array(500).fill({ id: 'a', name: 'A', description: 'A, b', tags: ['b', 'c', 'd'], examples: ['e'] })
    for (const file of ['a.json', 'a.yaml'])
      expect(read(file, JSON.stringify({ skills }, null, 2)), file).toEqual({ skills })
  })

  it('is reported as empty', () => {
    const rows: [file: string, text: string, what?: string][] = [
      ['a.json', ''],
      ['a.json', '\ufeff'],
      ['a.yaml', '# only this\n'],
      ['a.json', 'null'],
      ['a.md', '---\n---\nYou are helpful.\n', 'front matter'],
    ]
    const context = { origin: 'https://cards.example.com', allowSecrets: [] }
    for (const [file, text, what = 'file'] of rows) {
      const source = parseFile(file, text)
      const [draft] = 'problems' in source ? [source] : readDrafts(source, { manifest: {}, sources: [] }, context)
      const message = `The ${what} is empty; expected a card or a manifest.`
      expect(draft).toMatchObject({ problems: [{ file, pointer: '', line: 1, column: 1, message }] })
    }
  })

  it('does not take an unexpected error for an invalid file', () => {
    const toJS = vi.spyOn(Document.prototype, 'toJS').mockImplementation(() => {
      throw new TypeError('a mistake of the program')
    })
    onTestFinished(() => toJS.mockRestore())
    expect(() => parseFile('a.yaml', 'name: A')).toThrow('a mistake of the program')
  })

  const bombs = {
    aliases: ['a: &a [x, x, x]', (name: string, all: string) => `${name}: &${name} [${all}]`],
    'merge keys': ['a: &a { x: 1 }', (name: string, all: string) => `${name}: &${name} { <<: [${all}] }`],
  } as const
  const bomb = (kind: keyof typeof bombs): string => {
    const [first, line] = bombs[kind]
    const names = ['ba', 'cb', 'dc', 'ed'].map(([name = '', below]) =>
      line(name, Array(10).fill(`*${below}`).join(', ')),
    )
    return [first, ...names].join('\n')
  }

  it('is reported where its aliases expand too much', () => {
    const rows: [file: string, text: string, line: number][] = [
      ['a.yaml', bomb('aliases'), 3],
      ['a.yaml', bomb('merge keys'), 3],
      ['a.yaml', `a: &a x\nb:\n${'  - *a\n'.repeat(101)}`, 103],
      ['a.md', `---\n${bomb('aliases')}\n---\n`, 4],
    ]
    const message = 'Too many alias expansions (limit 100). Inline some of them.'
    for (const [file, text, line] of rows)
      expect(locate(file, text, '')).toEqual([{ file, pointer: '', line, column: expect.any(Number), message }])
  })
})
