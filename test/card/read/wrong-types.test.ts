import { describe, expect, it } from 'vitest'
import { compileDocument } from '../../../src/card/compile/index.ts'
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
import { replaceValue } from '../../support/cards/pointers.ts'

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

/** Every value of the complete cards. */
const places = Object.entries(completeCards).flatMap(([dialect, card]) =>
  listValues(card, '').map(([pointer, value]) => ({ dialect, card, pointer, value })),
)
const optionalLinks = ['/documentationUrl', '/iconUrl']

/** Returns the pointers and messages of the errors with a card that has another value at a pointer. */
const findErrors = (card: JsonObject, pointer: Pointer, wrong: Json) => {
  const result = compileDocument(replaceValue(card, pointer, wrong), registration)
  return 'errors' in result ? result.errors : 'accepted'
}

// Hundreds of cards take long on a busy machine.
describe('a value of a wrong type', () => {
  it('is rejected at its pointer', () => {
    expect(places.length).toBeGreaterThan(300)
    for (const { dialect, card, pointer, value } of places)
      if (!detecting.has(pointer) && !optionalLinks.includes(pointer))
        for (const wrong of wrongValuesFor(value)) {
          const errors = findErrors(card, pointer, wrong)
          expect([dialect, pointer, errors]).toStrictEqual([
            dialect,
            pointer,
            [{ pointer, message: expect.stringMatching(/^must .+/) }],
          ])
        }
  })

  it('is left out with a note where it is an optional link', () => {
    const links = places.filter(({ pointer }) => optionalLinks.includes(pointer))
    expect(new Set(links.map(({ pointer }) => pointer))).toEqual(new Set(optionalLinks))
    for (const { card, pointer } of links) {
      const { report, card: read } = compileCard(replaceValue(card, pointer, true))
      expect(report.converted).toContainEqual({ pointer, message: 'left out: must be a URL, as a string' })
      expect(read).not.toHaveProperty(pointer.slice(1))
    }
  })

  it('is rejected where it is a list in place of an object, unless authors use a list there', () => {
    for (const { dialect, card, pointer, value } of places.filter(({ value }) => isJsonObject(value))) {
      const errors = findErrors(card, pointer, [])
      // Authors write capabilities, schemes and scopes as lists too; the host converts these.
      const isConverted = /^\/(?:capabilities|authentication)$|\/schemes\/\w+$/.test(pointer)
      const found = errors === 'accepted' ? errors : errors.map(error => error.pointer)
      expect([dialect, value, found]).toStrictEqual([dialect, value, isConverted ? 'accepted' : [pointer]])
    }
  })
})

it('an object that cannot become text is compiled or rejected at every place, and never throws', () => {
  const upstream = { mcp: 'https://a.example/mcp' }
  const members = ['type', '$schema', 'transport', 'protocol', 'termsOfServiceUrl', 'exposed', 'endpoints', 'agents']
  for (const [dialect, card] of Object.entries(completeCards)) {
    const pointers = [...listValues(card, '').map(([pointer]) => pointer), ...members.map(name => formatPointer(name))]
    for (const pointer of pointers) {
      const changed = replaceValue(card, pointer, { toString: 1, valueOf: 1 })
      compileDocument(changed, registration)
      if (dialect === 'superx') compileDocument({ upstream }, { ...registration, fetched: changed })
    }
  }
})
