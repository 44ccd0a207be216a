import type { Refusal } from '../a2a/verdict.ts'
import { highestTier } from '../auth/permissions.ts'
import type { Caller } from '../auth/principal.ts'
import type { CallProfile } from '../card/call-profile.ts'
import type { RepresentationName } from '../card/model/representation-names.ts'
import type { Served } from '../registry/edge/cards.ts'
import { readExtended } from '../registry/edge/edge-extended.ts'
import { isSpent } from '../registry/staleness.ts'
import { readerRefusal } from './access.ts'
import { unavailable } from './visit.ts'

/** The extended card that is a caller's, in the dialect that it asks for; or why there is none for it. */
export const extendedCardFor = async (
  caller: Caller,
  id: string,
  profile: CallProfile,
  dialect: RepresentationName,
  env: Env,
  ctx: ExecutionContext,
): Promise<Served | Refusal> => {
  const refusal = readerRefusal(caller, id)
  if (refusal) return refusal
  const tier = highestTier(caller, profile)
  if (tier === undefined) return { refused: 'extended-card-not-configured' }
  const card = await readExtended(id, tier, dialect, env, ctx).then(
    card => (card?.source && isSpent(card.source) ? unavailable : card),
    () => unavailable,
  )
  return card ?? { refused: 'extended-card-not-configured' }
}
