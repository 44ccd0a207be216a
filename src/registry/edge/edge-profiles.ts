import type { CallProfile } from '../../card/call-profile.ts'
import { agentId } from '../../limits.ts'
import { cardKey } from '../keys.ts'
import { type Envelope, type Representation, readEnvelope } from '../kv-format.ts'
import { getOrRevalidate, unchangedAt } from './changes.ts'
import { KvCache } from './kv-cache.ts'

/** Profiles are parsed once, when they are read; in memory they take some times what their text does. */
const memoryBytes = 16 * 1024 * 1024
const timesItsText = 3
const entryOverhead = 400

type Parsed = { profile: CallProfile; bytes: number }

const profiles = new KvCache<Parsed>(
  memoryBytes,
  (id, parsed) => entryOverhead + id.length + timesItsText * (parsed?.bytes ?? 0),
  unchangedAt,
)

/**
 * What calls of an agent are checked against, internal ones included; null where there is no such agent. What this isolate holds
 * need not be waited for.
 */
export const readProfile = (
  id: string,
  env: Env,
  ctx: ExecutionContext,
): CallProfile | null | Promise<CallProfile | null> => {
  const held = profiles.getFresh(id)
  if (held !== undefined) return profileOf(held)
  return getOrRevalidate(profiles, id, () => loadProfile(id, env), env, ctx).then(profileOf)
}

/** The same of any text that should be an id; undefined while KV is away, which the log has been told. */
export const lookUpProfile = (
  id: string,
  env: Env,
  ctx: ExecutionContext,
): CallProfile | null | undefined | Promise<CallProfile | null | undefined> => {
  if (!agentId.test(id)) return null
  const found = readProfile(id, env, ctx)
  return found instanceof Promise ? found.catch(() => undefined) : found
}

const profileOf = (parsed: Parsed | null): CallProfile | null => parsed?.profile ?? null

/** Makes a write visible in this isolate at once. */
export const cacheProfile = (id: string, { seq, representations }: Envelope): void => {
  profiles.put(id, { value: parsed(representations.profile), seq })
}

const parsed = (document: Representation | undefined): Parsed | null =>
  document ? { profile: JSON.parse(new TextDecoder().decode(document.bytes)), bytes: document.bytes.byteLength } : null

const loadProfile = async (id: string, env: Env) => {
  const { seq, representations } = await readEnvelope(cardKey(id), env)
  return { value: parsed(representations.profile), seq }
}
