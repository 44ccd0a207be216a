import { isLocalName, problem, requestHostname } from '../http/index.ts'
import { KEY_SET_MAX_AGE_SECONDS } from '../limits.ts'
import { createDidDocument, findSigningKeys } from '../signing/index.ts'
import { endpoint, json } from './contract/index.ts'
import { DidDocument, JwkSet } from './schemas/index.ts'
import { resolveSite } from './site.ts'

/** Without `stale-while-revalidate`: a verifier that finds no key must get the current set when it fetches it again. */
const headers = { 'Cache-Control': `public, max-age=${KEY_SET_MAX_AGE_SECONDS}` }

/** `GET /.well-known/jwks.json`: the public keys of this host (RFC 7517 §5), the one that signs first. */
export const getKeySet = endpoint(
  {
    tag: 'documents',
    summary: 'Get the public keys with which this host signs',
    access: 'public',
    responses: { 200: json('A JWK Set (RFC 7517).', JwkSet, { type: 'application/jwk-set+json' }) },
    validated: true,
    problems: ['no-signing-key'],
  },
  async ({ env }) => {
    const keys = await findSigningKeys(env)
    return keys ? { body: { keys: keys.published }, headers } : noSigningKey()
  },
)

/**
 * `GET /.well-known/did.json`: the public keys as the DID document of the host name (`did:web`). Only for the host name
 * of `PUBLIC_URL` and those that agents claim: anyone can point another name here, and would get a DID with our keys.
 */
export const getDidDocument = endpoint(
  {
    tag: 'documents',
    summary: 'Get these keys as the DID document of the host name',
    description: 'Only for the host name of `PUBLIC_URL` and those that agents claim.',
    access: 'public',
    responses: {
      200: json('The document of a DID of the method `web`.', DidDocument, { type: 'application/did+json' }),
    },
    validated: true,
    problems: ['no-signing-key', 'unknown-host'],
  },
  async ({ request, env, ctx }) => {
    const { origin, isOwn } = await resolveSite({ request, env, ctx })
    const { hostname, host } = new URL(origin)
    if (hostname !== requestHostname(request) || !(isOwn || isLocalName(hostname)))
      return problem('unknown-host', 'This name is neither that of PUBLIC_URL, nor in `hosts` of an agent.')
    const keys = await findSigningKeys(env)
    return keys ? { body: createDidDocument(host, keys), headers } : noSigningKey()
  },
)

const noSigningKey = () => problem('no-signing-key', 'This host has no key to sign with, so it publishes none.')
