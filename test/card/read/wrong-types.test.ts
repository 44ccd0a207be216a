import { describe, expect, it } from 'vitest'
import { compile } from '../../../src/card/compile/index.ts'
import { formatPointer, isJsonObject, type Json, jsonEntries, type Pointer } from '../../../src/json/json.ts'
import { compiled } from '../../support/cards/compile.ts'
import { withValue } from '../../support/cards/places.ts'
import { wholeCards } from '../../support/cards/whole.ts'

/** What is inside these is the author's own: JSON Schemas, settings, the words of an example. */
const free =
  /\/(?:params|header|inputSchema|outputSchema|parameters|metadata|additionalCapabilities|rateLimits|examples\/\d+)$/

/** These names tell a dialect from another: with a wrong type they are an unknown field of some other dialect. */
const telling = new Set(['/protocol'])

const placesOf = (value: Json, place: Pointer): [Pointer, Json][] => {
  const own: [Pointer, Json][] = place === '' ? [] : [[place, value]]
  if (typeof value !== 'object' || value === null || free.test(place)) return own
  return [...own, ...jsonEntries(value).flatMap(([name, inner]) => placesOf(inner, place + formatPointer(name)))]
}

/** Of each field every wrong type that no author has been seen to mean anything by. */
const wrongFor = (value: Json): Json[] => {
  if (typeof value === 'boolean') return [5, 'yes', []]
  if (typeof value === 'number') return ['5', true]
  return typeof value === 'string' ? [true] : [true, 5]
}

const rows = Object.entries(wholeCards).flatMap(([dialect, card]) =>
  placesOf(card, '')
    .filter(([place]) => !telling.has(place))
    .flatMap(([place, value]) => wrongFor(value).map(wrong => ({ dialect, place, wrong }))),
)

const decorates = (place: Pointer): boolean => ['/documentationUrl', '/iconUrl'].includes(place)

describe('a wrong type is refused at the place where it was written', () => {
  it.each(Object.keys(wholeCards))('a whole %s card has none', dialect => {
    expect(compiled(wholeCards[dialect] as Json).card.name).toBe(wholeCards[dialect]?.name)
  })

  it.each(rows.filter(({ place }) => !decorates(place)))('$dialect: $wrong at $place', ({ dialect, place, wrong }) => {
    const result = compile(withValue(wholeCards[dialect] as Json, place, wrong), registration)
    expect('errors' in result ? result.errors : 'is registered').toStrictEqual([
      { pointer: place, message: expect.stringMatching(/^must .+/) },
    ])
  })

  it.each(rows.filter(({ place }) => decorates(place)))('$dialect: $wrong at $place is left out', row => {
    const { report, card } = compiled(withValue(wholeCards[row.dialect] as Json, row.place, row.wrong))
    expect([report.converted.filter(note => note.pointer === row.place), card[row.place.slice(1)]]).toStrictEqual([
      [{ pointer: row.place, message: 'left out: must be a URL, as a string' }],
      undefined,
    ])
  })
})

describe('a list is not an object', () => {
  it.each(rows.filter(row => row.wrong === true && isJsonObject(valueAt(row.dialect, row.place))))(
    '$dialect: [] at $place',
    ({ dialect, place }) => {
      const result = compile(withValue(wholeCards[dialect] as Json, place, []), registration)
      // Flags, the names of schemes and the scopes of one have been seen as lists, and are read as such.
      const isRead = /^\/(?:capabilities|authentication)$|\/schemes\/\w+$/.test(place)
      expect('errors' in result ? result.errors.map(error => error.pointer) : 'is registered').toStrictEqual(
        isRead ? 'is registered' : [place],
      )
    },
  )
})

const registration = { id: 'weather', requestOrigin: 'https://host.example' }

function valueAt(dialect: string, place: Pointer): Json | undefined {
  return placesOf(wholeCards[dialect] as Json, '').find(([at]) => at === place)?.[1]
}
