import { type JsonObject, jsonEquals, omit } from '../../src/json/json.ts'
import type { RegisteredAgent, SourceState } from '../client/index.ts'
import { type Draft, normalizeManifest } from '../manifests/index.ts'

/** What to do about a file. `before` and `etag` are of the manifest that the host has now. */
export type Step = {
  draft: Draft
  todo: 'create' | 'update' | 'nothing'
  before?: JsonObject
  etag?: string
  /** The state of the agent's upstream card. */
  source?: SourceState
}

/** Compares a file with what is registered under its id. */
export const planStep = (draft: Draft, registered: RegisteredAgent | undefined): Step => {
  if (registered === undefined) return { draft, todo: 'create' }
  const before = toComparable(registered.manifest)
  const isSame = jsonEquals(before, toComparable(draft.manifest))
  return { draft, todo: isSame ? 'nothing' : 'update', before, etag: registered.etag }
}

/** Returns the form in which equivalent manifests are equal. A bare card may have been registered with curl. */
export const toComparable = (manifest: JsonObject): JsonObject =>
  omit(normalizeManifest(manifest, false).manifest, 'id')

/** Returns the registered agents that no file describes. */
export const findOrphans = (registered: readonly string[], local: readonly string[]): string[] => {
  const described = new Set(local)
  return registered.filter(id => !described.has(id))
}
