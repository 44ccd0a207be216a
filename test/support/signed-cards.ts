import { createPrivateKey } from 'node:crypto'
import { FlattenedSign } from 'jose'
import { type PayloadRule, writePayload } from '../../src/card/signatures/index.ts'
import { type JsonObject } from '../../src/json/json.ts'
import { makeSigningKey } from './signing-key.ts'

/** A key of an author: what signs, and what is published. */
export type AuthorKey = { kid: string; privateJwk: JsonObject; publicJwk: JsonObject }

/** Makes a key of an author for ES256. */
export const makeAuthorKey = (kid: string, more: JsonObject = {}): AuthorKey => {
  const { d, ...publicJwk } = makeSigningKey()
  return { kid, privateJwk: { ...publicJwk, d } as JsonObject, publicJwk: { ...publicJwk, kid, ...more } as JsonObject }
}

/** How a card is signed: by which rule, and with what else in the protected header. */
type SignatureForm = { rule?: PayloadRule; header?: JsonObject }

/** Adds a signature to those of a card. */
export const signAs = async (
  card: JsonObject,
  { kid, privateJwk }: AuthorKey,
  { rule = 'wire', header = {} }: SignatureForm = {},
): Promise<JsonObject> => {
  const payload = new TextEncoder().encode(writePayload(rule, card))
  const signer = new FlattenedSign(payload).setProtectedHeader({ alg: 'ES256', kid, typ: 'JOSE', ...header })
  const key = createPrivateKey({ key: privateJwk as never, format: 'jwk' })
  const { protected: encoded, signature } = await signer.sign(key, { crit: { 'x-demand': false } })
  const signatures = Array.isArray(card.signatures) ? card.signatures : []
  return { ...card, signatures: [...signatures, { protected: encoded, signature }] } as JsonObject
}
