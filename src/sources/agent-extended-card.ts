import { compileAgentExtendedCard, parseStored } from '../card/compile/index.ts'
import type { CallProfile } from '../card/index.ts'
import type { Manifest } from '../card/manifest/index.ts'
import type { RepresentationName } from '../card/model/index.ts'
import { log } from '../http/index.ts'
import type { JsonObject } from '../json/index.ts'
import { ClockCache } from '../registry/edge/index.ts'
import { getRegistry } from '../registry/store/index.ts'

/** The extended card in every representation; its manifest and the origin of this host decide how it is signed. */
export type AgentExtendedCard = {
  documents: Record<RepresentationName, JsonObject>
  manifest: Manifest
  origin: string
}

/** Characters of JSON text. The overhead of an entry is that of the objects around it. */
const MAX_KNOWN_LENGTH = 2 * 1024 * 1024
const ENTRY_OVERHEAD = 300

/** Compiles the extended card that an agent serves itself, with its manifest. Logs why one cannot be served. */
export const compileAgentCard = async (
  extendedCard: JsonObject,
  { id, profile }: { id: string; profile: CallProfile },
  env: Env,
): Promise<AgentExtendedCard | 'unavailable' | 'not-configured' | 'invalid'> => {
  const base = await loadBase(id, profile, env)
  if (base === undefined) return 'unavailable'
  if (base?.publicCard === undefined) return 'not-configured'
  const { parsed, publicCard } = base
  const compiled =
    'errors' in parsed ? parsed : compileAgentExtendedCard(parsed, JSON.parse(publicCard) as JsonObject, extendedCard)
  if ('documents' in compiled) return compiled
  const [{ pointer, message } = { pointer: '', message: '' }] = compiled.errors
  log('error', 'extended-card-invalid', {
    'gen_ai.agent.id': id,
    'calling_card.pointer': pointer,
    'calling_card.detail': message,
  })
  return 'invalid'
}

/** What an agent's public card was compiled from, as JSON text if it was fetched. */
type PublicCardBase = { parsed: ReturnType<typeof parseStored>; publicCard: string | undefined }

/** What each agent's public card was compiled from, and the profile that was compiled from the same or before. */
const knownBases = new ClockCache<{ base: PublicCardBase; profile: CallProfile; size: number }>(MAX_KNOWN_LENGTH)

/** Reads what the public card was compiled from, once for a profile; undefined while the Registry is unavailable. */
const loadBase = async (id: string, profile: CallProfile, env: Env): Promise<PublicCardBase | null | undefined> => {
  const known = knownBases.get(id)
  if (known && known.profile === profile) return known.base
  try {
    const stored = await getRegistry(env).refreshBase(id)
    if (!stored) return null
    const { card } = stored.record
    const base = { parsed: parseStored(id, stored), publicCard: card }
    knownBases.set(id, { base, profile, size: ENTRY_OVERHEAD + 3 * stored.manifest.length + (card?.length ?? 0) })
    return base
  } catch (error) {
    log('error', 'registry-unavailable', { 'gen_ai.agent.id': id, 'exception.message': String(error) })
    return undefined
  }
}
