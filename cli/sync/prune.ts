import { dirname, join } from 'node:path'
import type { HostClient } from '../client/index.ts'
import { InterruptedError, UsageError } from '../exit-codes.ts'
import { CARDS_FOLDER, type Draft, type LoadedManifests } from '../manifests/index.ts'
import { formatCount } from '../terminal.ts'
import { toComparable } from './plan.ts'
import { REJECTED_ACTIONS } from './push.ts'
import type { AgentResult } from './result.ts'
import { forEach, isReadOnly, type Run } from './run.ts'
import { createFilter, rejectUnmatchedGlobs } from './selection.ts'

/** How many agents are deleted at once without `--yes`. */
export const MAX_UNCONFIRMED_DELETIONS = 10

/** What `--prune` has found: the agents of the set that no file describes, and those of them that stay. */
export type Orphans = { set: string; found: Orphan[]; kept: AgentResult[] }

/** An agent on the host that no file describes, with its entity tag: it is not deleted if it changes in the meantime. */
type Orphan = { id: string; etag: string }

/**
 * Returns the agents of the files' set that no file describes. Returns none if a file is invalid, because it may describe any of
 * them. Throws a UsageError, before anything is written, if there are too many to delete without `--yes`.
 */
export const findOrphans = async (
  run: Run,
  { drafts, invalid }: Pick<LoadedManifests, 'drafts' | 'invalid'>,
): Promise<Orphans | undefined> => {
  const { client, options, context, breaker } = run
  const note = options.onNote ?? context.terminal.info
  const selected = createFilter(options.only)
  if (invalid.length > 0) {
    note('Nothing is pruned while a file is invalid.')
    return undefined
  }
  const set = setOf(drafts)
  const listed = await breaker.call(() => client.listAgents(set))
  if (listed === undefined) return undefined
  // A host that does not know sets would list the agents of all.
  const registered = listed.filter(agent => agent.set === set).map(({ id }) => id)
  const described = new Set(drafts.map(({ id }) => id))
  rejectUnmatchedGlobs(options.only, [...described, ...registered])
  const ids = registered.filter(id => !described.has(id) && selected(id))
  const items = await forEach(run, 'Comparing', ids, id => breaker.call(() => lookUp(client, id, set)))
  const found = items.filter((item): item is Orphan => item !== undefined && 'etag' in item)
  const kept = items.filter((item): item is AgentResult => item !== undefined && 'action' in item)
  if (kept.length > 0)
    note(
      `${formatCount(kept.length, 'agent')} of the set ${set} will not be deleted: the token cannot write ${kept.length === 1 ? 'it' : 'them'}.`,
    )
  if (options.confirm && !isReadOnly(options)) rejectTooMany(set, found)
  return { set, found, kept }
}

/** Deletes orphans if the owner agrees, or reports what would be deleted. */
export const prune = async (run: Run, { set, found, kept }: Orphans): Promise<AgentResult[]> => {
  const { client, options, breaker } = run
  const withAction = (action: 'to delete' | 'kept' | 'not deleted') => [
    ...kept,
    ...found.map(({ id }): AgentResult => ({ id, action })),
  ]
  if (isReadOnly(options)) return withAction('to delete')
  const isConfirmed = await confirm(run, set, found)
  if (!isConfirmed) return withAction(breaker.isInterrupted ? 'not deleted' : 'kept')
  const deleted = await forEach(run, 'Deleting', found, async ({ id, etag }): Promise<AgentResult> => {
    const outcome = await breaker.call(async () => ({ rejection: await client.deleteAgent(id, etag) }))
    if (outcome === undefined) return { id, action: 'not deleted' }
    const { rejection } = outcome
    return rejection
      ? { id, action: REJECTED_ACTIONS[rejection.rejected], detail: rejection.detail }
      : { id, action: 'deleted' }
  })
  return [...kept, ...deleted]
}

const confirm = async ({ options, breaker }: Run, set: string, orphans: readonly Orphan[]): Promise<boolean> => {
  // There is nothing to ask if nothing can be deleted.
  if (options.confirm === undefined || orphans.length === 0 || breaker.isOpen) return true
  const names = orphans.map(({ id }) => id).join(', ')
  const question = `Delete ${formatCount(orphans.length, 'agent')} of the set ${set} that no file describes: ${names}?`
  try {
    return await options.confirm(question, options.signal)
  } catch (error) {
    if (!(error instanceof InterruptedError)) throw error
    breaker.isInterrupted = true
    return false
  }
}

/** Returns the one set of all files: with several, a copied file could delete the agents of another owner. */
const setOf = (drafts: readonly Draft[]): string => {
  const missing = drafts.find(({ manifest }) => typeof manifest.set !== 'string')
  const sets = new Set(drafts.flatMap(({ manifest }) => (typeof manifest.set === 'string' ? [manifest.set] : [])))
  const [set, ...others] = sets
  if (set === undefined || missing)
    throw new UsageError(
      `--prune deletes only agents of the files' own set, but ${missing?.file ?? 'no file'} names ${missing ? 'none' : 'one'}. Write \`set: my-cards\` into ${defaultsFileFor(missing)}.`,
    )
  if (others.length > 0)
    throw new UsageError(`--prune takes the files of one set at a time; these are of ${[...sets].join(', ')}.`)
  return set
}

const defaultsFileFor = (draft: Draft | undefined): string =>
  join(draft === undefined ? CARDS_FOLDER : dirname(draft.file), 'defaults.yaml')

const lookUp = async (client: HostClient, id: string, set: string): Promise<Orphan | AgentResult | undefined> => {
  const registered = await client.getAgent(id)
  if (registered === undefined) return undefined
  if ('rejected' in registered) return { id, action: 'kept', detail: registered.detail }
  // Somebody may have taken it over since it was listed.
  return toComparable(registered.manifest).set === set ? { id, etag: registered.etag } : undefined
}

const rejectTooMany = (set: string, { length }: readonly Orphan[]): void => {
  if (length > MAX_UNCONFIRMED_DELETIONS)
    throw new UsageError(
      `--prune would delete ${length} agents of the set ${set}; more than ${MAX_UNCONFIRMED_DELETIONS} need --yes. Nothing was changed. --prune --dry-run lists them.`,
    )
}
