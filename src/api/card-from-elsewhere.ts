import { isCardHost } from '../http/user-agent.ts'
import type { Served, Sourced } from '../registry/edge/cards.ts'
import { isSpent } from '../registry/staleness.ts'
import { refreshStale } from '../sources/revalidate.ts'
import { cardUnavailable } from './errors.ts'

/** A card that comes from elsewhere, while there is one to serve. One that is old is read again behind the reader's back. */
export const cardFromElsewhere = (
  id: string,
  found: Sourced,
  { headers }: Request,
  env: Env,
  ctx: ExecutionContext,
): Served => {
  if (!isCardHost(headers)) refreshStale(id, found.source, env, ctx)
  return stillServed(found)
}

/** The same for who reads many at once, and must not have them all read again. */
export const stillServed = (found: Sourced): Served => {
  const { source } = found
  if (found.body === undefined || isSpent(source)) throw cardUnavailable(source)
  return found
}
