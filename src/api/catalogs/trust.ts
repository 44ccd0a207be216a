import { isLocalName, parseUrl, sha256Hex, toDidWeb } from '../../http/index.ts'
import { canonicalJson, type JsonObject } from '../../json/index.ts'
import type { CatalogAgent } from '../../registry/tables/index.ts'
import { findSigningKeys, signDetached } from '../../signing/index.ts'

/**
 * Who vouches for an agent, and by what (AI Catalog, "Trust Manifest"; ARD 0.91 §4.5): the members that both formats know. `identity` has
 * the domain of the entry's identifier, as both demand.
 */
export type TrustManifest = {
  identity: string
  identityType: 'did'
  trustSchema: { identifier: string; version: string; verificationMethods: string[] }
  attestations: { type: string; uri: string }[]
}

/** The rules by which the card is signed. */
const CARD_SIGNING = {
  identifier: 'https://a2a-protocol.org/latest/specification/#84-agent-card-signing',
  version: '1.0',
  verificationMethods: ['did'],
}

/**
 * Returns who vouches for an agent whose card this host signs; undefined for any other. The evidence is the card itself: its signatures
 * are made with the keys of the identity. A digest of the card is not in it, because caches may have an older card than the catalog.
 */
export const describeTrust = (
  { origin, isSignedByHost }: Pick<CatalogAgent, 'origin' | 'isSignedByHost'>,
  cardUrl: string,
): TrustManifest | undefined => {
  const identity = isSignedByHost ? didOf(origin) : undefined
  if (identity === undefined) return undefined
  const attestations = [{ type: 'a2a-agent-card-signature', uri: cardUrl }]
  return { identity, identityType: 'did', trustSchema: CARD_SIGNING, attestations }
}

/**
 * Returns the DID of the host at an origin (did:web); undefined where there is none that AI Catalog accepts: it allows no port, no address
 * and no name of one machine.
 */
export const didOf = (origin: string): string | undefined => {
  const url = parseUrl(origin)
  const isDomain = url !== null && /^[a-z0-9.-]+\.[a-z][a-z0-9-]*$/.test(url.host) && !isLocalName(url.hostname)
  return isDomain && url.protocol === 'https:' ? toDidWeb(url.host) : undefined
}

/** The text of a catalog, and its entity tag where that is not the digest of its bytes. */
export type RenderedCatalog = { body: string; etag?: string }

/** The type of the signature, so that it is never taken for that of a card, which the same key makes. */
const SIGNATURE_TYPE = 'ai-catalog+jws'

/**
 * Signs an AI Catalog as its host: a detached JWS (RFC 7515, appendix F) over its canonical form (RFC 8785), whose key is named by the DID
 * of the host. A host without a key returns it as it is. `origin` must be one that the owner of the host has decided on.
 */
export const signCatalog = async (
  catalog: JsonObject & { host: JsonObject },
  origin: string,
  env: Env,
): Promise<RenderedCatalog> => {
  const did = didOf(origin)
  const keys = did === undefined ? undefined : await findSigningKeys(env)
  if (!keys) return { body: JSON.stringify(catalog) }
  const { kid } = keys.current
  // The catalog is attributed to the operator that signs it.
  const attributed = { ...catalog, host: { ...catalog.host, identifier: did } }
  const signature = await signDetached(attributed, { typ: SIGNATURE_TYPE, kid: `${did}#${kid}` }, keys.current)
  return {
    body: JSON.stringify({ ...attributed, signature }),
    // Each signature has other bytes and the same meaning. A weak entity tag identifies what does not change (RFC 9110 §8.8.1).
    etag: `W/"${await sha256Hex(`${kid}.${canonicalJson(attributed)}`)}"`,
  }
}
