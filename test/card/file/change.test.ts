import { describe, expect, it } from 'vitest'
import { applyChange } from '../../../src/card/file/index.ts'

const yaml = `# A card
name: Weather # the name
capabilities:
  streaming: true # no

# Skills
skills:
  - id: getWeather
    description: |
      Forecasts.

    tags: [rain, sun]
    extra: 'x'
  - "id": "b"
empty:
`

const json = `{
  "name": "Weather", "url": "u",
  "skils": [],
  "capabilities": { "streaming": true },
  "provider": {},
  "last": { "a": 1.0, "b": [1,2] }
}`

describe('applyChange', () => {
  it('changes what it is asked to, and nothing else of a text', () => {
    const at = (text: string, before: string, after: string) => [text, text.replace(before, () => after)] as const
    const rows: [change: Parameters<typeof applyChange>[1], ...texts: readonly [before: string, after: string]][] = [
      [{ op: 'replace', path: '/capabilities/streaming', value: false }, ...at(yaml, 'true # no', 'false # no')],
      [{ op: 'replace', path: '/skills/0/id', value: 'get-weather' }, ...at(yaml, 'getWeather', 'get-weather')],
      [{ op: 'replace', path: '/skills/0/id', value: 'null' }, ...at(yaml, 'getWeather', '"null"')],
      [{ op: 'replace', path: '/skills/1/id', value: 'c' }, ...at(yaml, '"b"', '"c"')],
      [{ op: 'replace', path: '/skills/0/tags/1', value: 'a b' }, ...at(yaml, 'sun', '"a b"')],
      [{ op: 'replace', path: '/skills/0/description', value: 'F: x' }, ...at(yaml, '|\n      Forecasts.', '"F: x"')],
      [{ op: 'replace', path: '/empty', value: { a: 1 } }, ...at(yaml, 'empty:', 'empty: { "a": 1 }')],
      [{ op: 'replace', path: '/capabilities', value: {} }, ...at(yaml, 'streaming: true # no', '{} # no')],
      [{ op: 'move', from: '/skills/1/id', path: '/skills/1/name' }, ...at(yaml, '"id": "b"', '"name": "b"')],
      [{ op: 'move', from: '/name', path: '/title' }, ...at(yaml, 'name: W', 'title: W')],
      [
        { op: 'move', from: '/skills/0/extra', path: '/capabilities/extra' },
        yaml,
        yaml.replace("    extra: 'x'\n", '').replace('# no\n', '# no\n  extra: x\n'),
      ],
      [{ op: 'remove', path: '/skills/0/tags' }, ...at(yaml, '    tags: [rain, sun]\n', '')],
      [{ op: 'remove', path: '/skills/0/description' }, ...at(yaml, '    description: |\n      Forecasts.\n', '')],
      [{ op: 'add', path: '/skills/0/name', value: 'Get' }, ...at(yaml, "extra: 'x'\n", "extra: 'x'\n    name: Get\n")],
      [{ op: 'add', path: '/a/b', value: ['c: d'] }, yaml, `${yaml}a:\n  b:\n    - "c: d"\n`],
      [{ op: 'add', path: '/b', value: 1 }, 'a: 1', 'a: 1\nb: 1\n'],
      [{ op: 'move', from: '/skils', path: '/skills' }, ...at(json, 'skils', 'skills')],
      [{ op: 'replace', path: '/capabilities/streaming', value: false }, ...at(json, 'true', 'false')],
      [{ op: 'replace', path: '/last/b/1', value: 'x' }, ...at(json, '1,2', '1,"x"')],
      [{ op: 'remove', path: '/url' }, ...at(json, '"url": "u",\n  ', '')],
      [{ op: 'remove', path: '/last' }, ...at(json, ',\n  "last": { "a": 1.0, "b": [1,2] }', '')],
      [{ op: 'add', path: '/provider/url', value: 'u' }, ...at(json, '{}', '{ "url": "u" }')],
      [{ op: 'add', path: '/capabilities/x', value: { y: [1] } }, ...at(json, 'true }', 'true, "x": { "y": [ 1 ] } }')],
      [{ op: 'add', path: '/n', value: { y: {} } }, ...at(json, '[1,2] }', '[1,2] },\n  "n": {\n    "y": {}\n  }')],
      [{ op: 'replace', path: '/name', value: 'b' }, '---\nname: a\n---\nname: a\n', '---\nname: b\n---\nname: a\n'],
      [{ op: 'add', path: '/x', value: 'b' }, '---\nname: a\n---\n# a\n', '---\nname: a\nx: b\n---\n# a\n'],
    ]
    for (const [change, before, after] of rows) expect(applyChange(before, change), JSON.stringify(change)).toBe(after)
  })

  it('changes nothing that an alias repeats, that does not exist, or that would be replaced', () => {
    const text = 'a: &a { b: true }\nc: *a\nd: { <<: *a, e: 1 }\n'
    const rows: Parameters<typeof applyChange>[1][] = [
      { op: 'replace', path: '/c/b', value: false },
      { op: 'replace', path: '/a', value: false },
      { op: 'remove', path: '/d/b' },
      { op: 'remove', path: '/f' },
      { op: 'replace', path: '/f', value: 1 },
      { op: 'move', from: '/a', path: '/d' },
      { op: 'move', from: '/f', path: '/g' },
    ]
    for (const change of rows) expect(applyChange(text, change), JSON.stringify(change)).toBeUndefined()
  })
})
