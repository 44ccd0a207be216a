import { vi } from 'vitest'
import { type Envelope, encodeEnvelope } from '../../src/registry/kv-format.ts'

/** A value as KV stores it: an envelope of documents, or a text with the number of its revision. */
export type KvValue = Envelope | { value: string; seq: number }

type KvOptions = { type: 'text' | 'stream' | 'arrayBuffer' }

/**
 * Returns a KV namespace in memory with mocked reads, and an environment with it. `bodies` counts the values whose
 * bytes were read.
 */
export const kvWith = (stored: Record<string, KvValue> = {}) => {
  const kv = { bodies: 0 }
  const find = (key: string, { type }: KvOptions) => {
    const found = stored[key]
    if (!found) return { value: null, metadata: null }
    const bytes = 'value' in found ? new TextEncoder().encode(found.value) : encodeEnvelope(found)
    const read = () => {
      kv.bodies++
      return bytes.slice()
    }
    // Its bytes are read when they are pulled.
    const body = () =>
      new ReadableStream(
        {
          pull: controller => {
            controller.enqueue(read())
            controller.close()
          },
        },
        { highWaterMark: 0 },
      )
    const readers = { text: () => new TextDecoder().decode(read()), stream: body, arrayBuffer: () => read().buffer }
    return { value: readers[type](), metadata: { seq: found.seq } }
  }
  const getWithMetadata = vi.fn(
    async (keys: string | string[], options: KvOptions): Promise<unknown> =>
      typeof keys === 'string' ? find(keys, options) : new Map(keys.map(key => [key, find(key, options)])),
  )
  return { kv, getWithMetadata, stored, env: { CARDS: { getWithMetadata }, ROOT_AGENT: '' } as unknown as Env }
}

/** The context of a request, which ignores work after the response. */
export const executionContext = { waitUntil: () => undefined } as unknown as ExecutionContext
