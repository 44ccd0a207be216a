import { describe, expect, it } from 'vitest'
import { readDrafts } from '../../cli/files/draft.ts'
import { parseSource } from '../../cli/files/source.ts'

const place = (file: string, text: string, pointer: string) => {
  const source = parseSource(file, text)
  return 'problems' in source ? source.problems : source.find(pointer)
}

describe('where a JSON Pointer stands in a file', () => {
  it.each([
    ['a.json', '{\n  "a/b": [1, { "c": 2 }]\n}', '/a~1b/1/c', { line: 2, column: 16 }],
    ['a.json', '\ufeff{ "a": 1 }', '/a', { line: 1, column: 3 }],
    ['a.yaml', 'card:\n  skills:\n    - id: one\n    - id: two\n', '/card/skills/1/id', { line: 4, column: 7 }],
    ['a.yaml', 'a: &x { b: 1 }\nc: *x\n', '/c/b', { line: 1, column: 9 }],
    ['a.yaml', 'a: &x { b: 1 }\nc:\n  <<: *x\n  d: 2\n', '/c/b', { line: 1, column: 9 }],
    ['a.yaml', 'a: &x { b: 1 }\nc:\n  <<: [{ e: 1 }, *x]\n', '/c/b', { line: 1, column: 9 }],
    ['a.yaml', 'a: { b: 1 }\nversion: 1.10\n', '/version', { line: 2, column: 1 }],
    ['a.md', '---\nname: A\ntags:\n  - one\n---\nname: not this\n', '/tags/0', { line: 4, column: 5 }],
    ['a.md', '--- \nname: A\n---\t\nurl: not this\n', '/name', { line: 2, column: 1 }],
    ['a.md', '---\r\nname: A\r\nurl: x\r\n---\r\n', '/url', { line: 3, column: 1 }],
    ['a.card', 'name: A', '/name', { line: 1, column: 1 }],
    ['a.json', '{}', '/missing', undefined],
    ['a.json', '[]', '/0', undefined],
  ])('%s %j %s', (file, text, pointer, position) => {
    expect(place(file, text, pointer)).toEqual(position)
  })
})

const read = (file: string, text: string) => {
  const source = parseSource(file, text)
  return 'problems' in source ? source.problems : source.value
}

describe('YAML', () => {
  it.each([
    ['version: 1.10', { version: '1.10' }],
    ['version: 2.0', { version: '2.0' }],
    ['version: 1e3', { version: '1e3' }],
    ['version: "1.10"', { version: '1.10' }],
    ['version: null', { version: null }],
    ['temperature: 1.10', { temperature: 1.1 }],
    ['{ "protocolVersion": 1.0 }', { protocolVersion: '1.0' }],
    ['a: [{ protocol_version: 2.0 }]', { a: [{ protocol_version: '2.0' }] }],
    ['is: &v 1.10\nversion: *v', { is: 1.1, version: '1.10' }],
    ['version: &v 1.10\nwas: { version: *v }', { version: '1.10', was: { version: '1.10' } }],
  ])('keeps versions as they were written: %j', (text, value) => {
    expect(read('a.yaml', text)).toEqual(value)
    expect(read('a.md', `---\n${text}\n---\n`)).toEqual(value)
  })

  it('leaves the numbers of JSON to the host', () => {
    expect(read('a.json', '{ "version": 1.5 }')).toEqual({ version: 1.5 })
  })

  it('applies merge keys, of which the own members win', () => {
    const text = 'a: &a { x: 1, y: 1 }\nb: &b { x: 2, z: 2 }\nc: { <<: *a, y: 3 }\nd: { <<: [*b, *a] }\n'
    expect(read('a.yaml', text)).toMatchObject({ c: { x: 1, y: 3 }, d: { x: 2, y: 1, z: 2 } })
  })
})

describe('a file that cannot be read', () => {
  it.each([
    ['a.json', '{\n  "a": 1,\n}', 3, 1],
    ['a.json', '{ "a": ', 1, 8],
    ['a.yaml', 'a: 1\na: 2\n', 2, 1],
    ['a.yaml', 'a: *nowhere\n', 1, 4],
    ['a.md', '---\nname: A\n  bad: [\n---\n', 2, 7],
    ['a.md', '# no front matter', 1, 1],
  ])('%s %j is told with its place', (file, text, line, column) => {
    expect(place(file, text, '')).toMatchObject({ 0: { file, line, column } })
  })

  it.each([
    ['---\nname: A\n', /closing line of --- is missing/],
    ['---\r\nname: A\r\n', /closing line of --- is missing/],
    ['----\nname: A\n', /has no front matter/],
  ])('%j is told what it lacks', (text, message) => {
    expect(place('a.md', text, '')).toMatchObject([{ message: expect.stringMatching(message) }])
  })

  const deep = '['.repeat(20_000) + ']'.repeat(20_000)
  const selfless = (anchor: string) => `*${anchor} stands in &${anchor} itself: no card can hold itself.`

  it.each([
    ['a: &a [*a]\n', 1, 8, selfless('a')],
    ['x: 1\na: &a { b: { c: *a } }\n', 2, 17, selfless('a')],
    ['a: &a\n  <<: *a\n', 2, 7, selfless('a')],
    ['a: &a [1]\nb: &a [*a]\n', 2, 8, selfless('a')],
    ['a: *b\nb: &b 1\n', 1, 4, 'No anchor &b stands before *b.'],
    ['a:\n  <<: 5\n', 2, 3, 'What goes after << is a map, or a list of maps.'],
    ['a: &a [1]\nb: { <<: [*a] }\n', 2, 6, 'What goes after << is a map, or a list of maps.'],
    ['? [a]\n: 1\n', 1, 3, 'A key must be text.'],
    ['a: &a [1]\n*a : 1\n', 2, 1, 'A key must be text.'],
    ['a: 1\n---\nb: 2\n', 2, 1, 'The file holds more than one document: each agent has a file of its own.'],
  ])('says in words of its own what is wrong with the YAML %j', (text, line, column, message) => {
    expect(place('a.yaml', text, '')).toEqual([{ file: 'a.yaml', pointer: '', line, column, message }])
  })

  it.each([
    ['a.yaml', `name: A\nb: ${deep}\n`, 2],
    ['a.yaml', `name: A\nb: ${'['.repeat(20_000)}\n`, 2],
    ['a.md', `---\nname: A\n\nb: ${deep}\n---\n`, 4],
    ['a.json', `{ "a":\n${deep} }`, 2],
  ])('says once of %s that it nests too deep', (file, text, line) => {
    const message = 'The document nests deeper than 64 levels.'
    expect(place(file, text, '')).toEqual([{ file, pointer: '', line, column: expect.any(Number), message }])
  })

  it.each(['', ' \n', '\ufeff'])('says of %j that there is nothing in the file', text => {
    const message = 'The file holds nothing; a card or a manifest was expected.'
    expect(place('a.json', text, '')).toEqual([{ file: 'a.json', pointer: '', line: 1, column: 1, message }])
  })

  it.each([
    ['a.yaml', '', 'file'],
    ['a.yaml', '# only this\n', 'file'],
    ['a.json', 'null', 'file'],
    ['a.md', '---\n---\nYou are helpful.\n', 'front matter'],
  ])('says of %s %j that there is nothing in the %s', (file, text, what) => {
    const source = parseSource(file, text)
    const message = `The ${what} holds nothing; a card or a manifest was expected.`
    expect('problems' in source ? source : readDrafts(source, undefined, 'https://cards.example.com')).toEqual([
      { file, problems: [{ file, pointer: '', line: 1, column: 1, message }] },
    ])
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

  it.each([
    ['a.yaml', bomb('aliases'), 3],
    ['a.yaml', bomb('merge keys'), 3],
    ['a.yaml', `a: &a x\nb:\n${'  - *a\n'.repeat(101)}`, 103],
    ['a.md', `---\n${bomb('aliases')}\n---\n`, 4],
    ['a.md', `---\n${bomb('merge keys')}\n---\n`, 4],
  ])('refuses in %s aliases that multiply, and says where: %j', (file, text, line) => {
    const message = 'Too much is repeated by alias up to here: write some of it out.'
    expect(place(file, text, '')).toEqual([{ file, pointer: '', line, column: expect.any(Number), message }])
  })
})
