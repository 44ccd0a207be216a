import { addCall, addMediaTypes, createObservations, type Observations } from '../../card/model/index.ts'
import { log, type RequestContext } from '../../http/index.ts'
import { getRegistry } from '../store/index.ts'
import { type CallEnd, countedCallOf, type ForwardedCall } from './call-outcome.ts'

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
export const observeCall = (
  id: string,
  call: ForwardedCall,
  end: CallEnd,
  { env, ctx }: Pick<RequestContext, 'env' | 'ctx'>,
): void => {
  const { observed, fact } = countedCallOf(call, end)
  // The clock of the runtime is slow, so it is read once.
  const now = Date.now()
  const sample = getSample(id)
  sample.pending ??= createObservations(now)
  addCall(sample.pending, observed, now)
  let isNew = end.mediaTypes !== undefined && remember(sample, addMediaTypes(sample.pending, end.mediaTypes))
  if (rememberFact(sample, fact)) isNew = true
  const delay = planSending(sample, isNew, now)
  if (delay !== undefined) ctx.waitUntil(sendAfter(delay, id, env))
}

/** Counts the media types of one event of an agent. */
export const observeMediaTypes = (id: string, mediaTypes: readonly string[], env: Env, ctx: ExecutionContext): void => {
  if (mediaTypes.length === 0) return
  const now = Date.now()
  const sample = getSample(id)
  sample.pending ??= createObservations(now)
  const isNew = remember(sample, addMediaTypes(sample.pending, mediaTypes))
  const delay = planSending(sample, isNew, now)
  if (delay !== undefined) ctx.waitUntil(sendAfter(delay, id, env))
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

/** Adds facts to those that are known, while there is room. Returns whether it has added any. */
const remember = (sample: Sample, facts: readonly string[]): boolean => {
  let isNew = false
  for (const fact of facts) if (rememberFact(sample, fact)) isNew = true
  return isNew
}

const rememberFact = ({ known }: Sample, fact: string): boolean => {
  if (known.has(fact) || known.size >= MAX_KNOWN_FACTS) return false
  known.add(fact)
  return true
}

/** Returns how long to wait until the pending observations are sent; undefined if another request does it. */
const planSending = (sample: Sample, isNew: boolean, now: number): number | undefined => {
  const wanted = Math.max(now + SEND_DELAY_MS, isNew ? 0 : sample.sentAt + SEND_INTERVAL_MS)
  if (wanted > now + MAX_DELAY_MS) return undefined
  // The request that was to send them may have been cancelled.
  const isScheduled = sample.dueAt !== undefined && sample.dueAt <= wanted && sample.dueAt > now - SEND_DELAY_MS
  if (isScheduled) return undefined
  sample.dueAt = wanted
  return wanted - now
}

const sendAfter = async (delay: number, id: string, env: Env): Promise<void> => {
  await new Promise(resolve => setTimeout(resolve, delay))
  await sendObservations(id, env)
}
