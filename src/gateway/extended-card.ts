import type { Refusal } from '../a2a/verdict.ts'
import { highestTier } from '../auth/permissions.ts'
import type { Authentication } from '../auth/principal.ts'
import type { CallProfile } from '../card/call-profile.ts'
import type { RepresentationName } from '../card/model/representation-names.ts'
import type { CachedDocument } from '../registry/edge/cards.ts'
import { readExtended } from '../registry/edge/edge-extended.ts'
import { isExpired } from '../registry/staleness.ts'
import { checkReadAccess } from './access.ts'
import { unavailable } from './visit.ts'

/** The extended card that is a caller's, in the dialect that it asks for; or why there is none for it. */
export const loadExtendedCard = async (
  caller: Authentication,
  id: string,
  profile: CallProfile,
  dialect: RepresentationName,
  env: Env,
  ctx: ExecutionContext,
): Promise<CachedDocument | Refusal> => {
  const refusal = checkReadAccess(caller, id)
  if (refusal) return refusal
  const tier = highestTier(caller, profile)
  if (tier === undefined) return { refused: 'extended-card-not-configured' }
  const card = await readExtended(id, tier, dialect, env, ctx).then(
    card => (card?.source && isExpired(card.source) ? unavailable : card),
    () => unavailable,
  )
  return card ?? { refused: 'extended-card-not-configured' }
}
