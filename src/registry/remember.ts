import { remember } from './edge.ts'
import { rememberProfile } from './edge-profiles.ts'
import type { Registered, Registration, Removed } from './write.ts'

/** Makes a registration visible in this isolate at once: to who reads the card, and to who calls the agent. */
export const rememberRegistered = (registration: Registration, { seq, modified }: Registered): void => {
  const { id, visibility, representations, profile } = registration
  const written = {
    seq,
    modified: new Date(modified).toUTCString(),
    representations: { ...(visibility === 'public' && representations), profile },
  }
  remember(id, written)
  rememberProfile(id, written)
}

/** Makes a removal visible in this isolate at once. */
export const rememberRemoved = (id: string, { seq }: Removed): void => {
  const gone = { seq, modified: '', representations: {} }
  remember(id, gone)
  rememberProfile(id, gone)
}
