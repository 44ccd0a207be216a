import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compile } from '../../../src/card/compile/index.ts'
import { formatPointer, type Json, type JsonObject, jsonEntries, omit, type Pointer } from '../../../src/json/json.ts'
import { compileCard, registration } from '../../support/cards/compile.ts'
import { completeCards } from '../../support/cards/complete.ts'
import { authoredCard, numRuns } from '../../support/cards/generated.ts'
import { replaceValue } from '../../support/cards/pointers.ts'

const host = 'agent.upstream.example'
const upstream = { card: `https://${host}/cards/agent.json`, url: `https://${host}/a2a` }

/** Generates texts that contain the host name of the agent. */
const leak = fc.constantFrom(
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

/** Returns the pointers of all strings in a document. */
const findStrings = (value: Json, pointer: Pointer = ''): Pointer[] => {
  if (typeof value === 'string') return [pointer]
  if (typeof value !== 'object' || value === null) return []
  return jsonEntries(value).flatMap(([name, inner]) => findStrings(inner, pointer + formatPointer(name)))
}

/** Generates cards of which up to two strings contain the host name of the agent. */
const leakingCard = fc
  .tuple(
    fc.oneof(authoredCard, fc.constantFrom(...Object.values(completeCards))),
    fc.array(fc.tuple(fc.nat(), leak), { maxLength: 2 }),
  )
  .map(([generated, leaks]) =>
    leaks.reduce<JsonObject>(
      (card, [index, text]) => {
        const pointers = findStrings(card)
        return replaceValue(card, pointers[index % pointers.length] as Pointer, text)
      },
      // Only the host of the agent is under test, so every other host is public.
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
  it('contains a host name in its signatures nowhere, because none of them is still valid', () => {
    const signatures = [{ protected: host, signature: 's' }]
    const fetched = { ...completeCards['1.0'], signatures }
    const { documents, extended } = compileCard({ upstream, route: 'gateway', extended: {} }, fetched)
    expect(extended).toHaveLength(1)
    expect(JSON.stringify([documents, extended.map(each => each.documents)])).not.toContain('signatures')
  })

  it('contains the host name of its agent in no representation, or is rejected', () => {
    let [accepted, rejected] = [0, 0]
    fc.assert(
      fc.property(manifest, leakingCard, (document, fetched) => {
        const result = compile(document, { ...registration, fetched })
        if ('errors' in result) rejected++
        else {
          accepted++
          const served = [result.compiled, ...result.compiled.extended].map(({ card, documents }) => [
            // The canonical card keeps its signatures, which are served only in documents.
            omit(card as JsonObject, 'signatures'),
            documents,
          ])
          expect(JSON.stringify(served).toLowerCase()).not.toContain(host)
        }
      }),
    )
    expect([accepted > numRuns / 12, rejected > numRuns / 12]).toStrictEqual([true, true])
  })
})
