import { describe, expect, it } from 'vitest'
import { compile } from '../../../src/card/compile/index.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { MAX_BODY_BYTES } from '../../../src/limits.ts'
import { shortCard as card } from '../../support/cards/cards.ts'
import { compileCard, getCompileErrors, registration } from '../../support/cards/compile.ts'

const makeLongName = (length: number, index: number) => String(index).padStart(length, 'n')
const makeList = <Item>(length: number, makeItem: (index: number) => Item) =>
  Array.from({ length }, (_, index) => makeItem(index))
const makeMembers = (length: number, name: (index: number) => string, value: (index: number) => Json): JsonObject =>
  Object.fromEntries(makeList(length, index => [name(index), value(index)]))
const makeSkill = (index: number): JsonObject => ({
  id: `s${index}`,
  name: `S ${index}`,
  description: 'D',
  tags: ['t'],
})

const documents: [string, JsonObject][] = [
  [
    'unknown fields of skills',
    {
      skills: makeList(500, i => ({
        ...makeSkill(i),
        ...makeMembers(
          30,
          j => `f${i}x${j}`,
          () => 0,
        ),
      })),
    },
  ],
  [
    'long unknown fields',
    {
      ...makeMembers(
        15,
        i => makeLongName(16_000, i),
        () => 0,
      ),
    },
  ],
  [
    'many unknown fields of medium length',
    {
      ...makeMembers(
        990,
        i => makeLongName(230, i),
        () => 0,
      ),
    },
  ],
  [
    'members of a scheme with a long name',
    {
      securitySchemes: {
        [makeLongName(16_000, 0)]: {
          httpAuthSecurityScheme: {
            scheme: 'x',
            ...makeMembers(
              990,
              i => `f${i}`,
              () => 0,
            ),
          },
        },
      },
    },
  ],
  ['long names without descriptions', { skills: makeList(15, i => ({ name: makeLongName(16_000, i) })) }],
  ['long names of skills', { skills: makeList(15, i => makeLongName(16_000, i)) }],
  ['duplicate long ids', { skills: makeList(15, i => ({ ...makeSkill(i), id: 'n'.repeat(16_000) })) }],
  ['invalid modes', { skills: makeList(500, i => ({ ...makeSkill(i), inputModes: makeList(60, () => 'text') })) }],
  [
    'interfaces with fields that v0.3 cannot represent',
    {
      supportedInterfaces: makeList(100, i => ({
        url: `https://a.example/${i}`,
        ...makeMembers(
          30,
          j => makeLongName(50, j),
          () => 0,
        ),
      })),
    },
  ],
  ['secrets', { x: makeList(900, i => ({ [makeLongName(200, i)]: `sk-abcdefgh12345678${i}` })) }],
  [
    'requirements',
    { skills: makeList(500, i => ({ ...makeSkill(i), security: makeList(20, j => ({ [`s${j}`]: [] })) })) },
  ],
  ['wrong types', { skills: makeList(500, i => ({ ...makeSkill(i), tags: makeList(60, () => 0) })) }],
]

describe('a report', () => {
  it.each(documents)('has fewer than 200,000 characters for a document with %s', (_, fields) => {
    const document = { ...card, ...fields }
    expect(JSON.stringify(document).length).toBeLessThanOrEqual(MAX_BODY_BYTES)
    const result = compile(document, registration)
    const report = 'errors' in result ? result.errors : result.compiled.report
    expect(JSON.stringify(report).length).toBeLessThan(200_000)
  })
})

describe('a list in a report', () => {
  it('ends with the number of further notes', () => {
    const { report } = compileCard({ ...card, skills: makeList(250, index => ({ id: `s${index}` })) })
    expect([report.filled.length, report.filled.at(-1)]).toStrictEqual([
      101,
      { pointer: expect.stringContaining('/skills/'), message: expect.stringMatching(/ \(one of \d+ more\)$/) },
    ])
  })

  it('ends with the number of further dropped fields', () => {
    const { report } = compileCard({
      ...card,
      ...makeMembers(
        300,
        index => `f${index}`,
        () => 0,
      ),
    })
    expect([report.dropped['1.0']?.length, report.dropped['1.0']?.at(-1)]).toStrictEqual([101, '(200 more)'])
  })

  it('shortens a long pointer to that of the nearest parent', () => {
    const inner = { ['n'.repeat(200)]: 'sk-abcdefgh12345678' }
    const { report } = compileCard({ ...card, x: { y: inner, [`/${'~'.repeat(40)}`]: inner } })
    expect(report.issues.filter(({ rule }) => rule === 'secret').map(({ pointer }) => pointer)).toStrictEqual([
      '/x/y',
      `/x/~1${'~0'.repeat(40)}`,
    ])
  })

  it('ends with the number of further errors', () => {
    const errors = getCompileErrors({ ...card, skills: makeList(250, index => ({ ...makeSkill(index), name: 5 })) })
    expect([errors.length, errors.at(-1)?.message]).toStrictEqual([101, 'must be a string (one of 150 more)'])
  })
})
