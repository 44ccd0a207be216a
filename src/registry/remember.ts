import { remember } from './edge.ts'
import { rememberExtended } from './edge-extended.ts'
import { rememberProfile } from './edge-profiles.ts'
import type { Registered, Registration, Removed } from './write.ts'

/** Makes a registration visible in this isolate at once: to who reads a card of it, and to who calls the agent. */
export const rememberRegistered = (registration: Registration, registered: Registered): void => {
  const { id, visibility, representations, profile, extended } = registration
  const { seq, tiersGone } = registered
  const modified = new Date(registered.modified).toUTCString()
  const written = { seq, modified, representations: { ...(visibility === 'public' && representations), profile } }
  remember(id, written)
  rememberProfile(id, written)
  for (const { tier, representations } of extended) rememberExtended(id, tier, { seq, modified, representations })
  forgetTiers(id, seq, tiersGone)
}

/** Makes a removal visible in this isolate at once. */
export const rememberRemoved = (id: string, { seq, tiersGone }: Removed): void => {
  remember(id, gone(seq))
  rememberProfile(id, gone(seq))
  forgetTiers(id, seq, tiersGone)
}

const forgetTiers = (id: string, seq: number, tiers: readonly string[]): void => {
  for (const tier of tiers) rememberExtended(id, tier, gone(seq))
}

const gone = (seq: number) => ({ seq, modified: '', representations: {} })
