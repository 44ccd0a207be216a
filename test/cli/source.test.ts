import { describe, expect, it } from 'vitest'
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
    ['a.yaml', 'a: *nowhere\n', 1, 1],
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

  it('refuses aliases that multiply', () => {
    const bomb = ['a: &a [x, x, x, x, x, x, x, x, x, x]']
    for (const [name, below] of ['ba', 'cb', 'dc', 'ed'].map(pair => [...pair] as [string, string]))
      bomb.push(`${name}: &${name} [${Array(10).fill(`*${below}`).join(', ')}]`)
    expect(place('a.yaml', bomb.join('\n'), '')).toMatchObject([{ message: expect.stringContaining('alias') }])
  })

  it('refuses merge keys that multiply', () => {
    const bomb = ['a: &a { x: 1 }']
    for (const [name, below] of ['ba', 'cb', 'dc', 'ed'].map(pair => [...pair] as [string, string]))
      bomb.push(`${name}: &${name} { <<: [${Array(10).fill(`*${below}`).join(', ')}] }`)
    expect(place('a.yaml', bomb.join('\n'), '')).toMatchObject([{ message: expect.stringContaining('alias') }])
  })
})
