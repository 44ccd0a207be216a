import { assertWriter, countWrites, isAdmin, type Principal, reportRefusal } from '../../auth/index.ts'
import { validate } from '../../card/model/index.ts'
import {
  HttpError,
  parseJsonText,
  parsePrecondition,
  problem,
  type RequestContext,
  statusOf,
  toHttpError,
  toProblem,
} from '../../http/index.ts'
import {
  LINES_PER_WRITE,
  MAX_ATOMIC_BATCH_BYTES,
  MAX_BATCH_BYTES,
  MAX_BATCH_LINES,
  MAX_BODY_BYTES,
} from '../../limits.ts'
import { cacheRegistered, purgeLists } from '../../registry/edge/index.ts'
import { getRegistry, type BatchResult as LineResult } from '../../registry/store/index.ts'
import { endpoint, flag, otherBody, withContent } from '../contract/index.ts'
import { BatchLine, BatchResult, type Receipt } from '../schemas/index.ts'
import { createPreparation, type PreparedWrite } from './prepare-write.ts'
import { registerPrepared, rejectionError, toReceipt } from './registration.ts'

/** A line, and what is made from it, which is much larger, and dropped as soon as it is written. */
type Entry = {
  line: number
  id?: string
  prepare?: (isLast: boolean) => Promise<PreparedWrite>
  prepared?: PreparedWrite
  error?: HttpError
  registered?: { status: number; agent: Receipt }
}

const lineTypes = Object.fromEntries(
  ['application/x-ndjson', 'application/ndjson', 'application/jsonl'].map(type => [type, { each: BatchLine }]),
)
const results = { 'application/x-ndjson': { each: BatchResult } } as const

/** `POST /agents:batch`: registers or replaces agents, one a line (NDJSON), each as `PUT /agents/{id}` does. */
export const registerBatch = endpoint(
  {
    tag: 'registry',
    summary: `Register up to ${MAX_BATCH_LINES} agents, one a line`,
    description:
      'Agents are registered in the order of their lines: of two that claim one host name, the first gets it. ' +
      'Each line of the response has the status of the registration of its line.',
    access: 'write',
    query: { atomic: flag('Whether all agents are registered, or none.', false) },
    body: otherBody('text', lineTypes, MAX_BATCH_BYTES),
    responses: {
      200: withContent('The result of each line, in the same order.', results),
      422: withContent('With `atomic=true`: nothing was registered, because a line was refused.', results),
    },
    problems: ['empty-batch'],
    // For the first lines; the others count before they are compiled.
    limits: ['WRITE_LIMIT'],
  },
  async ({ query: { atomic }, body, caller, request, env, ctx }) => {
    const context = { request, env, ctx }
    const entries = await readEntries(body, caller, context)
    try {
      await (atomic ? registerTogether : registerEach)(entries, caller, env)
    } finally {
      if (entries.some(({ registered }) => registered)) purgeLists(ctx)
    }
    for (const { id, error } of entries)
      if (error && error.code !== 'batch-refused') await reportRefusal(error, id, context)
    return {
      status: atomic && entries.some(({ error }) => error) ? 422 : 200,
      body: entries.map(entry => `${JSON.stringify(toBatchResult(entry))}\n`).join(''),
    }
  },
)

const readEntries = async (text: string, caller: Principal, context: RequestContext): Promise<Entry[]> => {
  const lines = text.split('\n').flatMap((line, index) => (line.trim() === '' ? [] : [{ line, number: index + 1 }]))
  if (lines.length === 0) throw problem('empty-batch', 'The batch has no lines.')
  if (lines.length > MAX_BATCH_LINES)
    throw problem('too-large', `The batch has ${lines.length} lines; ${MAX_BATCH_LINES} are allowed.`)
  await countWrites(caller, context.env, Math.ceil(lines.length / LINES_PER_WRITE) - 1)
  const ids = new Set<string>()
  return Promise.all(
    lines.map(async ({ line, number }) => {
      const entry: Entry = { line: number }
      await attempt(entry, () => readLine(entry, line, { ids, caller, context }))
      return entry
    }),
  )
}

const readLine = (
  entry: Entry,
  text: string,
  { ids, caller, context: { request, env } }: { ids: Set<string>; caller: Principal; context: RequestContext },
): void => {
  if (new TextEncoder().encode(text).byteLength > MAX_BODY_BYTES)
    throw problem('too-large', `The line is longer than ${MAX_BODY_BYTES / 1024} KiB.`)
  const parsed = validate(BatchLine, parseJsonText(text))
  if ('errors' in parsed)
    throw problem('bad-line', 'The line must be {"id", "manifest", "ifMatch"?, "ifNoneMatch"?}.', parsed)
  const { id, manifest: document, ifMatch, ifNoneMatch } = parsed.output
  entry.id = id
  assertWriter(caller, id)
  if (ids.has(id)) throw problem('bad-line', `An earlier line registers agent "${id}" already.`)
  ids.add(id)
  const headers = new Headers()
  if (ifMatch !== undefined) headers.set('If-Match', ifMatch)
  if (ifNoneMatch !== undefined) headers.set('If-None-Match', ifNoneMatch)
  const precondition = parsePrecondition(headers)
  entry.prepare = createPreparation({ caller, request, id, document, precondition }, env)
}

/** Does a part of the work for a line; what it throws for a client is the error of the line. */
const attempt = async (entry: Entry, work: () => Promise<void> | void): Promise<void> => {
  try {
    await work()
  } catch (error) {
    const known = toHttpError(error)
    if (!known) throw error
    entry.error = known
  }
}

/** Remote cards that are fetched at once. */
const CONCURRENCY = 6

/** The limits of one request to the Registry: a message between Workers has at most 32 MiB. */
const MAX_CHUNK_BYTES = 4 * 1024 * 1024
const MAX_CHUNK_LINES = 50

type Ready = Entry & { prepared: PreparedWrite }

/** Prepares about as many lines as one request to the Registry carries. Returns those not refused, in their order. */
const prepareNext = async (entries: Iterator<Entry>): Promise<Ready[]> => {
  const ready: Ready[] = []
  let bytes = 0
  const work = async (): Promise<void> => {
    while (ready.length < MAX_CHUNK_LINES && bytes < MAX_CHUNK_BYTES) {
      const { done, value: entry } = entries.next()
      if (done) return
      await attempt(entry, async () => {
        const prepared = await entry.prepare?.(false)
        if (!prepared) return
        const next = Object.assign(entry, { prepared })
        ready.push(next)
        bytes += sizeOf(next)
      })
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  return ready.sort((a, b) => a.line - b.line)
}

const registerEach = async (entries: readonly Entry[], caller: Principal, env: Env): Promise<void> => {
  const rest = entries.values()
  for (let ready = await prepareNext(rest); ready.length > 0; ready = await prepareNext(rest))
    for (const chunk of splitChunks(ready)) await registerChunk(chunk, caller, env)
}

/**
 * Registers lines in their order. A line whose agent was changed concurrently is repeated before the next ones. If the
 * Registry does not respond, the rest get that error: the results of the others must still reach the client.
 */
const registerChunk = async (chunk: readonly Ready[], caller: Principal, env: Env): Promise<void> => {
  for (let rest = chunk; rest.length > 0; )
    try {
      const registrations = rest.map(({ prepared }) => prepared.registration)
      const results = await getRegistry(env).registerAll(registrations, isAdmin(caller), false)
      for (const [index, entry] of rest.slice(0, results.length).entries()) {
        const result = results[index]
        if (result?.outcome === 'conflict') await registerAgain(entry, caller, env)
        else if (result) settle(entry, result)
      }
      rest = rest.slice(results.length)
    } catch (error) {
      const known = toHttpError(error)
      if (!known) throw error
      for (const entry of rest) settle(entry, known)
      return
    }
}

/** Repeats a registration whose agent was changed, or remote card refreshed, at the same time. */
const registerAgain = (entry: Ready, caller: Principal, env: Env): Promise<void> =>
  attempt(entry, async () => {
    const prepare = entry.prepare ?? (async () => entry.prepared)
    const { prepared, result } = await registerPrepared(prepare, caller, env)
    entry.prepared = prepared
    settle(entry, result)
  })

const registerTogether = async (entries: readonly Entry[], caller: Principal, env: Env): Promise<void> => {
  const ready: Ready[] = []
  const withdraw = (): boolean => {
    const isRefused = entries.some(({ error }) => error)
    if (isRefused) for (const entry of ready.splice(0)) settle(entry, { outcome: 'withdrawn' })
    return isRefused
  }
  const rest = entries.values()
  for (let next = await prepareNext(rest); next.length > 0; next = await prepareNext(rest)) {
    ready.push(...next)
    // The other lines are still prepared, so that the client learns what is wrong with each.
    withdraw()
    if (ready.reduce((sum, entry) => sum + sizeOf(entry), 0) > MAX_ATOMIC_BATCH_BYTES)
      throw problem('too-large', 'The cards of this batch are too large: send less, or without atomic=true.')
  }
  if (withdraw()) return
  const registrations = ready.map(({ prepared }) => prepared.registration)
  const results = await getRegistry(env).registerAll(registrations, isAdmin(caller), true)
  for (const [index, entry] of ready.entries()) {
    const result = results[index]
    if (result) settle(entry, result)
  }
}

/** Sets the result of a line, and drops what was made from it. */
const settle = (entry: Ready, result: LineResult | HttpError): void => {
  const { prepared } = entry
  const { id, expected } = prepared.registration
  if (result instanceof HttpError) entry.error = result
  else if (result.outcome === 'withdrawn')
    entry.error = problem('batch-refused', 'Nothing was registered, because another line of the batch was refused.')
  else if (result.outcome !== 'registered') entry.error = rejectionError(result, id, expected)
  else {
    cacheRegistered(prepared.registration, result)
    entry.registered = { status: result.created ? 201 : 200, agent: toReceipt(prepared, result) }
  }
  const done: Entry = entry
  delete done.prepared
  delete done.prepare
}

const splitChunks = (ready: readonly Ready[]): Ready[][] => {
  const chunks: Ready[][] = []
  let bytes = 0
  for (const [index, entry] of ready.entries()) {
    bytes += sizeOf(entry)
    if (index % MAX_CHUNK_LINES > 0 && bytes <= MAX_CHUNK_BYTES) chunks.at(-1)?.push(entry)
    else {
      chunks.push([entry])
      bytes = sizeOf(entry)
    }
  }
  return chunks
}

const sizeOf = ({ prepared }: Ready): number => {
  const { manifest, profile, cards, source } = prepared.registration
  const texts = manifest.length + profile.length + (source?.card?.length ?? 0)
  return cards.reduce((sum, { card, body }) => sum + card.length + body.byteLength, texts)
}

const toBatchResult = ({ line, id, registered, error }: Entry): BatchResult => {
  const place = { line, ...(id !== undefined && { id }) }
  if (error) return { ...place, status: statusOf(error), error: toProblem(error) }
  if (!registered) throw new Error(`line ${line} has no result`)
  return { ...place, ...registered }
}
