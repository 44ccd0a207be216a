import { isCardHost } from '../http/user-agent.ts'
import type { CachedDocument, RemoteDocument } from '../registry/edge/cards.ts'
import { isExpired } from '../registry/staleness.ts'
import { revalidate } from '../sources/revalidate.ts'
import { upstreamCardUnavailable } from './errors.ts'

/** A card that comes from elsewhere, while there is one to serve. One that is old is read again behind the reader's back. */
export const cardFromElsewhere = (
  id: string,
  found: RemoteDocument,
  { headers }: Request,
  env: Env,
  ctx: ExecutionContext,
): CachedDocument => {
  if (!isCardHost(headers)) revalidate(id, found.source, env, ctx)
  return stillServed(found)
}

/** The same for who reads many at once, and must not have them all read again. */
export const stillServed = (found: RemoteDocument): CachedDocument => {
  const { source } = found
  if (found.body === undefined || isExpired(source)) throw upstreamCardUnavailable(source)
  return found
}
