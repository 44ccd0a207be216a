import { agentIdPattern } from '../../../src/card/model/index.ts'
import { jsonEquals } from '../../../src/json/index.ts'
import { ApiError, type HostClient, type ResponseOf, readAgent, readList } from '../../client/index.ts'
import type { Context } from '../../context.ts'
import { ExitCode, UsageError } from '../../errors.ts'
import { type AddCommand, addHostOptions, connect, type FileFlags, type HostFlags, parseNumber } from '../../options.ts'
import { changeText, hideSecretsInChange } from '../../sync/index.ts'
import { colors } from '../../terminal.ts'
import { requireId } from './agents.ts'

type HistoryFlags = HostFlags & { limit: number }

/** Adds `history` and `rollback`, which list the revisions of an agent and go back to one. */
export const addHistory: AddCommand = (program, context) => {
  addHostOptions(program.command('history'), 'write')
    .description(
      'list the revisions of an agent, removed or not, newest first: who made them, and what they changed for clients',
    )
    .argument('<id>', 'the agent')
    .option('--limit <count>', 'the maximum number of revisions', parseSeq, 20)
    .action((id: string, flags: HistoryFlags) => history(requireId(id), flags, context))
  addHostOptions(program.command('rollback'), 'write')
    .description('register the manifest of an earlier revision again, as a new revision; also restores a removed agent')
    .argument('<id>', 'the agent')
    .argument('<seq>', 'the number of the revision, as history shows it', parseSeq)
    .action((id: string, to: number, flags: HostFlags) => rollback({ id: requireId(id), to }, flags, context))
}

const revisionPattern = /^[1-9]\d{0,14}$/

const parseSeq = parseNumber(revisionPattern, 'Use a number from 1.')

/** An agent, and the numbers of two of its revisions; without `from`, the one before `to`. */
type Revisions = { id: string; from?: number; to: number }

/** Reads `ID SEQ` and `ID SEQ SEQ`. A file or folder whose name is a number is written as `./3`. */
export const parseRevisions = (words: readonly string[]): Revisions | undefined => {
  const [id = '', ...numbers] = words
  const [first, second] = numbers.map(Number)
  const isMeant =
    numbers.length <= 2 && agentIdPattern.test(id) && numbers.every(number => revisionPattern.test(number))
  if (!isMeant || first === undefined) return undefined
  return second === undefined ? { id, to: first } : { id, from: first, to: second }
}

/** Shows what a revision changed, or what differs between two, and returns the exit code. */
export const diffRevisions = async (
  { id, from, to }: Revisions,
  flags: HostFlags & FileFlags & { format: string; only?: string[]; prune?: true },
  context: Context,
): Promise<number> => {
  const { prune, only, allowSecret = [], json, format } = flags
  const { terminal } = context
  if (prune || only || allowSecret.length > 0 || format === 'markdown')
    throw new UsageError('Revisions are compared without --prune, --only, --allow-secret and --format markdown.')
  const options = { params: { id, seq: to }, query: { from } }
  const found = await connect(flags, context).client.call('GET /agents/:id/revisions/:seq/diff', options)
  const manifest = found.manifest.map(hideSecretsInChange)
  const isEqual = found.changes.length === 0 && manifest.length === 0
  const title = `${id} ${found.from} → ${to}`
  const lines = manifest.map(change => `    ${changeText(change)}`)
  if (json || format === 'json') terminal.out(JSON.stringify({ ...found, manifest }))
  else if (isEqual) terminal.report(`${colors.bold(title)} · nothing differs`)
  else terminal.report([...changesText(title, found), ...(lines.length > 0 ? ['  in the manifest:', ...lines] : [])])
  return isEqual ? ExitCode.ok : ExitCode.outOfDate
}

const history = async (id: string, { limit, ...flags }: HistoryFlags, context: Context): Promise<void> => {
  const pages = connect(flags, context).client.pages('GET /agents/:id/revisions', { params: { id } })
  // Without what a fetched card changed, which may have a secret.
  const revisions = (await readList(pages, page => page.revisions, limit)).map(({ drift, ...revision }) => revision)
  const rows = revisions.map(each => [String(each.seq), each.created, each.by, each.author, each.class ?? '-'])
  if (flags.json) context.terminal.out(JSON.stringify({ id, revisions }))
  else context.terminal.table(['seq', 'created', 'by', 'author', 'class'], rows)
}

const rollback = async ({ id, to }: Revisions, flags: HostFlags, context: Context): Promise<void> => {
  const { terminal } = context
  const { client } = connect(flags, context)
  const registered = await readAgent(client, id)
  const result = await registerAgain(client, { id, to }, registered?.etag)
  const { source, ...shown } = result
  if (flags.json) terminal.out(JSON.stringify({ ...shown, restored: to }))
  else if (result.changed) terminal.report(changesText(`restored revision ${to} of ${id} as ${result.seq}`, result))
  else terminal.report(`unchanged ${colors.bold(id)}: the manifest of revision ${to} is registered already`)
  for (const { rule, message } of result.report?.issues ?? [])
    if (rule === 'incompatible-version') terminal.info(`The restored version ${message}.`)
  const pull = `run npx sync-card pull ${id} --force`
  if (result.changed)
    terminal.info(`No file is changed: ${pull}, or the next npx sync-card registers what your file has.`)
  if (!result.published) terminal.info('Not propagated to the edge yet; the host will keep retrying.')
}

/** Registers the manifest of a revision again. `etag` is of what it replaces; without one, there must be no agent. */
const registerAgain = async (client: HostClient, { id, to }: Revisions, etag: string | undefined) => {
  const send = (tag: string | null) =>
    client.call('POST /agents/:id/rollback', { params: { id }, body: { seq: to }, etag: tag })
  try {
    return await send(etag ?? null)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 412 || !error.isRepeated) throw error
    // The attempt whose response was lost may have restored it: another one, with the new entity tag, changes nothing.
    const registered = await readAgent(client, id)
    const { manifest } = await client.call('GET /agents/:id/revisions/:seq', { params: { id, seq: to } })
    if (!registered || !manifest || !jsonEquals(registered.manifest, manifest)) throw error
    return { ...(await send(registered.etag)), changed: true }
  }
}

const changesText = (title: string, result: Pick<ResponseOf<'POST /agents/:id/rollback'>, 'class' | 'changes'>) => [
  colors.bold(title) + (result.class === undefined ? '' : ` · ${result.class}`),
  ...(result.changes ?? []).map(change => `  ${change.class}: ${change.message}`),
]
