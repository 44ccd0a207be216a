import type { Refusal } from '../../a2a/verdict.ts'
import type { Caller } from '../../auth/caller.ts'
import { highestTier } from '../../auth/may.ts'
import type { CallProfile } from '../../card/call-profile.ts'
import type { RepresentationName } from '../../card/representation-names.ts'
import type { Served } from '../../registry/edge.ts'
import { readExtended } from '../../registry/edge-extended.ts'
import { isSpent } from '../staleness.ts'
import { readerRefusal } from './admission.ts'
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
