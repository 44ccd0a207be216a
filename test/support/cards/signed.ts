import { calculateJwkThumbprint, FlattenedSign, importJWK, type JWK } from 'jose'
import type { Compiled } from '../../../src/card/compile/index.ts'
import { type RepresentationName, signedNames } from '../../../src/card/model/constants.ts'
import type { PayloadRule } from '../../../src/card/model/registration-report.ts'
import { type CardSigner, type PublicKey, signCard, writePayload } from '../../../src/card/signatures/index.ts'
import { isJsonObject, type Json, type JsonObject } from '../../../src/json/json.ts'
import { makeSigningKey } from '../signing-key.ts'

/** The key set of the host that signs cards in tests, unless they name another one. */
const KEY_SET_URL = 'https://host.example/.well-known/jwks.json'

/** A key that signs cards, and its public half: as it is published, and as `verifySignatures` has it. */
export type TestKey = CardSigner['keys'][number] & { publicJwk: JWK & JsonObject; publicKey: PublicKey }

/** Makes a key of ES256. Its name is its thumbprint, as that of a host's key is, unless it has another `kid`. */
export const makeKey = async (kid?: string): Promise<TestKey> => {
  const { d, ...members } = makeSigningKey()
  const thumbprint = await calculateJwkThumbprint(members)
  const privateKey = (await importJWK({ ...members, d }, 'ES256')) as CryptoKey
  const publicJwk = { ...members, kid: kid ?? thumbprint, alg: 'ES256' } as JWK & JsonObject & { kid: string }
  return {
    kid: publicJwk.kid,
    privateKey,
    publicJwk,
    publicKey: { jwk: publicJwk, kid: publicJwk.kid, thumbprint, from: KEY_SET_URL },
  }
}

/** Signs cards; what it has signed before keeps its signature. */
export type TestSigner = CardSigner & { known: Record<string, string> }

/** Returns what signs cards with a key, as a host does. */
export const makeSigner = (key: TestKey): TestSigner => ({ keys: [key], jku: KEY_SET_URL, known: {} })

/** Signs a card by every rule, as a host does whose key set is at `jku`. */
export const signAtHost = async (card: JsonObject, key: TestKey, jku: string): Promise<JsonObject> =>
  (await signCard(card, { ...makeSigner(key), jku })).document

/** How an author signs a card: by which rule, and with what else in the protected header. */
type SignatureForm = { rule?: PayloadRule; header?: JsonObject }

/** Adds one signature to those of a card, as its author does. */
export const signAs = async (
  card: JsonObject,
  { kid, privateKey }: Pick<TestKey, 'kid' | 'privateKey'>,
  { rule = 'wire', header = {} }: SignatureForm = {},
): Promise<JsonObject> => {
  const payload = new TextEncoder().encode(writePayload(rule, card))
  const signing = new FlattenedSign(payload).setProtectedHeader({ alg: 'ES256', kid, typ: 'JOSE', ...header })
  // The option lets jose sign a header that it would refuse.
  const { protected: encoded, signature } = await signing.sign(privateKey, { crit: { 'x-demand': false } })
  const signatures = Array.isArray(card.signatures) ? card.signatures : []
  return { ...card, signatures: [...signatures, { protected: encoded, signature }] } as JsonObject
}

/** Signs the documents of a compiled card that this host signs. */
export const signDocuments = async (
  { documents }: Compiled,
  signer: TestSigner,
  names: readonly RepresentationName[] = signedNames,
): Promise<Record<string, JsonObject>> => {
  const signed: Record<string, JsonObject> = {}
  for (const name of names) {
    const { document, signatures } = await signCard(documents[name], signer)
    Object.assign(signer.known, signatures)
    signed[name] = document
  }
  return signed
}

/** Whether a document has security schemes. */
export const hasSchemes = ({ securitySchemes }: Record<string, Json | undefined>): boolean =>
  isJsonObject(securitySchemes) && Object.keys(securitySchemes).length > 0
