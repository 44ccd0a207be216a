import { type JsonObject, jsonEquals, omit } from '../../src/json/json.ts'
import { authoredManifest } from '../files/authored-manifest.ts'
import type { Draft } from '../files/draft.ts'
import type { Registered, SourceState } from '../host/host.ts'

/** What has to be done about a file. `before`, `etag` and `source` are what the host has now. */
export type Step = {
  draft: Draft
  todo: 'create' | 'update' | 'nothing'
  before?: JsonObject
  etag?: string
  /** How the source of a card stands that comes from elsewhere. */
  source?: SourceState
}

/** Compares a file with what is registered under its id. */
export const plan = (draft: Draft, registered: Registered | undefined): Step => {
  if (registered === undefined) return { draft, todo: 'create' }
  const before = comparable(registered.manifest)
  const same = jsonEquals(before, comparable(draft.manifest))
  return { draft, todo: same ? 'nothing' : 'update', before, etag: registered.etag }
}

/** A manifest in the one form in which two that say the same are equal: a bare card was registered by somebody's curl. */
export const comparable = (manifest: JsonObject): JsonObject => omit(authoredManifest(manifest, false).manifest, 'id')

/** The agents that are registered, but that no file describes any more. */
export const strays = (registered: readonly string[], local: readonly string[]): string[] => {
  const known = new Set(local)
  return registered.filter(id => !known.has(id))
}
