/** The seconds for which KV's own cache at the edge keeps a value. */
const cacheTtl = 30

/** Reads a value of KV: its bytes, empty for none. Returns undefined if its `seq` is not above that of a known one. */
export type ReadValue = (known?: number) => Promise<{ bytes: ArrayBuffer; seq: number } | undefined>

type Found<Value> = { value: Value | null; metadata: { seq: number } | null }

/** Reads one value. The body of a known one is not read, which takes a quarter of the time. */
export const readOne =
  (key: string, env: Env): ReadValue =>
  async (known = -1) => {
    const type = (known < 0 ? 'arrayBuffer' : 'stream') as 'stream'
    const found: Found<ArrayBuffer | ReadableStream> = await env.CARDS.getWithMetadata(key, { type, cacheTtl })
    const { value, metadata } = found
    const seq = metadata?.seq ?? 0
    if (value instanceof ArrayBuffer) return { bytes: value, seq }
    if (seq > known) return { bytes: await new Response(value).arrayBuffer(), seq }
    await value?.cancel()
    return undefined
  }

/** A read that can share a request of KV: the key, and what is to be done with the function that reads it. */
type Batched = { key: string; start: (read: ReadValue) => Promise<unknown> }

/** Reads several values with one request of KV. */
const readTogether = async (batch: readonly Batched[], env: Env): Promise<void> => {
  const keys = [...new Set(batch.map(({ key }) => key))]
  const response: Promise<Map<string, Found<string>>> = env.CARDS.getWithMetadata(keys, { type: 'text', cacheTtl })
  const starts = batch.map(({ key, start }) =>
    start(async (known = -1) => {
      const { value, metadata } = (await response).get(key) ?? {}
      const seq = metadata?.seq ?? 0
      return seq > known ? { bytes: new TextEncoder().encode(value ?? '').buffer as ArrayBuffer, seq } : undefined
    }),
  )
  await Promise.all(starts)
}

/** The time in which reads are collected. */
export const BATCH_DELAY_MS = 250
/** Values of a batch, which are parsed at once: 32 values of 10 KB take 1 ms. */
const BATCH_SIZE = 32
/** Larger values are read one by one. */
export const MAX_BATCHED_BYTES = 64 * 1024

/** The reads that are collected, and when the request came that is to send them. */
let collected: Batched[] = []
let collectedSince = 0

/** Reads a value together with others: in a batch it takes an eighth of the CPU time of a request of its own. */
export const readInBatch = (read: Batched, env: Env, ctx: ExecutionContext): void => {
  collected.push(read)
  const now = Date.now()
  // That request may have been cancelled.
  if (collected.length > 1 && now - collectedSince < 2 * BATCH_DELAY_MS) return
  collectedSince = now
  ctx.waitUntil(sendCollected(env))
}

const sendCollected = async (env: Env): Promise<void> => {
  await new Promise(resolve => setTimeout(resolve, BATCH_DELAY_MS))
  const reads = collected
  collected = []
  const [first] = reads
  if (first && reads.length === 1) await first.start(readOne(first.key, env))
  else while (reads.length > 0) await readTogether(reads.splice(0, BATCH_SIZE), env)
}
