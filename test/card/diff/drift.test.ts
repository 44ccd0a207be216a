import { describe, expect, it } from 'vitest'
import { createPatch, type Drift, diffCards, listChanges } from '../../../src/card/diff/drift.ts'
import { type JsonObject, omit } from '../../../src/json/json.ts'

const makeSkill = (id: string, fields: JsonObject = {}): JsonObject => ({ id, name: id, ...fields })

describe('diffCards', () => {
  it('returns what was changed, added and removed', () => {
    const [one, two] = [makeSkill('s'), makeSkill('t')]
    const rows: [before: JsonObject, after: JsonObject, ...changes: Drift][] = [
      // The same in another order.
      [
        { name: 'A', skills: [one] },
        { skills: [one], name: 'A' },
      ],
      [{ skills: [one, two] }, { skills: [two, one] }],
      [{ a: { b: 1 } }, { a: { b: [2] } }, { op: 'replace', pointer: '/a/b', before: 1, after: [2] }],
      [{}, { 'a/b': null }, { op: 'add', pointer: '/a~1b', after: null }],
      [{ a: {} }, {}, { op: 'remove', pointer: '/a', before: {} }],
      [{ a: {} }, { a: [] }, { op: 'replace', pointer: '/a', before: {}, after: [] }],
      [{ toString: 1 as never }, {}, { op: 'remove', pointer: '/toString', before: 1 }],
      // Skills by their ids, or by their indexes where these do not tell them apart.
      [
        { skills: [one, two] },
        { skills: [makeSkill('new'), makeSkill('t', { name: 'T' }), one] },
        { op: 'replace', pointer: '/skills/1/name', before: 't', after: 'T' },
        { op: 'add', pointer: '/skills/0', after: makeSkill('new') },
      ],
      [{ skills: [one, two] }, { skills: [two] }, { op: 'remove', pointer: '/skills/0', before: one }],
      [
        { skills: ['a', 'b'] },
        { skills: ['b'] },
        { op: 'replace', pointer: '/skills/0', before: 'a', after: 'b' },
        { op: 'remove', pointer: '/skills/1', before: 'b' },
      ],
      [{ skills: [one, one] }, { skills: [one] }, { op: 'remove', pointer: '/skills/1', before: one }],
    ]
    for (const [before, after, ...changes] of rows) expect(diffCards(before, after)).toStrictEqual(changes)
  })

  it('returns at most 100 changes with the number of further ones, and leaves out long values', () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`f${n}`, n]))
    const changes = diffCards({}, many)
    expect([changes.length, changes.at(-1)]).toStrictEqual([101, { op: 'more', pointer: '', count: 400 }])
    expect(diffCards({}, omit(many, ...Array.from({ length: 400 }, (_, n) => `f${n}`)))).toHaveLength(100)
    const long = 'x'.repeat(1000)
    expect(diffCards({ a: long, b: 1 }, { a: 1, b: long })).toStrictEqual([
      { op: 'replace', pointer: '/a', after: 1, omitted: ['before'] },
      { op: 'replace', pointer: '/b', before: 1, omitted: ['after'] },
    ])
  })

  it('omits values that look like secrets', () => {
    const key = `sk-proj-${'aB3dE6gH9jK2mN5pQ8sT'}`
    const before = { a: key, list: ['x'], password: 'hunter2', skills: [makeSkill('s', { password: ['hunter2'] })] }
    const after = { a: 'b', list: [{ key }], password: 'b', skills: [makeSkill('s', { password: ['b'] })] }
    expect(diffCards(before, after)).toStrictEqual([
      { op: 'replace', pointer: '/skills/0/password/0', after: 'b', omitted: ['before'] },
      { op: 'replace', pointer: '/a', after: 'b', omitted: ['before'] },
      { op: 'replace', pointer: '/list/0', before: 'x', omitted: ['after'] },
      { op: 'replace', pointer: '/password', after: 'b', omitted: ['before'] },
    ])
  })

  it('returns changes of endpoints first, then of security, then of skills, then others', () => {
    const noise = (value: number) => Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`a${n}`, value]))
    const before = { ...noise(1), skills: [makeSkill('s')], security: [{ key: [] }], url: 'https://good.example' }
    const after = { ...noise(2), skills: [makeSkill('t')], security: [], url: 'https://evil.example' }
    expect(
      diffCards(before, after)
        .slice(0, 5)
        .map(({ pointer }) => pointer),
    ).toStrictEqual(['/url', '/security/0', '/skills/0', '/skills/0', '/a0'])
  })
})

describe('listChanges', () => {
  it('matches the skills of a manifest by their ids, and leaves no value out', () => {
    const long = makeSkill('new', { description: 'x'.repeat(2000) })
    const before = { set: 'a', card: { skills: [makeSkill('s'), makeSkill('t')] } }
    const after = { set: 'a', card: { skills: [long, makeSkill('t'), makeSkill('s', { name: 'S' })] } }
    expect(listChanges(before, after)).toMatchObject([
      { op: 'replace', pointer: '/card/skills/2/name', before: 's', after: 'S' },
      { op: 'add', pointer: '/card/skills/0', after: { id: 'new', description: 'x'.repeat(2000) } },
    ])
  })
})

describe('createPatch', () => {
  it('makes one document of another, as a JSON Patch that removes the last item of a list first', () => {
    const before = { list: [1, 2, 3], card: { old: 1, skills: [makeSkill('s')] }, gone: 1 }
    const after = { list: [9], card: { old: 2, skills: [makeSkill('t')], new: 3 } }
    expect(createPatch(before, after)).toStrictEqual([
      { op: 'replace', path: '/list/0', value: 9 },
      { op: 'replace', path: '/card/old', value: 2 },
      { op: 'replace', path: '/card/skills/0/id', value: 't' },
      { op: 'replace', path: '/card/skills/0/name', value: 't' },
      { op: 'add', path: '/card/new', value: 3 },
      { op: 'remove', path: '/gone' },
      { op: 'remove', path: '/list/2' },
      { op: 'remove', path: '/list/1' },
    ])
  })
})
