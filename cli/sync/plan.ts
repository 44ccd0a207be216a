import { compileDocument } from '../../src/card/compile/index.ts'
import { classifyChanges, findVersionFinding } from '../../src/card/diff/index.ts'
import { type JsonObject, jsonEquals, omit } from '../../src/json/index.ts'
import type { RegisteredAgent, ResponseOf } from '../client/index.ts'
import { type Draft, normalizeManifest } from '../manifests/index.ts'
import { formatCount } from '../terminal.ts'
import type { AgentResult } from './result.ts'

/** The state of an upstream card. */
export type SourceState = NonNullable<ResponseOf<'PUT /agents/:id'>['source']>

/** A file, and what is to be done about it. `before` and `etag` are of the manifest that the host has now. */
export type Step = {
  draft: Draft
  todo: 'create' | 'update' | 'nothing'
  before?: JsonObject
  etag?: string
  source?: SourceState
}

/** Compares a file with what is registered under its id. */
export const planStep = (draft: Draft, registered: RegisteredAgent | undefined): Step => {
  if (registered === undefined) return { draft, todo: 'create' }
  const before = toComparable(registered.manifest)
  const isSame = jsonEquals(before, toComparable(draft.manifest))
  return { draft, todo: isSame ? 'nothing' : 'update', before, etag: registered.etag }
}

/** Returns why a file must not replace what is registered: an agent of another set has another owner. */
export const describeOtherOwner = ({ manifest }: Draft, registered: RegisteredAgent | undefined) => {
  const owner = registered && toComparable(registered.manifest).set
  if (owner === undefined || owner === manifest.set) return undefined
  const own = manifest.set === undefined ? 'this file names no set' : `this file is of the set ${String(manifest.set)}`
  return `it belongs to the set ${String(owner)}, and ${own}: choose another id, or take it over with --force`
}

/** Returns the form in which equivalent manifests are equal. A bare card may have been registered with curl. */
export const toComparable = (manifest: JsonObject): JsonObject =>
  omit(normalizeManifest(manifest, false).manifest, 'id')

/**
 * Returns what a push of a step would do, what it would change for clients, and whether the host would refuse it for
 * its version. The last two are known only where both manifests have the whole card: the host fetches remote ones.
 */
export const foreseeStep = ({ draft, todo, before }: Step, origin: string): Pick<AgentResult, 'action' | 'detail'> => {
  const { id, compiled } = draft
  if (todo !== 'update') return { action: todo === 'create' ? 'to create' : 'unchanged' }
  const registered = before && compileDocument({ ...before, id }, { id, requestOrigin: origin })
  if (!compiled || !registered || !('compiled' in registered)) return { action: 'to update' }
  const { class: changeClass, changes } = classifyChanges(registered.compiled, compiled)
  const [first, ...others] = changes
  if (!first || changeClass === 'cosmetic') return { action: 'to update' }
  const { compatibility } = compiled.manifest
  const finding = findVersionFinding(changeClass, registered.compiled.card.version, compiled.card.version)
  const rest = others.length === 0 ? '' : `, and ${formatCount(others.length, 'other change')}`
  return {
    action: finding && compatibility === 'enforce' ? 'refused' : 'to update',
    detail:
      finding && compatibility !== 'off'
        ? `the version ${finding.message}: ${first.message}`
        : `${changeClass}: ${first.message}${rest}`,
  }
}
