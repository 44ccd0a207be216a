import { ApiError, type ResponseOf } from '../../client/index.ts'
import type { Context } from '../../context.ts'
import { CommandError, onRejection, UsageError } from '../../errors.ts'
import { type AddCommand, addHostOptions, connect, forEachId, type HostFlags, missingAgent } from '../../options.ts'
import { changeText, hideSecretsInChange } from '../../sync/index.ts'
import { colors } from '../../terminal.ts'

type RefreshResult = Pick<Refreshed, 'outcome' | 'seq' | 'drift' | 'notes' | 'pending'> & {
  source?: Pick<Refreshed['source'], 'verification'>
}
type Refreshed = ResponseOf<'POST /agents/:id/refresh'>

type Flags = HostFlags & { accept?: string }

/** Adds `refresh`, which has the host fetch upstream cards again. */
export const addRefresh: AddCommand = (program, context, exit) => {
  addHostOptions(program.command('refresh'), 'write')
    .description('have the host fetch remote cards and tools of MCP servers again')
    .argument('<ids...>', 'the agents')
    .option('--accept <etag>', 'accept the card that waits for approval, as `refresh` has shown it')
    .action(async (ids: string[], flags: Flags) => exit(await refresh(ids, flags, context)))
}

const refresh = async (ids: readonly string[], flags: Flags, context: Context): Promise<number> => {
  const { accept, json } = flags
  if (accept !== undefined && ids.length !== 1) throw new UsageError('--accept takes exactly one agent.')
  const connection = connect(flags, context)
  const agents: ({ id: string } & (RefreshResult | { error: string }))[] = []
  const { exitCode, failure } = await forEachId(ids, context, async id => {
    const result = await fetchAgain(connection, id, accept).catch((error: unknown) => {
      if (error instanceof ApiError || error instanceof CommandError) agents.push({ id, error: error.message })
      throw error
    })
    const shown = hideSecretsOf(result)
    agents.push({ id, ...shown })
    if (!json) context.terminal.report(refreshText(id, shown, flags))
  })
  if (json) context.terminal.out(JSON.stringify({ agents, ...(failure !== undefined && { failure }) }))
  return exitCode
}

/** Requests that the host fetch an agent's upstream card again, or accept the pending one with this entity tag. */
const fetchAgain = async (connection: ReturnType<typeof connect>, id: string, accept: string | undefined) => {
  const { client } = connection
  const readSource = () => client.call('GET /agents/:id/source', { params: { id } }).catch(onRejection(() => undefined))
  const isPending = accept !== undefined && (await readSource())?.source.pending?.etag === accept
  const body = accept === undefined ? {} : { body: { accept } }
  const refreshing = client.call('POST /agents/:id/refresh', { params: { id }, ignore: 'agent-not-found', ...body })
  const result = await refreshing.catch(async (error: unknown): Promise<RefreshResult> => {
    // The card does not wait for approval any more: the attempt whose response was lost has accepted it.
    const mayBeAccepted = isPending && error instanceof ApiError && error.status === 412 && error.isRepeated
    if (mayBeAccepted && (await readSource())?.source.state === 'fresh') return { outcome: 'refreshed' }
    throw error
  })
  if (result === undefined) throw await missingAgent(id, connection)
  return result
}

/** Hides secrets in the values before and after: the card before may be older than the check for secrets. */
const hideSecretsOf = ({ outcome, seq, drift = [], notes = [], pending, source }: RefreshResult): RefreshResult => ({
  ...{ outcome, seq, drift: drift.map(hideSecretsInChange), notes },
  ...(source?.verification && { source: { verification: source.verification } }),
  ...(pending && { pending: { ...pending, drift: pending.drift.map(hideSecretsInChange) } }),
})

/** Formats the result for people. The command that it shows names the host as the flags do. */
const refreshText = (id: string, result: RefreshResult, { host, url }: Flags): string[] => {
  const { outcome, drift = [], notes = [], pending, source } = result
  const agent = colors.bold(id)
  if (!pending)
    return [
      `${outcome} ${agent}`,
      ...(source?.verification ? [`    ${verificationText(source.verification)}`] : []),
      ...drift.map(change => `    ${changeText(change)}`),
      ...notes.map(({ pointer, message }) => `    its card: ${pointer} ${message}`),
    ]
  const hostFlag = host !== undefined ? ` --host ${host}` : url !== undefined ? ` --url ${url}` : ''
  const command = `npx sync-card refresh ${id}${hostFlag} --accept '${pending.etag}'`
  return [
    `${colors.yellow('pending')} ${agent} · the new card needs your approval, so the previous one is still served:`,
    ...pending.widens.map(({ pointer, message }) => `    ${pointer} ${message}`),
    '  all changes:',
    ...pending.drift.map(change => `    ${changeText(change)}`),
    `  To accept: ${colors.cyan(command)}`,
  ]
}

const verificationText = (verification: NonNullable<Refreshed['source']['verification']>): string => {
  const { verified, rule, key, reason, accepted } = verification
  if (verified) return `verified: signed with the key ${key?.kid} from ${key?.from} (rule ${rule})`
  return `${accepted ? 'accepted without a valid signature' : 'not verified'}: ${reason}`
}
