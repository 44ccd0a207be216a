import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compile } from '../../../src/card/compile/index.ts'
import { representationNames } from '../../../src/card/model/constants.ts'
import type { JsonObject } from '../../../src/json/json.ts'
import { prepareRegistration } from '../../../src/registry/prepare.ts'
import { authoredCard, numRuns } from '../../support/cards/generated.ts'

/** A string that nothing says but the overlay that it is of. */
const mark = (tier: string) => `only-${tier}-says-this`

/** Overlays that say a mark in one of the ways that a card can say anything; some of them twice. */
const overlay = (tier: string): fc.Arbitrary<JsonObject> => {
  const said = mark(tier)
  const ways: JsonObject[] = [
    { name: said },
    { description: said },
    { version: said },
    { provider: { organization: said, url: 'https://p.example' } },
    { 'x-unknown': { [said]: [said] } },
    { capabilities: { extensions: [{ uri: `urn:${said}`, required: true }] } },
    { capabilities: { [said]: true } },
    { defaultInputModes: [`x/${said}`] },
    { supportedOutputModes: [`x/${said}`] },
    { skills: [{ id: said, name: said, description: said, tags: [said], inputModes: [`x/${said}`] }] },
    { skills: [said] },
    { securitySchemes: { [said]: { type: 'apiKey', name: said, in: 'header' } } },
    { securitySchemes: { oidc: { type: 'openIdConnect', openIdConnectUrl: `https://${said}.example/` } } },
    { security: [{ [said]: [said] }] },
    { signatures: [{ protected: said, signature: said }] },
    { documentationUrl: `https://d.example/${said}`, metadata: { note: said } },
  ]
  return fc.subarray(ways, { maxLength: 3 }).map(parts => Object.assign({ [`x-${tier}`]: said }, ...parts))
}

const manifest = fc.record({
  card: authoredCard,
  extended: overlay('base'),
  tiers: fc.record({ silver: overlay('silver'), gold: overlay('gold') }),
  route: fc.constantFrom('direct', 'gateway', 'closed'),
  visibility: fc.constantFrom('public', 'internal'),
  // An overlay may promise what the gate of a generated card would refuse.
  gate: fc.constant({ capabilities: 'off' }),
})

const marksIn = (text: string) => ['base', 'silver', 'gold'].filter(tier => text.includes(mark(tier)))

describe('what only an overlay says', () => {
  it('is in no document of the public card, nor in what is derived from it; and in none of a tier that is not above it', async () => {
    let registered = 0
    await fc.assert(
      fc.asyncProperty(manifest, async generated => {
        const document = JSON.parse(JSON.stringify(generated))
        const result = compile(document, { id: 'a', requestOrigin: 'https://h.example' })
        if ('errors' in result) return
        registered++
        const { compiled } = result
        const { representations, profile, summary, extended } = await prepareRegistration('a', document, compiled, {})
        const textOf = (made: typeof representations) =>
          representationNames.map(name => new TextDecoder().decode(made[name]?.bytes)).join()
        const open = [
          textOf(representations),
          new TextDecoder().decode(profile.bytes),
          JSON.stringify([summary, compiled.card]),
        ]
        expect([
          marksIn(open.join()),
          JSON.stringify(compiled.report.dropped).includes('only-'),
          Object.fromEntries(extended.map(({ tier, representations }) => [tier, marksIn(textOf(representations))])),
        ]).toStrictEqual([[], false, { base: ['base'], silver: ['base', 'silver'], gold: ['base', 'gold'] }])
      }),
    )
    expect(registered).toBeGreaterThan(numRuns / 6)
  })
})
