import type { CallProfile } from '../card/call-profile.ts'
import { readUnlessUnchanged, unchangedAt } from './changes.ts'
import { EdgeMemory } from './edge-memory.ts'
import { type Envelope, type Representation, readEnvelope } from './envelope.ts'

/** Profiles are parsed once, when they are read; in memory they take some times what their text does. */
const memoryBytes = 16 * 1024 * 1024
const timesItsText = 3
const entryOverhead = 400

type Parsed = { profile: CallProfile; bytes: number }

const profiles = new EdgeMemory<Parsed>(
  memoryBytes,
  (id, parsed) => entryOverhead + id.length + timesItsText * (parsed?.bytes ?? 0),
  unchangedAt,
)

/** What calls of an agent are checked against, internal ones included; null where there is no such agent. */
export const readProfile = async (id: string, env: Env, ctx: ExecutionContext): Promise<CallProfile | null> => {
  const held = profiles.held(id)
  const read = () => loadProfile(id, env)
  const found = held === undefined ? await readUnlessUnchanged(profiles, id, read, env, ctx) : held
  return found?.profile ?? null
}

/** Makes a write visible in this isolate at once. */
export const rememberProfile = (id: string, { seq, representations }: Envelope): void => {
  profiles.learn(id, { value: parsed(representations.profile), seq })
}

const parsed = (document: Representation | undefined): Parsed | null =>
  document ? { profile: JSON.parse(new TextDecoder().decode(document.bytes)), bytes: document.bytes.byteLength } : null

const loadProfile = async (id: string, env: Env) => {
  const { seq, representations } = await readEnvelope(`card:${id}`, env)
  return { value: parsed(representations.profile), seq }
}
