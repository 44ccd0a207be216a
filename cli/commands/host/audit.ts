import { InvalidArgumentError } from 'commander'
import { isJsonObject, type JsonObject, toText } from '../../../src/json/index.ts'
import { AUDIT_HEAD_TYPE, AUDITED, findChainBreak } from '../../../src/registry/audit/shared.ts'
import { type HostClient, type ResponseOf, readKeys, readList, verifySignature } from '../../client/index.ts'
import type { Context } from '../../context.ts'
import { ExitCode } from '../../errors.ts'
import { type AddCommand, addHostOptions, choiceOption, connect, type HostFlags, parseNumber } from '../../options.ts'

type AuditPage = ResponseOf<'GET /audit'>
type AuditEntry = AuditPage['entries'][number]

/** The newest entry of an earlier verification. */
type SeenHead = { number: number; hash: string }

type ListFlags = HostFlags & { [Name in 'agent' | 'actor' | 'what' | 'since' | 'until']?: string } & { limit: number }

/** Adds `audit`, which shows who changed what on a host, and `audit verify`, which checks that the record is whole. */
export const addAudit: AddCommand = (program, context, exit) => {
  const audit = addHostOptions(program.command('audit'), 'admin')
    .description('show who changed what on the host, newest first')
    .option('--agent <id>', 'changes of this agent')
    .option('--actor <actor>', 'changes by admin, host, anonymous or the token with this id')
    .addOption(choiceOption('--what <what>', 'what happened', AUDITED))
    .option('--since <time>', 'on or after this date or time, such as 2027-01-31 or 2027-01-31T12:00:00Z')
    .option('--until <time>', 'before this date or time')
    .option(
      '--limit <count>',
      'the maximum number of entries',
      parseNumber(/^[1-9]\d{0,5}$/, 'Use a number from 1 to 999999.'),
      50,
    )
    .action((flags: ListFlags) => list(flags, context))
  addHostOptions(audit.command('verify'), 'admin')
    .description('recompute the chain of the audit, and check its signature')
    .option('--seen <number:hash>', 'the newest entry of an earlier verification, which must still be there', parseSeen)
    .action(async (flags: HostFlags & { seen?: SeenHead }) => exit(await verify(flags, context)))
}

const parseSeen = (text: string): SeenHead => {
  const [, number, hash = ''] = /^([1-9]\d{0,15}):([0-9a-f]{64})$/.exec(text) ?? []
  if (number !== undefined) return { number: Number(number), hash }
  throw new InvalidArgumentError('Use what `npx sync-card audit verify` printed, such as 17:3f….')
}

const list = async (flags: ListFlags, context: Context): Promise<void> => {
  const { agent, actor, what, since, until, limit, json } = flags
  const pages = connect(flags, context).client.pages('GET /audit', { query: { agent, actor, what, since, until } })
  const entries = await readList(pages, page => page.entries, limit)
  const rows = entries.map(entry => COLUMNS.map(name => toCell(entry[name])))
  if (json) context.terminal.out(JSON.stringify({ entries }))
  else if (entries.length === 0) context.terminal.info('The audit has no such entries.')
  else context.terminal.table(COLUMNS, rows)
}

const COLUMNS = ['number', 'time', 'actor', 'what', 'agent', 'seq', 'details'] as const

/** Details that only programs compare: with `--json`, they are printed too. */
const DIGESTS: readonly string[] = ['manifest', 'accepted', 'sha256']

const toCell = (value: JsonObject[string]): string => {
  if (Array.isArray(value)) return value.map(toText).join(',')
  if (!isJsonObject(value)) return toText(value)
  const shown = Object.entries(value).filter(([name]) => !DIGESTS.includes(name))
  return shown.map(([name, detail]) => `${name}=${toCell(detail)}`).join(' ')
}

/** A contradiction. `entry` is its number in the chain; undefined for the signature. */
type Problem = { entry?: number; message: string }

const verify = async (flags: HostFlags & { seen?: SeenHead }, context: Context): Promise<number> => {
  const { terminal } = context
  const { client } = connect(flags, context)
  const { entries, head, ...chain } = await verifyChain(client, flags.seen)
  const invalid = head ? await checkSignature(head, client) : undefined
  const problem: Problem | undefined = chain.problem ?? invalid
  const isSigned = head?.signature !== undefined && invalid === undefined
  if (flags.json) terminal.out(JSON.stringify({ valid: problem === undefined, entries, head, isSigned, problem }))
  else if (problem) {
    const { entry, message } = problem
    terminal.error(entry === undefined ? message : `Entry ${entry} does not fit: ${message}.`)
  } else if (head === null) terminal.report('The audit has no entries.')
  else {
    terminal.report(`${head.number}:${head.hash}`)
    const signature = isSigned
      ? 'signed by this host'
      : 'not signed, because this host has no key to sign with (npx sync-card keys create)'
    terminal.info(`Entries that fit together: ${entries}. The newest is ${signature}.`)
    terminal.info('Keep the line above: with --seen, the next verification finds out if these entries are replaced.')
  }
  return problem ? ExitCode.outOfDate : ExitCode.ok
}

/** Reads the audit from the newest entry to the first, one page at a time, and finds the first that does not fit. */
const verifyChain = async (client: HostClient, seen: SeenHead | undefined) => {
  let head: AuditPage['head'] | undefined
  let newer: AuditEntry | undefined
  let entries = 0
  let problem: Problem | undefined
  let isSeen = seen === undefined
  for await (const page of client.pages('GET /audit')) {
    if (head === undefined) {
      head = page.head
      const [newest] = page.entries
      if (head?.hash !== newest?.hash || head?.number !== newest?.number)
        problem = { ...(head && { entry: head.number }), message: 'it is not the newest entry of the list' }
    }
    for (const entry of page.entries) {
      entries++
      problem = findProblem(newer, entry) ?? problem
      if (seen && entry.number === seen.number) {
        isSeen = true
        if (entry.hash !== seen.hash) problem = { entry: seen.number, message: 'its hash is not the one seen before' }
      }
      newer = entry
    }
  }
  problem = findProblem(newer, undefined) ?? problem
  if (!isSeen && seen) problem ??= { entry: seen.number, message: 'it was seen before, and is missing' }
  return { entries, head: head ?? null, problem }
}

const findProblem = (entry: AuditEntry | undefined, before: AuditEntry | undefined): Problem | undefined => {
  const message = entry && findChainBreak(entry, before)
  return message === undefined ? undefined : { entry: Number(entry?.number), message }
}

/** Returns why the signature of the newest entry is not one by the keys that the host publishes; undefined if it is. */
const checkSignature = async ({ number, hash, signature }: NonNullable<AuditPage['head']>, client: HostClient) => {
  const keys = await readKeys(client)
  if (signature === undefined)
    return keys && { message: 'The newest entry is not signed, although the host publishes keys.' }
  const signed = (await verifySignature(signature, keys, AUDIT_HEAD_TYPE))?.value
  const isValid = signed?.number === number && signed?.hash === hash
  return isValid ? undefined : { message: 'The signature of the newest entry is not valid.' }
}
