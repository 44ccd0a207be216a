import { type Handler, HttpError, isLocalName, requestHostname } from '../../http/index.ts'
import { respondWithDid } from '../../signing/index.ts'
import { resolveSite } from './site.ts'

/**
 * `GET /.well-known/did.json`: the public keys as the DID document of the host name (`did:web`). Only for the host name of `PUBLIC_URL`
 * and those that agents claim: under any other, whoever has pointed it here would get keys of this host into a DID of theirs.
 */
export const getDidDocument: Handler = async (request, env, ctx) => {
  const { origin, isOwn } = await resolveSite({ request, env, ctx })
  const { hostname, host } = new URL(origin)
  const isRequested = hostname === requestHostname(request)
  if (isRequested && (isOwn || isLocalName(hostname))) return respondWithDid(host, request, env)
  throw new HttpError(
    404,
    'unknown-host',
    'This host has no DID of this name: it is neither that of PUBLIC_URL, nor in `hosts` of an agent.',
  )
}
