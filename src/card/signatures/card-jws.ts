import { AgentCard, canonicalizeAgentCard } from '@a2a-js/sdk'
import { base64url, type CryptoKey, FlattenedSign } from 'jose'
import { isJsonObject, type Json, type JsonObject, jsonEquals, omit } from '../../json/index.ts'
import type { PayloadRule } from '../model/index.ts'
import { listSignatures, type ParsedHeader, parseHeader } from './header.ts'
import type { PublicKey, Trust } from './key-sources.ts'
import { attempt, createPayloadWriter, payloads, writePayload } from './payloads.ts'
import type { ServedCards } from './served-cards.ts'
import { findKey, isSignatureOf, type SignatureResult, verifySignatures } from './verify-signatures.ts'

const trustMeanings: Readonly<Record<Trust, string>> = {
  given: 'The keys are those that you named.',
  origin:
    'The keys are those that the server of the card publishes: ' +
    'a valid signature shows that the card is from that server.',
  signer:
    'The signer of the card chose where its keys are (`jku`), so a valid signature shows only that the card was not ' +
    'changed since. Name the keys that you trust.',
}

/** A signature, and what it does not cover. `version` is set for one of another document for A2A 1.0. */
type VerifiedSignature = SignatureResult & { version?: '1.0'; omits?: string }

/** The result for a card: whether it is signed with a trusted key, by which signatures, and which SDKs accept them. */
export type Verification = {
  /** Whether each document has a valid signature by a trusted key. */
  verified: boolean
  /** The reasons why not, as sentences. */
  reason?: string
  trust: { basis: Trust; meaning: string }
  signatures: VerifiedSignature[]
  sdks: SdkVerdict[]
}

/** Verifies the documents of a card with keys, whose origin `trust` is. Never rejects. */
export const verifyCard = async (
  { plain, current }: ServedCards,
  keys: readonly PublicKey[],
  trust: Trust,
  now = Date.now(),
): Promise<Verification> => {
  const documents = [{ subject: 'The card', card: plain, version: {} }]
  if (current !== undefined && !jsonEquals(plain, current))
    documents.push({ subject: 'The document for A2A 1.0', card: current, version: { version: '1.0' } })
  const signatures: VerifiedSignature[] = []
  const reasons: string[] = []
  for (const { subject, card, version } of documents) {
    const results = await verifySignatures(card, keys, now)
    for (const result of results) {
      const omits = result.valid ? payloads[result.rule].omits : undefined
      signatures.push({ ...result, ...(omits !== undefined && { omits }), ...version })
    }
    const kind = listSignatures(card).length === 0 ? 'signatures' : 'valid signature'
    if (!results.some(({ valid }) => valid)) reasons.push(`${subject} has no ${kind}.`)
  }
  if (reasons.length === 0 && trust === 'signer') reasons.push(`No key is trusted. ${trustMeanings.signer}`)
  return {
    verified: reasons.length === 0,
    ...(reasons.length > 0 && { reason: reasons.join(' ') }),
    trust: { basis: trust, meaning: trustMeanings[trust] },
    signatures,
    sdks: await findSdkVerdicts({ plain, current }, keys, now),
  }
}

/** The verdict of an SDK, or another verifier, on the signatures of a card; `reason` completes a sentence about it. */
type SdkVerdict = { sdk: string; accepted: boolean; reason?: string }

type Sdk = {
  name: string
  /** The document that the SDK gets: by default, `plain`. */
  document?: keyof ServedCards
  /** Returns the text that the SDK verifies. May throw for what is no Agent Card. */
  payload: (card: JsonObject) => string | undefined
  /** Returns why the SDK skips a signature; undefined if it verifies it. */
  refuses?: (header: ParsedHeader) => string | undefined
  /** The reason why no signature is valid for what the SDK verifies. */
  reason: string | ((card: JsonObject) => string)
}

const refusedByPython = ({ alg }: ParsedHeader): string | undefined =>
  alg === 'ES256' || alg === 'RS256' ? undefined : 'accepts ES256 and RS256 only, in its examples'

const refusedByJavaScript = ({ typ }: ParsedHeader): string | undefined =>
  typ === undefined ? 'demands `typ` in the protected header' : undefined

const omitsEmpty = 'verifies the card without empty values and unknown fields, and no signature covers that text'

/** The SDKs that verify signatures, as their sources show, and verifiers without an SDK. */
const sdks: readonly Sdk[] = [
  {
    name: 'a2a-js 1.3, on the JSON of the card',
    payload: card => canonicalizeAgentCard(card as never),
    refuses: refusedByJavaScript,
    reason: card =>
      Array.isArray(card.supportedInterfaces)
        ? omitsEmpty
        : 'reads cards of A2A 1.0 only, and no signature covers what it reads of this one',
  },
  {
    name: 'a2a-js 1.3, through its resolver',
    document: 'current',
    payload: card => canonicalizeAgentCard(toResolved(card) as never),
    refuses: refusedByJavaScript,
    reason: card =>
      toResolved(card) === card
        ? omitsEmpty
        : 'loses the security schemes before it verifies the card (a2a-js #663), and no signature by a trusted key ' +
          'leaves them out',
  },
  {
    name: 'a2a-python 1.2 and later',
    payload: card => writePayload('proto', card),
    refuses: refusedByPython,
    reason: omitsEmpty,
  },
  {
    name: 'a2a-python up to 1.1',
    payload: card => writePayload('proto-ascii', card),
    refuses: refusedByPython,
    reason:
      'verifies the card without empty values and unknown fields, escaped to ASCII, and no signature covers that text',
  },
  {
    name: 'the rule of A2A 1.0 §8.4.1',
    payload: card => writePayload('served', card),
    reason: 'leaves out default values of fields that are not required, and no signature covers that text',
  },
  {
    name: 'a JWS library, on the served JSON',
    payload: card => writePayload('wire', card),
    reason: 'verifies the card exactly as it is served, and no signature covers that text',
  },
]

/** Returns for each SDK whether it accepts the signatures of a card, with these keys. */
export const findSdkVerdicts = (served: ServedCards, keys: readonly PublicKey[], now = Date.now()) =>
  Promise.all(sdks.map(sdk => findVerdict(sdk, served, keys, now)))

const findVerdict = async (sdk: Sdk, served: ServedCards, keys: readonly PublicKey[], now: number) => {
  const { name, document = 'plain', payload, reason } = sdk
  const rejected = (why: string): SdkVerdict => ({ sdk: name, accepted: false, reason: why })
  const card = served[document]
  if (card === undefined) return rejected('gets no card where it requests one for A2A 1.0')
  const signatures = listSignatures(card)
  if (signatures.length === 0) return rejected('finds no signatures')
  const text = attempt(() => payload(omit(card, 'signatures')))
  if (text === undefined) return rejected('cannot read the card')
  // Returns why a signature does not count; undefined if it is valid.
  const verify = async (signature: Json): Promise<string | undefined> => {
    const read = parseHeader(signature)
    if ('reason' in read) return `finds a signature that ${read.reason}`
    const refused = sdk.refuses?.(read.header)
    if (refused !== undefined) return refused
    const found = await findKey(read.header, keys, now)
    if ('reason' in found) return `finds a signature that ${found.reason}`
    return (await isSignatureOf(signature, read.header.alg, found.key, text)) ? undefined : NOT_COVERED
  }
  const reasons: string[] = []
  for (const signature of signatures) {
    const result = await verify(signature)
    if (result === undefined) return { sdk: name, accepted: true }
    reasons.push(result)
  }
  // A signature that is not valid says more than one that nobody could verify.
  if (!reasons.includes(NOT_COVERED)) return rejected(reasons[0] ?? '')
  return rejected(typeof reason === 'string' ? reason : reason(card))
}

const NOT_COVERED = 'not covered'

/** Returns what the resolver of a2a-js makes of a card: it reads a card with security of A2A 1.0 into another form. */
const toResolved = (card: JsonObject): JsonObject => {
  const { security, securitySchemes, skills } = card
  const [first] = isJsonObject(securitySchemes) ? Object.values(securitySchemes) : []
  const hasProtoSecurity =
    hasSchemes(security) ||
    (isJsonObject(first) && !('type' in first)) ||
    (Array.isArray(skills) && skills.some(skill => isJsonObject(skill) && hasSchemes(skill.security)))
  return hasProtoSecurity ? (AgentCard.fromJSON(card) as never) : card
}

const hasSchemes = (security: Json | undefined): boolean =>
  Array.isArray(security) && isJsonObject(security[0]) && 'schemes' in security[0]

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

/** The rules by which a card is signed with each key, the most widely accepted first. Signs equal payloads once. */
export const signedRules = ['proto', 'wire', 'served', 'proto-ascii'] as const satisfies PayloadRule[]

/** Signs a card by every rule that verifiers follow, in place of all its signatures. Returns these by digest, too. */
export const signCard = async (card: JsonObject, signer: CardSigner) => {
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
