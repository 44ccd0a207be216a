import {
  addCall,
  addMediaTypes,
  createObservations,
  type Observations,
  type ObservedCall,
} from '../../card/model/index.ts'
import { log } from '../../http/index.ts'
import { getRegistry } from '../store/index.ts'

/** The pause between sending observations of one agent, unless a call shows something new. */
const SEND_INTERVAL_MS = 60_000
/** The time to wait for further calls before that. */
const SEND_DELAY_MS = 1_000
/** The runtime cancels what a request does in the background 30 s after its response. */
const MAX_DELAY_MS = 20_000

/** Agents observed in one isolate; beyond that, the observations of the first ones are lost. */
const MAX_AGENTS = 1_000

/** Facts that are new once: an agent may make up media types without end. */
const MAX_KNOWN_FACTS = 200

type Sample = {
  /** Not sent yet; undefined for nothing. */
  pending: Observations | undefined
  /** The facts that this isolate has seen before, in words that are compared only. */
  readonly known: Set<string>
  sentAt: number
  /** The time at which the pending observations are to be sent. */
  dueAt: number | undefined
}

const samples = new Map<string, Sample>()

/** Counts a call in memory, for the Registry about once a minute. Counts of an isolate that ends are lost. */
export const observeCall = (id: string, call: ObservedCall, env: Env, ctx: ExecutionContext): void =>
  observe(id, { call, mediaTypes: call.mediaTypes ?? [] }, env, ctx)

/** Counts the media types of one event of an agent. */
export const observeMediaTypes = (id: string, mediaTypes: readonly string[], env: Env, ctx: ExecutionContext): void => {
  if (mediaTypes.length > 0) observe(id, { mediaTypes }, env, ctx)
}

/** Sends the Registry what this isolate has observed of an agent and has not sent yet. Never rejects. */
export const sendObservations = async (id: string, env: Env): Promise<void> => {
  const sample = samples.get(id)
  const pending = sample?.pending
  if (!sample || !pending) return
  Object.assign(sample, { pending: undefined, dueAt: undefined, sentAt: Date.now() })
  try {
    await getRegistry(env).recordObservations(id, pending)
  } catch (error) {
    log('warn', 'observations-lost', { 'gen_ai.agent.id': id, 'exception.message': String(error) })
  }
}

const getSample = (id: string): Sample => {
  const known = samples.get(id)
  if (known) return known
  const [first] = samples.size < MAX_AGENTS ? [] : samples.keys()
  if (first !== undefined) samples.delete(first)
  const sample: Sample = { pending: undefined, known: new Set(), sentAt: 0, dueAt: undefined }
  samples.set(id, sample)
  return sample
}

type Observed = { call?: ObservedCall; mediaTypes: readonly string[] }

const observe = (id: string, { call, mediaTypes }: Observed, env: Env, ctx: ExecutionContext): void => {
  // The clock of the runtime is slow, so it is read once.
  const now = Date.now()
  const sample = getSample(id)
  sample.pending ??= createObservations(now)
  if (call) addCall(sample.pending, call, now)
  const facts = addMediaTypes(sample.pending, mediaTypes)
  if (call) {
    const { operation, protocol, outcome, streaming, pushNotifications } = call
    // The outcome of a capability follows from the others, except where an answer is not what was asked for.
    facts.push(`${operation} ${protocol} ${outcome} ${streaming} ${pushNotifications}`)
  }
  const { known } = sample
  const before = known.size
  for (const fact of facts) if (known.size < MAX_KNOWN_FACTS) known.add(fact)
  const isNew = known.size > before
  const wanted = Math.max(now + SEND_DELAY_MS, isNew ? 0 : sample.sentAt + SEND_INTERVAL_MS)
  if (wanted > now + MAX_DELAY_MS) return
  // The request that was to send them may have been cancelled.
  const isScheduled = sample.dueAt !== undefined && sample.dueAt <= wanted && sample.dueAt > now - SEND_DELAY_MS
  if (isScheduled) return
  sample.dueAt = wanted
  ctx.waitUntil(wait(wanted - now).then(() => sendObservations(id, env)))
}

const wait = (milliseconds: number): Promise<void> => new Promise(resolve => setTimeout(resolve, milliseconds))
