import { expect, it } from 'vitest'
import { representationNames } from '../../../src/card/model/constants.ts'
import type { JsonObject } from '../../../src/json/json.ts'
import { type PackedDocuments, unpackDocuments } from '../../../src/registry/documents.ts'
import { prepareRegistration } from '../../../src/registry/prepare.ts'
import { shortCard } from '../../support/cards/cards.ts'
import { compileCard, parseDocument } from '../../support/cards/compile.ts'
import { completeCards } from '../../support/cards/complete.ts'
import { withoutKeys } from '../../support/registrations.ts'

/** Returns a string that occurs only in the overlay of a tier. */
const markOf = (tier: string) => `only-in-${tier}`

/** Returns overlays with a mark, each in other fields. */
const makeOverlays = (mark: string): JsonObject[] => [
  { name: mark, description: mark, version: mark, provider: { organization: mark, url: 'https://p.example' } },
  { 'x-unknown': { [mark]: [mark] }, documentationUrl: `https://d.example/${mark}`, metadata: { note: mark } },
  { capabilities: { [mark]: true, extensions: [{ uri: `urn:${mark}`, required: true }] } },
  { defaultInputModes: [`x/${mark}`], supportedOutputModes: [`x/${mark}`] },
  { skills: [{ id: mark, name: mark, description: mark, tags: [mark], inputModes: [`x/${mark}`] }] },
  { skills: [mark] },
  { securitySchemes: { [mark]: { type: 'apiKey', name: mark, in: 'header' } }, security: [{ [mark]: [mark] }] },
  { securitySchemes: { oidc: { type: 'openIdConnect', openIdConnectUrl: `https://${mark}.example/` } } },
  { signatures: [{ protected: mark, signature: mark }] },
]

const findMarks = (text: string) => ['base', 'silver', 'gold'].filter(tier => text.includes(markOf(tier)))

it('the content of an overlay occurs only in documents of its tier and those over `extended`, never in public data', async () => {
  const cards: [card: JsonObject | undefined, route: string][] = [
    [shortCard, 'direct'],
    [completeCards['0.3'], 'gateway'],
    [completeCards['1.0'], 'closed'],
  ]
  for (const [card = {}, route] of cards)
    for (const index of makeOverlays('').keys()) {
      const overlay = (tier: string) => ({ [`x-${tier}`]: markOf(tier), ...makeOverlays(markOf(tier))[index] })
      const tiers = { silver: overlay('silver'), gold: overlay('gold') }
      const document = { card, extended: overlay('base'), tiers, route, gate: { capabilities: 'off' } }
      const compiled = compileCard(document)
      const { cards, profile, summary } = await prepareRegistration(
        parseDocument(document),
        { compiled, signing: withoutKeys },
        { actor: 'admin', expected: {} },
      )
      const decode = (packed: PackedDocuments) => {
        const documents = unpackDocuments(packed)
        return representationNames.map(name => new TextDecoder().decode(documents[name]?.bytes)).join()
      }
      const [publicCard = { parts: [], body: new Uint8Array() }, ...extended] = cards
      const publicTexts = [
        decode(publicCard),
        profile,
        JSON.stringify([summary, compiled.card, compiled.report.dropped]),
      ]
      expect([
        findMarks(publicTexts.join()),
        Object.fromEntries(extended.map(({ tier, ...packed }) => [tier, findMarks(decode(packed))])),
      ]).toStrictEqual([[], { base: ['base'], silver: ['base', 'silver'], gold: ['base', 'gold'] }])
    }
})
