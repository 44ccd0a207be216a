import { respondWithDocument } from '../http/document.ts'
import { HttpError } from '../http/errors.ts'
import type { Handler } from '../http/handler.ts'
import { log } from '../http/log.ts'
import { getSigningKeys } from './keys.ts'

/** Without `stale-while-revalidate`: a verifier that finds no key must get the current set when it fetches it again. */
const CACHE_CONTROL = 'public, max-age=300'

/** `GET /.well-known/jwks.json`: the public keys of this host (RFC 7517 §5), the one that signs first. */
export const getKeySet: Handler = async ({ headers }, env) => {
  const keys = await getSigningKeys(env)
  if ('misconfigured' in keys) {
    if (env.SIGNING_KEY) log('error', 'signing-key', { 'calling_card.detail': keys.misconfigured })
    throw new HttpError(404, 'no-signing-key', 'This host has no key to sign with, so it publishes none.')
  }
  return respondWithDocument({ keys: keys.published }, headers, {
    'Cache-Control': CACHE_CONTROL,
    'Content-Type': 'application/jwk-set+json',
  })
}
