import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compile } from '../../../src/card/compile/index.ts'
import { formatPointer, type Json, type JsonObject, jsonEntries, omit, type Pointer } from '../../../src/json/json.ts'
import { completeCards } from '../../support/cards/complete.ts'
import { authoredCard, numRuns } from '../../support/cards/generated.ts'
import { replaceValue } from '../../support/cards/pointers.ts'

const host = 'agent.upstream.example'
const upstream = { card: `https://${host}/cards/agent.json`, url: `https://${host}/a2a` }

/** How a text can say where the agent is. */
const saying = fc.constantFrom(
  host,
  host.toUpperCase(),
  `https://${host}`,
  `https://${host}/a2a`,
  `https://${host}/a2a/x`,
  `See https://${host}/a2a.`,
  `https://${host}/a2a/v1/message:send?x=1`,
  `https://${host}/a2ax`,
  `https://${host}:443/a2a/`,
  `http://${host}:8080/a2a`,
  `wss://${host}/socket`,
  `https://${host}/.well-known/agent.json`,
  `Ask https://${host}/a2a, or ${host}.`,
  `https://proxy.example/?u=${encodeURIComponent(`https://${host}/a2a`)}`,
  `//${host}/a2a`,
)

/** Every place of a document that holds a text. */
const textPlaces = (value: Json, place: Pointer = ''): Pointer[] => {
  if (typeof value === 'string') return [place]
  if (typeof value !== 'object' || value === null) return []
  return jsonEntries(value).flatMap(([name, inner]) => textPlaces(inner, place + formatPointer(name)))
}

/** A card of any generation in which one text or more, whichever, says where the agent is. */
const telling = fc
  .tuple(
    fc.oneof(authoredCard, fc.constantFrom(...Object.values(completeCards))),
    fc.array(fc.tuple(fc.nat(), saying), { maxLength: 2 }),
  )
  .map(([generated, sayings]) =>
    sayings.reduce<JsonObject>(
      (card, [nth, said]) => {
        const places = textPlaces(card)
        return replaceValue(card, places[nth % places.length] as Pointer, said)
      },
      // Others than the agent have hosts of their own, none of them private.
      JSON.parse(JSON.stringify(generated).replaceAll('http://localhost:4000', 'https://c.example')),
    ),
  )

const manifest = fc.record({
  upstream: fc.constant(upstream),
  route: fc.constant('gateway'),
  gate: fc.constant({ capabilities: 'off' }),
  extended: fc.constantFrom<JsonObject>({}, { description: 'More' }, { skills: [{ name: 'More' }] }),
})

describe('a fetched card behind the gateway', () => {
  it('says in no representation where its agent is, whatever it said and wherever; or it is refused where it did', () => {
    let [registered, refused] = [0, 0]
    fc.assert(
      fc.property(manifest, telling, (document, fetched) => {
        const result = compile(document, { id: 'a', requestOrigin: 'https://h.example', fetched })
        if ('errors' in result) refused++
        else {
          registered++
          const { documents, extended, card } = result.compiled
          // Of the canonical card nothing is served but through its documents.
          const open = JSON.stringify([documents, extended, omit(card as JsonObject, 'signatures')])
          expect(open.toLowerCase()).not.toContain(host)
        }
      }),
    )
    expect([registered > numRuns / 12, refused > numRuns / 12]).toStrictEqual([true, true])
  })
})
