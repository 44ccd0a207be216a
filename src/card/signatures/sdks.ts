import { AgentCard, canonicalizeAgentCard } from '@a2a-js/sdk'
import { isJsonObject, type Json, type JsonObject, omit } from '../../json/index.ts'
import { listSignatures, type ParsedHeader, parseHeader } from './header.ts'
import { attempt, writePayload } from './payloads.ts'
import type { PublicKey } from './public-keys.ts'
import type { ServedCards } from './served-cards.ts'
import { encodePayload, findKey, isSignatureOf } from './verify-signatures.ts'

/** Whether an SDK, or another verifier, accepts the signatures of a card; `reason` completes a sentence about it. */
export type SdkVerdict = { sdk: string; accepted: boolean; reason?: string }

type Sdk = {
  name: string
  /** The document that the SDK gets. */
  document: keyof ServedCards
  /** Returns the text that the SDK verifies. May throw for what is no Agent Card. */
  payload: (card: JsonObject) => string | undefined
  /** Returns why the SDK skips a signature; undefined if it verifies it. */
  refuses?: ((header: ParsedHeader) => string | undefined) | undefined
  /** Why no signature is valid for what the SDK verifies. */
  reason: (card: JsonObject) => string
}

const PYTHON_ALGORITHMS = ['ES256', 'RS256']

const refusedByPython = ({ alg }: ParsedHeader): string | undefined =>
  PYTHON_ALGORITHMS.includes(alg) ? undefined : `accepts ${PYTHON_ALGORITHMS.join(' and ')} only, in its examples`

const refusedByJavaScript = ({ typ }: ParsedHeader): string | undefined =>
  typ === undefined ? 'demands `typ` in the protected header' : undefined

const omitsEmpty = 'verifies the card without empty values and unknown fields, and no signature covers that text'

/**
 * What each SDK verifies, read in its source, and what verifiers without an SDK do. Other SDKs verify no signatures.
 */
const sdks: readonly Sdk[] = [
  {
    name: 'a2a-js 1.3, on the JSON of the card',
    document: 'plain',
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
        : 'loses the security schemes before it verifies the card (a2a-js #663), and no signature by a trusted key leaves them out',
  },
  {
    name: 'a2a-python 1.2 and later',
    document: 'plain',
    payload: card => writePayload('proto', card),
    refuses: refusedByPython,
    reason: () => omitsEmpty,
  },
  {
    name: 'a2a-python up to 1.1',
    document: 'plain',
    payload: card => writePayload('proto-ascii', card),
    refuses: refusedByPython,
    reason: () =>
      'verifies the card without empty values and unknown fields, escaped to ASCII, and no signature covers that text',
  },
  {
    name: 'the rule of A2A 1.0 §8.4.1',
    document: 'plain',
    payload: card => writePayload('served', card),
    reason: () => 'leaves out default values of fields that are not required, and no signature covers that text',
  },
  {
    name: 'a JWS library, on the served JSON',
    document: 'plain',
    payload: card => writePayload('wire', card),
    reason: () => 'verifies the card exactly as it is served, and no signature covers that text',
  },
]

/** Returns for each SDK whether it accepts the signatures of a card, with these keys. */
export const findSdkVerdicts = (
  served: ServedCards,
  keys: readonly PublicKey[],
  now = Date.now(),
): Promise<SdkVerdict[]> => Promise.all(sdks.map(sdk => judge(sdk, served[sdk.document], keys, now)))

const judge = async (
  { name, payload, refuses, reason }: Sdk,
  card: JsonObject | undefined,
  keys: readonly PublicKey[],
  now: number,
): Promise<SdkVerdict> => {
  const rejected = (why: string): SdkVerdict => ({ sdk: name, accepted: false, reason: why })
  if (card === undefined) return rejected('gets no card where it requests one for A2A 1.0')
  const signatures = listSignatures(card)
  if (signatures.length === 0) return rejected('finds no signatures')
  const text = encodePayload(attempt(() => payload(omit(card, 'signatures'))))
  if (text === undefined) return rejected('cannot read the card')
  const reasons: string[] = []
  for (const signature of signatures) {
    const result = await verifyAs({ text, refuses }, signature, keys, now)
    if (result === undefined) return { sdk: name, accepted: true }
    reasons.push(result)
  }
  // A signature that is not valid says more than one that nobody could verify.
  return rejected(reasons.includes(NOT_COVERED) ? reason(card) : (reasons[0] ?? ''))
}

const NOT_COVERED = 'not covered'

/** Returns why a signature does not count; undefined if it is valid. */
const verifyAs = async (
  { text, refuses }: Pick<Sdk, 'refuses'> & { text: string },
  signature: Json,
  keys: readonly PublicKey[],
  now: number,
): Promise<string | undefined> => {
  const read = parseHeader(signature)
  if ('reason' in read) return `finds a signature that ${read.reason}`
  const refused = refuses?.(read.header)
  if (refused !== undefined) return refused
  const found = await findKey(read.header, keys, now)
  if ('reason' in found) return `finds a signature that ${found.reason}`
  return (await isSignatureOf(signature, read.header, found.key, text)) ? undefined : NOT_COVERED
}

/** Returns what the resolver of a2a-js makes of a card: it reads a card with security of A2A 1.0 into another form. */
const toResolved = (card: JsonObject): JsonObject =>
  hasProtoSecurity(card) ? (AgentCard.fromJSON(card) as never) : card

const hasProtoSecurity = ({ security, securitySchemes, skills }: JsonObject): boolean => {
  const [first] = isJsonObject(securitySchemes) ? Object.values(securitySchemes) : []
  return (
    hasSchemes(security) ||
    (isJsonObject(first) && !('type' in first)) ||
    (Array.isArray(skills) && skills.some(skill => isJsonObject(skill) && hasSchemes(skill.security)))
  )
}

const hasSchemes = (security: Json | undefined): boolean =>
  Array.isArray(security) && isJsonObject(security[0]) && 'schemes' in security[0]
