import { describe, expect, it } from 'vitest'
import { compileDocument } from '../../../src/card/compile/index.ts'
import type { JsonObject } from '../../../src/json/json.ts'
import { MAX_BODY_BYTES } from '../../../src/limits.ts'
import { shortCard as card } from '../../support/cards/cards.ts'
import { compileCard, getCompileErrors, registration } from '../../support/cards/compile.ts'

const makeLongName = (length: number, index: number) => String(index).padStart(length, 'n')
const makeList = <Item>(length: number, makeItem: (index: number) => Item) =>
  Array.from({ length }, (_, index) => makeItem(index))
const makeMembers = (length: number, name: (index: number) => string): JsonObject =>
  Object.fromEntries(makeList(length, index => [name(index), 0]))
const makeSkill = (index: number, more: JsonObject = {}): JsonObject => ({
  id: `s${index}`,
  name: `S ${index}`,
  description: 'D',
  tags: ['t'],
  ...more,
})
const makeSkills = (more: (index: number) => JsonObject, length = 500): JsonObject => ({
  skills: makeList(length, index => makeSkill(index, more(index))),
})

/** Documents that a report has much to say about. */
const documents: Record<string, JsonObject> = {
  'unknown fields of skills': makeSkills(i => makeMembers(30, j => `f${i}x${j}`)),
  'long unknown fields': makeMembers(15, i => makeLongName(16_000, i)),
  'members of a scheme with a long name': {
    securitySchemes: {
      [makeLongName(16_000, 0)]: { httpAuthSecurityScheme: { scheme: 'x', ...makeMembers(990, i => `f${i}`) } },
    },
  },
  'long names without descriptions': { skills: makeList(15, i => ({ name: makeLongName(16_000, i) })) },
  'interfaces with fields that v0.3 cannot represent': {
    supportedInterfaces: makeList(100, i => ({
      url: `https://a.example/${i}`,
      ...makeMembers(30, j => makeLongName(50, j)),
    })),
  },
  secrets: { x: makeList(900, i => ({ [makeLongName(200, i)]: `sk-abcdefgh12345678${i}` })) },
}

// Large documents take long on a busy machine.
describe('a report', () => {
  it('has fewer than 200,000 characters for any document', () => {
    for (const [name, fields] of Object.entries(documents)) {
      const document = { ...card, ...fields }
      expect(JSON.stringify(document).length, name).toBeLessThanOrEqual(MAX_BODY_BYTES)
      const result = compileDocument(document, registration)
      const report = 'errors' in result ? result.errors : result.compiled.report
      expect(JSON.stringify(report).length, name).toBeLessThan(200_000)
    }
  })

  it('ends each list with the number of further notes, dropped fields and errors', () => {
    const { filled } = compileCard({ ...card, skills: makeList(250, index => ({ id: `s${index}` })) }).report
    expect([filled.length, filled.at(-1)]).toStrictEqual([
      101,
      { pointer: expect.stringContaining('/skills/'), message: expect.stringMatching(/ \(one of \d+ more\)$/) },
    ])
    const { dropped } = compileCard({ ...card, ...makeMembers(300, index => `f${index}`) }).report
    expect([dropped['1.0']?.length, dropped['1.0']?.at(-1)]).toStrictEqual([101, '(200 more)'])
    const errors = getCompileErrors({ ...card, ...makeSkills(() => ({ name: 5 }), 250) })
    expect([errors.length, errors.at(-1)?.message]).toStrictEqual([101, 'must be a string (one of 150 more)'])
  })

  it('shortens a long pointer to that of the nearest parent', () => {
    const inner = { ['n'.repeat(200)]: 'sk-abcdefgh12345678' }
    const { report } = compileCard({ ...card, x: { y: inner, [`/${'~'.repeat(40)}`]: inner } })
    expect(report.issues.filter(({ rule }) => rule === 'secret').map(({ pointer }) => pointer)).toStrictEqual([
      '/x/y',
      `/x/~1${'~0'.repeat(40)}`,
    ])
  })
})
