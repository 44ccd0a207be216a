import { base64url, type CryptoKey, FlattenedSign } from 'jose'
import { type JsonObject, omit } from '../../json/index.ts'
import { createPayloadWriter, type PayloadRule } from './payloads.ts'

/** A private key of ES256, which every SDK accepts, with its public name. */
type SignerKey = { kid: string; privateKey: CryptoKey }

/** The keys and the earlier signatures with which the cards of one agent are signed. */
export type CardSigner = {
  /** The keys that sign each card, the one that stays longest first: some verifiers stop at a key they do not know. */
  keys: readonly SignerKey[]
  /** The URL of the public keys of `keys`. */
  jku: string
  /** Signatures that were made before, by the digest of what they sign: they stay, so that entity tags do. */
  known: Readonly<Record<string, string>>
  /** Those that it has made: documents of one agent share signatures. */
  made?: Map<string, Promise<string>>
}

/** A card with the signatures of this host, and these by the digest of what they sign. */
type SignedCard = { document: JsonObject; signatures: Record<string, string>; rules: PayloadRule[] }

/** The rules by which a card is signed with each key, the most widely accepted first. Signs equal payloads once. */
export const signedRules = ['proto', 'wire', 'served', 'proto-ascii'] as const satisfies PayloadRule[]

/** Signs a card by every rule that verifiers follow, in place of all signatures that it has. */
export const signCard = async (card: JsonObject, signer: CardSigner): Promise<SignedCard> => {
  const unsigned = omit(card, 'signatures')
  const write = createPayloadWriter(unsigned)
  const written = new Map<string, PayloadRule>()
  for (const rule of signedRules) {
    const coversUnknown = rule === 'wire' || rule === 'served'
    const payload = coversUnknown && isJwt(unsigned) ? undefined : write(rule)
    if (payload !== undefined && !written.has(payload)) written.set(payload, rule)
  }
  const made = await Promise.all(
    signer.keys.flatMap(key => [...written.keys()].map(payload => sign(payload, key, signer))),
  )
  const signatures = made.map(({ protected: header, signature }) => ({ protected: header, signature }))
  return {
    document: { ...unsigned, signatures },
    signatures: Object.fromEntries(made.map(({ digest, signature }) => [digest, signature])),
    rules: [...written.values()],
  }
}

/** The claims that RFC 7519 §4.1 registers. */
const JWT_CLAIMS = ['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti']

/**
 * Checks whether a card with a signature of all its members would be a JWT of this host as well, with claims that the
 * agent chose, for all who do not check `typ`. Other rules leave unknown members out.
 */
const isJwt = (card: JsonObject): boolean => JWT_CLAIMS.some(claim => Object.hasOwn(card, claim))

const sign = async (payload: string, { kid, privateKey }: SignerKey, { jku, known, made }: CardSigner) => {
  // The order of the members is that of the specification's example.
  const header = { alg: 'ES256', typ: 'JOSE', kid, jku }
  const encodedHeader = base64url.encode(JSON.stringify(header))
  // The digest names the key, too: its input is what the signature signs, with the header.
  const input = new TextEncoder().encode(`${encodedHeader}.${payload}`)
  const digest = base64url.encode(new Uint8Array(await crypto.subtle.digest('SHA-256', input)))
  const make = (): Promise<string> => {
    const signing = new FlattenedSign(new TextEncoder().encode(payload)).setProtectedHeader(header).sign(privateKey)
    const signature = signing.then(({ signature }) => signature)
    made?.set(digest, signature)
    return signature
  }
  const before = Object.hasOwn(known, digest) ? known[digest] : undefined
  return { digest, protected: encodedHeader, signature: before ?? (await (made?.get(digest) ?? make())) }
}
