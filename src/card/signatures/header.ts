import { hasDuplicateName, isJsonObject, type Json, type JsonObject } from '../../json/index.ts'
import { MAX_SIGNATURES } from '../../limits.ts'

/** A protected header that a signature of a card can have. */
export type SignatureHeader = { alg: string; kid: string; typ?: string; jku?: string }

/** A protected header of which only the algorithm and the name of the key are checked. */
export type ParsedHeader = JsonObject & Pick<SignatureHeader, 'alg' | 'kid'>

/** The algorithms that are verified: ECDSA, EdDSA, and RSA as a2a-python's examples have it. */
const ALGORITHMS = ['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519', 'RS256'] as const

/** Lists the signatures of a card, at most `MAX_SIGNATURES`. */
export const listSignatures = ({ signatures }: JsonObject): Json[] =>
  Array.isArray(signatures) ? signatures.slice(0, MAX_SIGNATURES) : []

/** Some signers add the padding that base64url in a JWS does not have, and most verifiers ignore it. */
const isBase64Url = (value: Json | undefined): value is string =>
  typeof value === 'string' && /^[\w-]*={0,2}$/.test(value)

/** Parses the protected header of a signature; or returns why nobody can verify it. */
export const parseHeader = (signature: Json): { header: ParsedHeader } | { reason: string } => {
  if (!isJsonObject(signature) || !isBase64Url(signature.protected) || !isBase64Url(signature.signature))
    return { reason: 'has no `protected` and `signature` in base64url' }
  const header = decodeHeader(signature.protected)
  if (header === undefined)
    return { reason: 'has a `protected` that is not a JSON object in base64url, or has a name twice' }
  const { alg, kid } = header
  if (typeof alg !== 'string') return { reason: 'has no algorithm' }
  if (typeof kid !== 'string' || kid === '') return { reason: 'names no key: its protected header has no `kid`' }
  return { header: { ...header, alg, kid } }
}

/** Reads the protected header of a signature; or returns why no verifier should accept it. */
export const readHeader = (signature: Json): { header: SignatureHeader } | { reason: string } => {
  const parsed = parseHeader(signature)
  if ('reason' in parsed) return parsed
  const { alg, kid, typ, jku, crit, b64 } = parsed.header
  if (!ALGORITHMS.some(known => known === alg))
    return { reason: `uses ${JSON.stringify(alg.slice(0, 20))}, which is none of ${ALGORITHMS.join(', ')}` }
  // JOSE+JSON means a JWS in JSON (RFC 7515 §4.1.9), which a signature of a card is, too.
  if (typ !== undefined && typ !== 'JOSE' && typ !== 'JOSE+JSON')
    return { reason: 'is no signature of a card: its `typ` is not JOSE' }
  if (crit !== undefined || b64 !== undefined)
    return { reason: 'demands extensions (`crit`, `b64`) that no verifier of cards has' }
  const unprotected = isJsonObject(signature) && isJsonObject(signature.header) ? Object.keys(signature.header) : []
  if (unprotected.some(name => name in parsed.header || name === 'crit'))
    return { reason: 'repeats members of its protected header in the unprotected one' }
  return { header: { alg, kid, ...(typ !== undefined && { typ }), ...(typeof jku === 'string' && { jku }) } }
}

/** The linter reads headers, too, and runs where no library for signatures is loaded. */
const decodeHeader = (text: string): JsonObject | undefined => {
  try {
    const base64 = text.replaceAll('-', '+').replaceAll('_', '/')
    const bytes = Uint8Array.from(atob(base64), character => character.charCodeAt(0))
    const json = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
    const header: Json = JSON.parse(json)
    return isJsonObject(header) && !hasDuplicateName(json, header) ? header : undefined
  } catch {
    return undefined
  }
}
