import { describe, expect, it } from 'vitest'
import { compile } from '../../../src/card/compile/index.ts'
import {
  formatPointer,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEntries,
  type Pointer,
} from '../../../src/json/json.ts'
import { compileCard, registration } from '../../support/cards/compile.ts'
import { completeCards } from '../../support/cards/complete.ts'
import { getValue, replaceValue } from '../../support/cards/pointers.ts'

/** Objects without a schema: JSON Schemas, settings, messages of examples. */
const freeForm =
  /\/(?:params|header|inputSchema|outputSchema|parameters|metadata|additionalCapabilities|rateLimits|examples\/\d+)$/

/** Fields by which a dialect is detected: with a wrong type they are unknown fields of another dialect. */
const detecting = new Set(['/protocol'])

const listValues = (value: Json, pointer: Pointer): [Pointer, Json][] => {
  const own: [Pointer, Json][] = pointer === '' ? [] : [[pointer, value]]
  if (typeof value !== 'object' || value === null || freeForm.test(pointer)) return own
  return [...own, ...jsonEntries(value).flatMap(([name, inner]) => listValues(inner, pointer + formatPointer(name)))]
}

/** Returns values of wrong types, without those that authors use and the host converts. */
const wrongValuesFor = (value: Json): Json[] => {
  if (typeof value === 'boolean') return [5, 'yes', []]
  if (typeof value === 'number') return ['5', true]
  return typeof value === 'string' ? [true] : [true, 5]
}

const rows = Object.entries(completeCards).flatMap(([dialect, card]) =>
  listValues(card, '')
    .filter(([pointer]) => !detecting.has(pointer))
    .flatMap(([pointer, value]) => wrongValuesFor(value).map(wrong => ({ dialect, pointer, wrong }))),
)

const isOptionalLink = (pointer: Pointer): boolean => ['/documentationUrl', '/iconUrl'].includes(pointer)

describe('a value of a wrong type', () => {
  it.each(Object.keys(completeCards))('does not occur in the complete %s card', dialect => {
    expect(compileCard(completeCards[dialect] as Json).card.name).toBe(completeCards[dialect]?.name)
  })

  it.each(rows.filter(({ pointer }) => !isOptionalLink(pointer)))(
    'is rejected at its pointer: $wrong at $pointer of $dialect',
    ({ dialect, pointer, wrong }) => {
      const result = compile(replaceValue(completeCards[dialect] as Json, pointer, wrong), registration)
      expect('errors' in result ? result.errors : 'accepted').toStrictEqual([
        { pointer, message: expect.stringMatching(/^must .+/) },
      ])
    },
  )

  it.each(rows.filter(({ pointer }) => isOptionalLink(pointer)))(
    'is left out with a note where it is an optional link: $wrong at $pointer of $dialect',
    row => {
      const { report, card } = compileCard(replaceValue(completeCards[row.dialect] as Json, row.pointer, row.wrong))
      expect([report.converted.filter(note => note.pointer === row.pointer), card[row.pointer.slice(1)]]).toStrictEqual(
        [[{ pointer: row.pointer, message: 'left out: must be a URL, as a string' }], undefined],
      )
    },
  )
})

describe('an object that cannot become text', () => {
  const members = ['type', '$schema', 'transport', 'protocol', 'termsOfServiceUrl', 'exposed', 'endpoints', 'agents']
  const places = Object.entries(completeCards).flatMap(([dialect, card]) => [
    ...listValues(card, '').map(([pointer]) => ({ dialect, pointer })),
    ...members.map(name => ({ dialect, pointer: formatPointer(name) })),
  ])

  it('is compiled or rejected at every place of every card, and never throws', () => {
    const upstream = { mcp: 'https://a.example/mcp' }
    for (const { dialect, pointer } of places) {
      const card = replaceValue(completeCards[dialect] as JsonObject, pointer, { toString: 1, valueOf: 1 })
      compile(card, registration)
      if (dialect === 'superx') compile({ upstream }, { ...registration, fetched: card })
    }
    expect(places.length).toBeGreaterThan(300)
  })
})

describe('a list in place of an object', () => {
  it.each(
    rows.filter(row => row.wrong === true && isJsonObject(getValue(completeCards[row.dialect] as Json, row.pointer))),
  )('is rejected at $pointer of $dialect, unless authors use a list there', ({ dialect, pointer }) => {
    const result = compile(replaceValue(completeCards[dialect] as Json, pointer, []), registration)
    // Authors write capabilities, schemes and scopes as lists too; the host converts these.
    const isConverted = /^\/(?:capabilities|authentication)$|\/schemes\/\w+$/.test(pointer)
    expect('errors' in result ? result.errors.map(error => error.pointer) : 'accepted').toStrictEqual(
      isConverted ? 'accepted' : [pointer],
    )
  })
})
