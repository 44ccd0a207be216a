import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createPatch, type Drift, diffCards, listChanges, type PatchOperation } from '../../../src/card/diff/drift.ts'
import { isJsonObject, type Json, type JsonObject, jsonEquals, omit, parsePointer } from '../../../src/json/json.ts'
import { authoredCard } from '../../support/cards/generated.ts'
import { getValue } from '../../support/cards/pointers.ts'

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

/** Returns a document with its skills in an object by their ids. */
const keySkillsById = (document: JsonObject): JsonObject => {
  const copy: JsonObject = JSON.parse(JSON.stringify(document))
  if (Array.isArray(copy.skills))
    copy.skills = Object.fromEntries(copy.skills.map(item => [isJsonObject(item) ? String(item.id) : '', item]))
  return copy
}

/** Applies changes to a document. Their pointers are into `after`, or into the document for removed values. */
const applyChanges = (before: JsonObject, changes: Drift, after: JsonObject): JsonObject => {
  const document = keySkillsById(before)
  for (const { op, pointer } of changes.toReversed()) {
    const path = parsePointer(pointer)
    if (path[0] === 'skills' && path[1] !== undefined)
      path[1] = String(getValue(op === 'remove' ? before : after, `/skills/${path[1]}/id`))
    const last = path.pop() as string
    const parent = path.reduce<Json>((inner, token) => (inner as JsonObject)[token] as Json, document)
    if (op !== 'remove') (parent as JsonObject)[last] = getValue(after, pointer) as Json
    else if (Array.isArray(parent)) parent.splice(Number(last), 1)
    else delete (parent as JsonObject)[last]
  }
  return document
}

/** Applies a JSON Patch (RFC 6902) of the operations `add`, `remove` and `replace`. */
const applyPatch = (document: Json, patch: readonly PatchOperation[]): Json => {
  const root = { document: structuredClone(document) }
  for (const { op, path, value = null } of structuredClone(patch)) {
    const tokens = ['document', ...parsePointer(path)]
    const name = tokens.pop() as string
    const parent = tokens.reduce<Json>((inner, token) => (inner as JsonObject)[token] as Json, root)
    if (!Array.isArray(parent)) {
      if ((op === 'add') === Object.hasOwn(parent as JsonObject, name)) throw new Error(`${op} ${path}`)
      if (op === 'remove') delete (parent as JsonObject)[name]
      else (parent as JsonObject)[name] = value
    } else if (op === 'add') {
      if (Number(name) > parent.length) throw new Error(`${op} ${path}`)
      parent.splice(Number(name), 0, value)
    } else {
      if (Number(name) >= parent.length) throw new Error(`${op} ${path}`)
      parent.splice(Number(name), 1, ...(op === 'replace' ? [value] : []))
    }
  }
  return root.document
}

describe('the changes between two generated cards', () => {
  const skills = fc.uniqueArray(
    fc.record({
      id: fc.constantFrom('s', 't', 'u/v', 'toString'),
      name: fc.constantFrom('A', 'B'),
      tags: fc.array(fc.constantFrom('x', 'y')),
    }),
    { selector: ({ id }) => id },
  )
  const document = fc
    .tuple(authoredCard, skills)
    .map(([card, skills]): JsonObject => JSON.parse(JSON.stringify({ ...card, skills })))

  it('make the second of the first, up to the order of skills', () => {
    fc.assert(
      fc.property(document, document, (before, after) => {
        const changes = diffCards(before, after)
        fc.pre(changes.length < 100)
        expect(jsonEquals(applyChanges(before, changes, after), keySkillsById(after))).toBe(true)
      }),
    )
  })

  it('are a JSON Patch that makes the second of the first', () => {
    const manifest = fc.tuple(document, fc.jsonValue()).map(([card, other]) => ({ card, other }) as JsonObject)
    fc.assert(
      fc.property(manifest, manifest, (before, after) => {
        expect(jsonEquals(applyPatch(before, createPatch(before, after)), after)).toBe(true)
      }),
    )
  })

  it('are none between a card and itself', () => {
    fc.assert(
      fc.property(document, card => {
        const other = { ...card, skills: (card.skills as Json[]).toReversed() }
        expect([diffCards(card, JSON.parse(JSON.stringify(card))), diffCards(card, other)]).toStrictEqual([[], []])
      }),
    )
  })
})
