import { join, resolve } from 'node:path'
import { agentIdPattern } from '../../src/card/model/index.ts'
import { deleteAgent, listAgents } from '../client/index.ts'
import type { Context } from '../context.ts'
import { asRejection, InterruptedError, UsageError } from '../errors.ts'
import { CARDS_FOLDER, type CardFiles, foldersAbove, isIn, isUnread, readFolderDefaults } from '../manifests/index.ts'
import { formatCount } from '../terminal.ts'
import { actionOf } from './push.ts'
import type { AgentResult } from './result.ts'
import { createFilter, forEach, type Run, rejectUnmatchedGlobs } from './sync-run.ts'

const MAX_UNCONFIRMED_DELETIONS = 10

/** The agents of the set that no file describes, deleted unless their entity tags change, and those that stay. */
type Orphans = { set: string; found: { id: string; etag: string }[]; kept: AgentResult[] }

/** The named folders and their files. `profileSet` is the set of the host in sync-card.yaml, which all files have. */
type PrunedFolders = CardFiles & { folders: readonly string[]; profileSet: string | undefined }

/**
 * Returns the agents of the folders' set that no file describes; undefined if a file is invalid or was not read, as it
 * may describe any of them. Throws a UsageError if there are too many to delete without `--yes`.
 */
export const findOrphans = async (run: Run, pruned: PrunedFolders): Promise<Orphans | undefined> => {
  const { drafts, invalid, skipped } = pruned
  const { client, options, context, breaker, note } = run
  const selected = createFilter(options.only)
  const obstacle = invalid.length > 0 ? 'is invalid' : skipped.some(isUnread) && 'cannot be read'
  if (obstacle) {
    note(`Nothing is pruned while a file ${obstacle}.`)
    return undefined
  }
  const set = setOf(pruned, context)
  if (drafts.length === 0)
    note(`${pruned.folders.join(', ')} has no cards, so no file describes any agent of the set ${set}.`)
  const listed = await breaker.call(() => listAgents(client, { set }))
  if (listed === undefined) return undefined
  // What is not an id would be another path of the host.
  const registered = listed.filter(agent => agent.set === set && agentIdPattern.test(agent.id))
  const described = new Set(drafts.map(({ id }) => id))
  rejectUnmatchedGlobs(options.only, [...described, ...registered.map(({ id }) => id)])
  const orphans = registered.filter(({ id }) => !described.has(id) && selected(id))
  // The list has no entity tag of what the token cannot write.
  const found = orphans.flatMap(({ id, etag }) => (etag === undefined ? [] : { id, etag }))
  const kept = orphans
    .filter(({ etag }) => etag === undefined)
    .map(({ id }): AgentResult => ({ id, action: 'kept', detail: 'the token cannot write it' }))
  if (kept.length > 0)
    note(
      `${formatCount(kept.length, 'agent')} of the set ${set} will not be deleted: ` +
        `the token cannot write ${kept.length === 1 ? 'it' : 'them'}.`,
    )
  if (options.confirm && !options.dryRun && found.length > MAX_UNCONFIRMED_DELETIONS)
    throw new UsageError(
      `--prune would delete ${found.length} agents of the set ${set}; more than ${MAX_UNCONFIRMED_DELETIONS} need ` +
        '--yes. Nothing was changed. --prune --dry-run lists them.',
    )
  return { set, found, kept }
}

/** Deletes orphans if the owner agrees, or reports what would be deleted. */
export const prune = async (run: Run, { set, found, kept }: Orphans): Promise<AgentResult[]> => {
  const { client, options, breaker } = run
  if (options.dryRun || !(await confirm(run, set, found))) {
    const action = options.dryRun ? 'to delete' : breaker.isInterrupted ? 'not deleted' : 'kept'
    return [...kept, ...found.map(({ id }): AgentResult => ({ id, action }))]
  }
  const deleted = await forEach(run, 'Deleting', found, async ({ id, etag }): Promise<AgentResult> => {
    const deletion = async (): Promise<AgentResult> => {
      const rejection = await deleteAgent(client, id, etag).catch(asRejection)
      return rejection ? { id, action: actionOf(rejection), detail: rejection.message } : { id, action: 'deleted' }
    }
    return (await breaker.call(deletion)) ?? { id, action: 'not deleted' }
  })
  return [...kept, ...deleted]
}

const confirm = async ({ options, breaker }: Run, set: string, found: Orphans['found']): Promise<boolean> => {
  // There is nothing to ask if nothing can be deleted.
  if (options.confirm === undefined || found.length === 0 || breaker.isOpen) return true
  const names = found.map(({ id }) => id).join(', ')
  const question = `Delete ${formatCount(found.length, 'agent')} of the set ${set} that no file describes: ${names}?`
  try {
    return await options.confirm(question, options.signal)
  } catch (error) {
    if (!(error instanceof InterruptedError)) throw error
    breaker.isInterrupted = true
    return false
  }
}

/** Returns the set of the folders and their files. Throws if other folders have it: their agents would be deleted. */
const setOf = ({ folders, drafts, profileSet }: PrunedFolders, context: Context): string => {
  // Without cards, a folder may be mistyped, unless its own defaults name the set.
  const mustName = profileSet === undefined || drafts.length === 0
  const unnamed = folders.find(folder => mustName && readSet(folder, context) === undefined)
  if (unnamed !== undefined)
    throw new UsageError(
      `--prune deletes only agents of the set of a folder, but ${unnamed} has none. ` +
        `Write \`set: ${profileSet ?? 'my-cards'}\` into ${join(unnamed, 'defaults.yaml')}.`,
    )
  const sets = new Set([
    ...folders.map(folder => profileSet ?? readSet(folder, context)),
    ...drafts.map(({ manifest }) => manifest.set),
  ])
  const [set] = sets
  if (typeof set !== 'string' || sets.size > 1)
    throw new UsageError(
      `--prune takes the files of one set; these are of ${[...sets].map(each => each ?? 'none').join(', ')}.`,
    )
  const part = folders.find(folder => isPartOfSet(folder, profileSet, context))
  if (part !== undefined)
    throw new UsageError(
      `--prune takes all folders of a set, but ${set} is not named for ${part} alone. ` +
        'Name the folder above, with --only for a part of its agents.',
    )
  return set
}

const readSet = (folder: string, { cwd }: Context): string | undefined => {
  const { set } = readFolderDefaults(folder, folder, cwd)
  return typeof set === 'string' ? set : undefined
}

/** Checks whether other folders may have the set of a folder: it is named above it, or for the whole cards folder. */
const isPartOfSet = (folder: string, profileSet: string | undefined, context: Context): boolean => {
  const { cwd, configFolder } = context
  if (profileSet !== undefined) {
    const [cards, path] = [resolve(configFolder, CARDS_FOLDER), resolve(cwd, folder)]
    return path !== cards && isIn(path, cards)
  }
  const parent = foldersAbove(folder, folder, cwd).at(-2)
  return parent !== undefined && readSet(parent, context) === readSet(folder, context)
}
