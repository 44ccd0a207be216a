import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compile } from '../../../src/card/compile/index.ts'
import { representationNames } from '../../../src/card/model/constants.ts'
import type { JsonObject } from '../../../src/json/json.ts'
import { prepareRegistration } from '../../../src/registry/prepare.ts'
import { registration } from '../../support/cards/compile.ts'
import { authoredCard, numRuns } from '../../support/cards/generated.ts'
import { withoutKeys } from '../../support/registrations.ts'

/** Returns a string that occurs only in the overlay of a tier. */
const markOf = (tier: string) => `only-in-${tier}`

/** Generates overlays with the mark of their tier in up to three kinds of fields. */
const generateOverlay = (tier: string): fc.Arbitrary<JsonObject> => {
  const mark = markOf(tier)
  const variants: JsonObject[] = [
    { name: mark },
    { description: mark },
    { version: mark },
    { provider: { organization: mark, url: 'https://p.example' } },
    { 'x-unknown': { [mark]: [mark] } },
    { capabilities: { extensions: [{ uri: `urn:${mark}`, required: true }] } },
    { capabilities: { [mark]: true } },
    { defaultInputModes: [`x/${mark}`] },
    { supportedOutputModes: [`x/${mark}`] },
    { skills: [{ id: mark, name: mark, description: mark, tags: [mark], inputModes: [`x/${mark}`] }] },
    { skills: [mark] },
    { securitySchemes: { [mark]: { type: 'apiKey', name: mark, in: 'header' } } },
    { securitySchemes: { oidc: { type: 'openIdConnect', openIdConnectUrl: `https://${mark}.example/` } } },
    { security: [{ [mark]: [mark] }] },
    { signatures: [{ protected: mark, signature: mark }] },
    { documentationUrl: `https://d.example/${mark}`, metadata: { note: mark } },
  ]
  return fc.subarray(variants, { maxLength: 3 }).map(parts => Object.assign({ [`x-${tier}`]: mark }, ...parts))
}

const manifest = fc.record({
  card: authoredCard,
  extended: generateOverlay('base'),
  tiers: fc.record({ silver: generateOverlay('silver'), gold: generateOverlay('gold') }),
  route: fc.constantFrom('direct', 'gateway', 'closed'),
  visibility: fc.constantFrom('public', 'internal'),
  // An overlay may declare capabilities that the generated card does not have.
  gate: fc.constant({ capabilities: 'off' }),
})

const findMarks = (text: string) => ['base', 'silver', 'gold'].filter(tier => text.includes(markOf(tier)))

describe('the content of an overlay', () => {
  it('occurs only in the documents of its tier and of the tiers over `extended`, never in public data', async () => {
    let compiledCards = 0
    await fc.assert(
      fc.asyncProperty(manifest, async generated => {
        const document = JSON.parse(JSON.stringify(generated))
        const result = compile(document, registration)
        if ('errors' in result) return
        compiledCards++
        const { compiled } = result
        const { representations, profile, summary, extended } = await prepareRegistration(
          { id: registration.id, document, compiled, signing: withoutKeys },
          { actor: 'admin', expected: {} },
        )
        const decode = (documents: typeof representations) =>
          representationNames.map(name => new TextDecoder().decode(documents[name]?.bytes)).join()
        const publicTexts = [
          decode(representations),
          new TextDecoder().decode(profile.bytes),
          JSON.stringify([summary, compiled.card]),
        ]
        expect([
          findMarks(publicTexts.join()),
          JSON.stringify(compiled.report.dropped).includes('only-in-'),
          Object.fromEntries(extended.map(({ tier, representations }) => [tier, findMarks(decode(representations))])),
        ]).toStrictEqual([[], false, { base: ['base'], silver: ['base', 'silver'], gold: ['base', 'gold'] }])
      }),
    )
    expect(compiledCards).toBeGreaterThan(numRuns / 6)
  })
})
