import { vi } from 'vitest'
import { type Envelope, encodeEnvelope } from '../../src/registry/kv-format.ts'

/** A value as KV stores it: an envelope of documents, or a text with the number of its revision. */
export type KvValue = Envelope | { value: string; seq: number }

/** Returns a KV namespace in memory with mocked reads, and an environment with it. */
export const kvWith = (stored: Record<string, KvValue> = {}) => {
  const get = vi.fn(async (key: string) => {
    const found = stored[key]
    return found && 'representations' in found ? encodeEnvelope(found).slice().buffer : null
  })
  const getWithMetadata = vi.fn(async (key: string) => {
    const found = stored[key]
    return found && 'value' in found
      ? { value: found.value, metadata: { seq: found.seq } }
      : { value: null, metadata: null }
  })
  return { get, getWithMetadata, stored, env: { CARDS: { get, getWithMetadata }, ROOT_AGENT: '' } as unknown as Env }
}

/** The context of a request, which ignores work after the response. */
export const executionContext = { waitUntil: () => undefined } as unknown as ExecutionContext
