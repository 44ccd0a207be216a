import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Drift, diffCards } from '../../../src/card/diff/drift.ts'
import { isJsonObject, type Json, type JsonObject, jsonEquals, omit, parsePointer } from '../../../src/json/json.ts'
import { authoredCard } from '../../support/cards/generated.ts'
import { getValue } from '../../support/cards/pointers.ts'

const skill = (id: string, more: JsonObject = {}): JsonObject => ({ id, name: id, ...more })

describe('the drift of a document', () => {
  it.each<[string, JsonObject, JsonObject, Drift]>([
    ['nothing', { name: 'A', skills: [skill('s')] }, { skills: [skill('s')], name: 'A' }, []],
    [
      'a field changed',
      { a: { b: 1 } },
      { a: { b: [2] } },
      [{ op: 'replace', pointer: '/a/b', before: 1, after: [2] }],
    ],
    ['a field added', {}, { 'a/b': null }, [{ op: 'add', pointer: '/a~1b', after: null }]],
    ['a field gone', { a: {} }, {}, [{ op: 'remove', pointer: '/a', before: {} }]],
    ['an object that is a list', { a: {} }, { a: [] }, [{ op: 'replace', pointer: '/a', before: {}, after: [] }]],
    ['a name that objects have', { toString: 1 }, {}, [{ op: 'remove', pointer: '/toString', before: 1 }]],
    ['skills in another order', { skills: [skill('s'), skill('t')] }, { skills: [skill('t'), skill('s')] }, []],
    [
      'a skill changed, wherever it is now',
      { skills: [skill('s'), skill('t')] },
      { skills: [skill('new'), skill('t', { name: 'T' }), skill('s')] },
      [
        { op: 'replace', pointer: '/skills/1/name', before: 't', after: 'T' },
        { op: 'add', pointer: '/skills/0', after: skill('new') },
      ],
    ],
    [
      'a skill gone',
      { skills: [skill('s'), skill('t')] },
      { skills: [skill('t')] },
      [{ op: 'remove', pointer: '/skills/0', before: skill('s') }],
    ],
    [
      'skills without ids, by their places',
      { skills: ['a', 'b'] },
      { skills: ['b'] },
      [
        { op: 'replace', pointer: '/skills/0', before: 'a', after: 'b' },
        { op: 'remove', pointer: '/skills/1', before: 'b' },
      ],
    ],
    [
      'skills of one id, by their places',
      { skills: [skill('s'), skill('s')] },
      { skills: [skill('s')] },
      [{ op: 'remove', pointer: '/skills/1', before: skill('s') }],
    ],
  ])('%s', (_, before, after, expected) => {
    expect(diffCards(before, after)).toStrictEqual(expected)
  })

  it('says no more than helps: a hundred changes and how many more there are, and no long value', () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`f${n}`, n]))
    const told = diffCards({}, many)
    expect([told.length, told.at(-1)]).toStrictEqual([101, { op: 'more', pointer: '', count: 400 }])
    expect(diffCards({}, omit(many, ...Array.from({ length: 400 }, (_, n) => `f${n}`)))).toHaveLength(100)
    const long = 'x'.repeat(1000)
    expect(diffCards({ a: long, b: 1 }, { a: 1, b: long })).toStrictEqual([
      { op: 'replace', pointer: '/a', after: 1, leftOut: ['before'] },
      { op: 'replace', pointer: '/b', before: 1, leftOut: ['after'] },
    ])
  })

  it('tells first where calls go, then who may make them, then what they may be; then the rest', () => {
    const noise = (value: number) => Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`a${n}`, value]))
    const before = { ...noise(1), skills: [skill('s')], security: [{ key: [] }], url: 'https://good.example' }
    const after = { ...noise(2), skills: [skill('t')], security: [], url: 'https://evil.example' }
    expect(
      diffCards(before, after)
        .slice(0, 5)
        .map(({ pointer }) => pointer),
    ).toStrictEqual(['/url', '/security/0', '/skills/0', '/skills/0', '/a0'])
  })
})

/** A document with its skills by their ids, which a drift tells apart. */
const keyed = (document: JsonObject): JsonObject => {
  const copy: JsonObject = JSON.parse(JSON.stringify(document))
  if (Array.isArray(copy.skills))
    copy.skills = Object.fromEntries(copy.skills.map(item => [isJsonObject(item) ? String(item.id) : '', item]))
  return copy
}

/** What a document becomes with a drift, whose pointers are into `after`, or into the document where something is gone. */
const applied = (before: JsonObject, changes: Drift, after: JsonObject): JsonObject => {
  const document = keyed(before)
  for (const { op, pointer } of changes.toReversed()) {
    const path = parsePointer(pointer)
    if (path[0] === 'skills' && path[1] !== undefined)
      path[1] = String(getValue(op === 'remove' ? before : after, `/skills/${path[1]}/id`))
    const last = path.pop() as string
    const holder = path.reduce<Json>((inner, token) => (inner as JsonObject)[token] as Json, document)
    if (op !== 'remove') (holder as JsonObject)[last] = getValue(after, pointer) as Json
    else if (Array.isArray(holder)) holder.splice(Number(last), 1)
    else delete (holder as JsonObject)[last]
  }
  return document
}

describe('whatever the documents', () => {
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

  it('the drift from one to the other makes that of it, up to the order of skills', () => {
    fc.assert(
      fc.property(document, document, (before, after) => {
        const changes = diffCards(before, after)
        fc.pre(changes.length < 100)
        expect(jsonEquals(applied(before, changes, after), keyed(after))).toBe(true)
      }),
    )
  })

  it('there is none from one to itself', () => {
    fc.assert(
      fc.property(document, card => {
        const other = { ...card, skills: (card.skills as Json[]).toReversed() }
        expect([diffCards(card, JSON.parse(JSON.stringify(card))), diffCards(card, other)]).toStrictEqual([[], []])
      }),
    )
  })
})
