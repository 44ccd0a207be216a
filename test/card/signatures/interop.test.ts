import { AgentCard } from '@a2a-js/sdk'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { loadManifests } from '../../../cli/manifests/load.ts'
import { createEchoCard } from '../../../examples/echo-agent/app.ts'
import { type Compiled, compileDocument } from '../../../src/card/compile/index.ts'
import { findSdkVerdicts, verifySignatures } from '../../../src/card/signatures/index.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { parseJson } from '../../../src/json/parse.ts'
import { registration } from '../../support/cards/compile.ts'
import { completeCards } from '../../support/cards/complete.ts'
import { corpus, ownCorpus } from '../../support/cards/reference.ts'
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
  const result = compileDocument(document, { ...registration, ...(fetched && { fetched }) })
  return 'compiled' in result ? result.compiled : undefined
}

/** Compiles the sample manifests. The card of an MCP server is not to be had without the server. */
const examples = loadManifests(['examples/cards'], registration.requestOrigin).drafts.flatMap(draft => {
  const echo = AgentCard.toJSON(createEchoCard()) as JsonObject
  const isMcp = (draft.manifest.upstream as JsonObject | undefined)?.mcp !== undefined
  return isMcp ? [] : [[draft.file, draft.compiled ?? tryCompile(draft.manifest, echo)] as const]
})

const corpusCards = (isNightly ? corpus : ownCorpus).flatMap(({ file, text }) => {
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
describe('a card that this host signs', () => {
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
