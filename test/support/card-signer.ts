import { calculateJwkThumbprint, importJWK } from 'jose'
import { type CardSigner, signCard } from '../../src/card/signatures/index.ts'
import type { JsonObject } from '../../src/json/json.ts'
import { makeSigningKey } from './signing-key.ts'

/** A key of a test, its public part, and what it makes of cards. */
export type TestSigner = {
  kid: string
  publicKey: JsonObject
  /** Signs a card by every rule; with `narrow`, also what it is without its security schemes, and only that with `only`. */
  sign: (card: JsonObject, options?: { narrow?: 'too' | 'only' }) => Promise<JsonObject>
}

/** Makes a signer whose signatures point to a key set. */
export const makeTestSigner = async (jku: string): Promise<TestSigner> => {
  const { d, ...jwk } = makeSigningKey()
  const kid = await calculateJwkThumbprint(jwk)
  const privateKey = (await importJWK({ ...jwk, d }, 'ES256')) as CryptoKey
  const key = { kid, privateKey }
  return {
    kid,
    publicKey: { ...jwk, kid, alg: 'ES256', use: 'sig' } as JsonObject,
    sign: async (card, { narrow } = {}) => {
      const signer: CardSigner = {
        keys: narrow === 'only' ? [] : [key],
        ...(narrow && { narrowKey: key }),
        ...{ jku, known: {} },
      }
      return (await signCard(card, signer)).document
    },
  }
}
