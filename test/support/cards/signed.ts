import { calculateJwkThumbprint, importJWK, type JWK } from 'jose'
import type { Compiled } from '../../../src/card/compile/index.ts'
import { type RepresentationName, signedNames } from '../../../src/card/model/constants.ts'
import { type CardSigner, type PublicKey, signCard } from '../../../src/card/signatures/index.ts'
import { isJsonObject, type Json, type JsonObject } from '../../../src/json/json.ts'
import { makeSigningKey } from '../signing-key.ts'

/** A key that signs cards, and its public half as a JWK and as `verifySignatures` has it. */
export type TestKey = CardSigner['keys'][number] & { jwk: JWK; publicKey: PublicKey }

/** Makes a key of ES256. */
export const makeKey = async (): Promise<TestKey> => {
  const { d, ...members } = makeSigningKey()
  const kid = await calculateJwkThumbprint(members)
  const jwk = { ...members, kid, alg: 'ES256' }
  return {
    kid,
    privateKey: (await importJWK({ ...members, d }, 'ES256')) as CryptoKey,
    jwk,
    publicKey: { jwk: jwk as JsonObject, kid, thumbprint: kid, from: 'https://host.example/.well-known/jwks.json' },
  }
}

/** Signs cards; what it has signed before keeps its signature. */
export type TestSigner = CardSigner & { known: Record<string, string> }

/** Returns what signs cards with a key. */
export const makeSigner = (key: CardSigner['keys'][number], narrowKey?: CardSigner['keys'][number]): TestSigner => ({
  keys: [key],
  narrowKey,
  jku: 'https://host.example/.well-known/jwks.json',
  known: {},
})

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
