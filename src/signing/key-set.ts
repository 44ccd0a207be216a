import { type Handler, problem, respondWithDocument, toDidWeb } from '../http/index.ts'
import { KEY_SET_MAX_AGE_SECONDS } from '../limits.ts'
import { findSigningKeys, listKeys, type SigningKeys } from './signing-keys.ts'

/** Without `stale-while-revalidate`: a verifier that finds no key must get the current set when it fetches it again. */
const CACHE_CONTROL = `public, max-age=${KEY_SET_MAX_AGE_SECONDS}`

/** `GET /.well-known/jwks.json`: the public keys of this host (RFC 7517 §5), the one that signs first. */
export const getKeySet: Handler = async ({ headers }, env) =>
  respondWithDocument({ keys: (await requireKeys(env)).published }, headers, {
    'Cache-Control': CACHE_CONTROL,
    'Content-Type': 'application/jwk-set+json',
  })

/** Returns the response to a request for the DID document of a host, `cards.example.com` or `127.0.0.1:8787`. */
export const respondWithDid = async (host: string, { headers }: Request, env: Env): Promise<Response> =>
  respondWithDocument(createDidDocument(host, await requireKeys(env)), headers, {
    'Cache-Control': CACHE_CONTROL,
    'Content-Type': 'application/did+json',
  })

/** Returns the document of the `did:web` of a host. Includes the next key: verifiers may not fetch it again in time. */
const createDidDocument = (host: string, keys: SigningKeys) => {
  const did = toDidWeb(host)
  const listed = listKeys(keys)
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/suites/jws-2020/v1'],
    id: did,
    verificationMethod: listed.map(({ kid, publicKey }) => ({
      id: `${did}#${kid}`,
      type: 'JsonWebKey2020',
      controller: did,
      publicKeyJwk: publicKey,
    })),
    assertionMethod: listed.map(({ kid }) => `${did}#${kid}`),
  }
}

/** Returns the keys of this host. Throws where it has none. */
const requireKeys = async (env: Env): Promise<SigningKeys> => {
  const keys = await findSigningKeys(env)
  if (keys === undefined) throw problem('no-signing-key', 'This host has no key to sign with, so it publishes none.')
  return keys
}
