import { AgentCard } from '@a2a-js/sdk'
import fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { loadManifests } from '../../../cli/manifests/load.ts'
import { createEchoCard } from '../../../examples/echo-agent/app.ts'
import { type Compiled, compile } from '../../../src/card/compile/index.ts'
import { signedNames } from '../../../src/card/model/constants.ts'
import { findSdkVerdicts, verifySignatures } from '../../../src/card/signatures/index.ts'
import { listContradictions } from '../../../src/card/signatures/legacy-form.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { parseJson } from '../../../src/json/parse.ts'
import { registration } from '../../support/cards/compile.ts'
import { completeCards } from '../../support/cards/complete.ts'
import { authoredCard, numRuns } from '../../support/cards/generated.ts'
import { corpus } from '../../support/cards/reference.ts'
import { readSeedManifest, seedNames } from '../../support/cards/seeds.ts'
import { hasSchemes, makeKey, makeSigner, signDocuments } from '../../support/cards/signed.ts'
import { isNightly } from '../../support/matrix.ts'
import { type CardVerifier, cardVerifiers } from '../../support/sdk/card-verifiers.ts'

const key = await makeKey()
const keys = [key.publicJwk]
const publicKeys = [key.publicKey]

/**
 * Whether a verifier can accept a card: the resolver of a2a-js loses security schemes before it verifies (a2a-js #663).
 */
const canAccept = ({ name }: CardVerifier, card: JsonObject): boolean =>
  name !== 'a2a-js 1.3 through its resolver' || !hasSchemes(card)

// The verifier of a2a-js logs every signature that it does not accept.
beforeEach(() => {
  vi.spyOn(console, 'debug').mockReturnValue()
})

/** Compiles a document; undefined if it is not accepted. `fetched` is the card that an upstream serves. */
const tryCompile = (document: Json, fetched?: JsonObject): Compiled | undefined => {
  const result = compile(document, { ...registration, ...(fetched && { fetched }) })
  return 'compiled' in result ? result.compiled : undefined
}

/** Compiles the sample manifests. The card of an MCP server is not to be had without the server. */
const examples = loadManifests(['examples/cards'], registration.requestOrigin).drafts.flatMap(draft => {
  const echo = AgentCard.toJSON(createEchoCard()) as JsonObject
  const isMcp = (draft.manifest.upstream as JsonObject | undefined)?.mcp !== undefined
  return isMcp ? [] : [[draft.file, draft.compiled ?? tryCompile(draft.manifest, echo)] as const]
})

const corpusCards = corpus.flatMap(({ file, text }) => {
  const parsed = parseJson(text)
  const compiled = 'value' in parsed ? tryCompile(parsed.value) : undefined
  return compiled ? [[file, compiled] as const] : []
})

const samples = [
  ...examples,
  ...seedNames.map(name => [`seeds/${name}.json`, tryCompile(readSeedManifest(name))] as const),
  ...Object.entries(completeCards).map(([dialect, card]) => [`every field of ${dialect}`, tryCompile(card)] as const),
  ...corpusCards,
]

// Many signatures take long on a busy machine.
describe('a card that this host signs', { timeout: 60_000 }, () => {
  it('has samples of every kind', () => {
    expect(samples.filter(([, compiled]) => compiled === undefined)).toEqual([])
    expect(examples.length).toBeGreaterThanOrEqual(12)
  })

  it('verifies with every SDK', async () => {
    for (const [file, compiled] of samples) {
      const signed = await signDocuments(compiled as Compiled, makeSigner(key))
      for (const verifier of cardVerifiers)
        for (const name of verifier.documents) {
          const document = signed[name] as JsonObject
          const accepted = await verifier.accepts(document, keys)
          expect(accepted, `${verifier.name}, ${file}, ${name}`).toBe(canAccept(verifier, document))
        }
      const served = { plain: signed['agent-card.json'] as JsonObject, current: signed['1.0'] as JsonObject }
      const refused = (await findSdkVerdicts(served, publicKeys)).filter(({ accepted }) => !accepted)
      const lost = hasSchemes(served.current) ? ['a2a-js 1.3, through its resolver'] : []
      expect([file, refused.map(({ sdk }) => sdk)]).toEqual([file, lost])
      const results = await Promise.all(Object.values(signed).map(document => verifySignatures(document, publicKeys)))
      expect([file, results.flat().filter(({ valid }) => !valid)]).toEqual([file, []])
    }
  })
})

/** A nightly run has thousands of signatures, and other cards each time. */
const CARDS = isNightly ? Math.max(1000, numRuns) : 60

/** Generates cards as authors write them until enough are accepted. */
const compileGenerated = (): Compiled[] => {
  const compiled: Compiled[] = []
  for (let round = 0; compiled.length < CARDS; round++)
    for (const card of fc.sample(authoredCard, isNightly ? CARDS / 8 : { numRuns: CARDS, seed: 1 + round })) {
      const result = tryCompile(JSON.parse(JSON.stringify(card)))
      if (result) compiled.push(result)
    }
  return compiled.slice(0, CARDS)
}

// Web Crypto works on other threads, so cards are signed and verified at the same time.
describe(`${CARDS} generated cards, signed by this host`, () => {
  /** By document. */
  const cards: Record<string, JsonObject>[] = []

  beforeAll(async () => {
    // The document for A2A 1.0 is for the resolver. The others of a card have the same forms: a tenth of them is
    // enough.
    const sign = (compiled: Compiled, index: number) =>
      signDocuments(compiled, makeSigner(key), index % 10 === 0 ? signedNames : ['agent-card.json', '1.0'])
    cards.push(...(await Promise.all(compileGenerated().map(sign))))
  })

  it('have what signatures are difficult for', () => {
    const texts = cards.map(card => JSON.stringify(card['agent-card.json']))
    const wanted = {
      'text that is not ASCII': /[^\x20-\x7e]/,
      'empty values': /:(?:""|\[\]|\{\})/,
      'unknown fields': /"(?:x-note|ünïcode)"/,
      'odd numbers': /"params":\{[^}]*?:-?(?:0\.1|0\.5|1e-7|1e\+21|1\.5e\+300|10000000000000000|9007199254740992)\b/,
      apiKey: /"apiKeySecurityScheme":/,
      http: /"httpAuthSecurityScheme":/,
      oauth2: /"oauth2SecurityScheme":/,
      openIdConnect: /"openIdConnectSecurityScheme":/,
      mutualTLS: /"mtlsSecurityScheme":/,
      'several OAuth flows': /"(?:bearer|oauth|schemes)-(?:clientCredentials|deviceCode|implicit|password)":/,
    }
    const rare = Object.entries(wanted).filter(
      ([, pattern]) => texts.filter(text => pattern.test(text)).length < CARDS / 100,
    )
    expect(rare.map(([kind]) => kind)).toEqual([])
  })

  it('verify with every SDK', async () => {
    for (const verifier of cardVerifiers) {
      const received = cards.flatMap(card =>
        verifier.documents
          .filter((name, index) => index === 0 || (card[name] && card['agent.json']))
          .map(name => card[name] as JsonObject),
      )
      expect(received.length).toBeGreaterThanOrEqual(CARDS)
      const accepted = await Promise.all(received.map(card => verifier.accepts(card, keys)))
      const wrong = received.find((card, index) => accepted[index] !== canAccept(verifier, card))
      expect(wrong, verifier.name).toBeUndefined()
    }
  })

  it('have fields of A2A 0.3 that do not contradict those of 1.0', () => {
    // A scheme may have an unknown member with the name of a wrapper: what it is depends on the reader.
    const found = cards.flatMap(card =>
      Object.values(card)
        .flatMap(listContradictions)
        .filter(pointer => !pointer.startsWith('/securitySchemes/')),
    )
    expect(found).toEqual([])
  })

  it('carry two to four signatures in each hybrid', () => {
    const counts = cards.map(({ 'agent-card.json': hybrid = {} }) => (hybrid.signatures as Json[]).length)
    expect(counts.filter(count => count < 2 || count > 4)).toEqual([])
  })
})
