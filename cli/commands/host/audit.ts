import { InvalidArgumentError } from 'commander'
import { compactVerify } from 'jose'
import { isJsonObject, type JsonObject, toText } from '../../../src/json/index.ts'
import { AUDIT_HEAD_TYPE, AUDITED, findChainBreak } from '../../../src/registry/audit/shared.ts'
import { type AuditPage, type HostClient, importHostKey } from '../../client/index.ts'
import type { Context } from '../../context.ts'
import { ExitCode } from '../../exit-codes.ts'
import { type AddCommand, addHostOptions, choiceOption, connect, type HostFlags } from '../../options.ts'

/** The newest entry of an earlier verification. */
type SeenHead = { number: number; hash: string }

type ListFlags = HostFlags & {
  agent?: string
  actor?: string
  what?: string
  since?: string
  until?: string
  limit: number
}
type VerifyFlags = HostFlags & { seen?: SeenHead }

const DEFAULT_LIMIT = 50

/** Adds `audit`, which shows who changed what on a host, and `audit verify`, which checks that the record is whole. */
export const addAudit: AddCommand = (program, context, exit) => {
  const audit = addHostOptions(program.command('audit'), 'admin')
    .description('show who changed what on the host, newest first')
    .option('--agent <id>', 'changes of this agent')
    .option('--actor <actor>', 'by admin, host, anonymous or the token of this id')
    .addOption(choiceOption('--what <what>', 'what happened', AUDITED))
    .option('--since <time>', 'not before this date or time, such as 2027-01-31 or 2027-01-31T12:00:00Z')
    .option('--until <time>', 'before this date or time')
    .option('--limit <count>', 'entries at most', parseLimit, DEFAULT_LIMIT)
    .action(async (flags: ListFlags) => exit(await list(flags, context)))
  addHostOptions(audit.command('verify'), 'admin')
    .description('recompute the chain of the audit, and check its signature')
    .option(
      '--seen <number:hash>',
      'the newest entry of an earlier verification, which must still be there',
      parseSeenHead,
    )
    .action(async (flags: VerifyFlags) => exit(await verify(flags, context)))
}

const parseLimit = (text: string): number => {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Use a number from 1 to 999999.')
}

const parseSeenHead = (text: string): SeenHead => {
  const [, number, hash = ''] = /^([1-9]\d{0,15}):([0-9a-f]{64})$/.exec(text) ?? []
  if (number === undefined)
    throw new InvalidArgumentError('Use what `npx sync-card audit verify` printed, such as 17:3f….')
  return { number: Number(number), hash }
}

const list = async (flags: ListFlags, context: Context): Promise<number> => {
  const { agent, actor, what, since, until, limit, json } = flags
  const { terminal } = context
  const filters = Object.entries({ agent, actor, what, since, until }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] satisfies [string, string]],
  )
  const entries = await connect(flags, context).getAudit(Object.fromEntries(filters), limit)
  if (json) terminal.out(JSON.stringify({ entries }))
  else if (entries.length === 0) terminal.info('The audit has no such entries.')
  else
    terminal.table(
      COLUMNS,
      entries.map(entry => COLUMNS.map(name => toCell(entry[name]))),
    )
  return ExitCode.ok
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

/** What a verification found. `problem` is undefined where everything fits. */
type Verification = { entries: number; head: AuditPage['head']; isSigned: boolean; problem?: Problem }

/** What does not fit; `entry` is its number in the chain, undefined for the signature. */
type Problem = { entry?: number; message: string }

const verify = async (flags: VerifyFlags, context: Context): Promise<number> => {
  const { terminal } = context
  const { entries, head, isSigned, problem } = await verifyAudit(connect(flags, context), flags.seen)
  const exitCode = problem ? ExitCode.outOfDate : ExitCode.ok
  if (flags.json) terminal.out(JSON.stringify({ valid: problem === undefined, entries, head, isSigned, problem }))
  else if (problem) terminal.error(describeProblem(problem))
  else if (head === null) terminal.report('The audit has no entries.')
  else {
    terminal.report(`${head.number}:${head.hash}`)
    const signature = isSigned
      ? 'signed by this host'
      : 'not signed, because this host has no key to sign with (npx sync-card keys create)'
    terminal.info(`Entries that fit together: ${entries}. The newest is ${signature}.`)
    terminal.info('Keep the line above: with --seen, the next verification finds out if these entries are replaced.')
  }
  return exitCode
}

const describeProblem = ({ entry, message }: Problem): string =>
  entry === undefined ? message : `Entry ${entry} does not fit: ${message}.`

/** Reads the audit from the newest entry to the first, one page at a time, and finds the first entry that does not fit. */
const verifyAudit = async (client: HostClient, seen: SeenHead | undefined): Promise<Verification> => {
  let head: AuditPage['head'] | undefined
  let newer: JsonObject | undefined
  let entries = 0
  let problem: Problem | undefined
  let isSeen = seen === undefined
  for await (const page of client.readAudit()) {
    if (head === undefined) {
      head = page.head
      const [newest] = page.entries
      if (head?.hash !== newest?.hash || head?.number !== newest?.number)
        problem = { ...(head && { entry: head.number }), message: 'it is not the newest entry of the list' }
    }
    for (const entry of page.entries) {
      entries++
      if (newer) problem = findProblem(newer, entry) ?? problem
      if (seen && entry.number === seen.number) {
        isSeen = true
        if (entry.hash !== seen.hash) problem = { entry: seen.number, message: 'its hash is not the one seen before' }
      }
      newer = entry
    }
  }
  if (newer) problem = findProblem(newer, undefined) ?? problem
  if (!isSeen && seen) problem ??= { entry: seen.number, message: 'it was seen before, and is missing' }
  const signature = await verifySignature(head ?? null, client)
  problem ??= signature.problem
  return { entries, head: head ?? null, isSigned: signature.isSigned, ...(problem && { problem }) }
}

const findProblem = (entry: JsonObject, before: JsonObject | undefined): Problem | undefined => {
  const message = findChainBreak(entry, before)
  return message === undefined ? undefined : { entry: Number(entry.number), message }
}

/** Verifies the signature of the newest entry with the keys that the host publishes. */
const verifySignature = async (
  head: AuditPage['head'],
  client: HostClient,
): Promise<{ isSigned: boolean; problem?: Problem }> => {
  if (head === null) return { isSigned: false }
  const keys = await client.getKeys()
  const { signature } = head
  if (signature === undefined)
    return keys
      ? { isSigned: false, problem: { message: 'The newest entry is not signed, although the host publishes keys.' } }
      : { isSigned: false }
  const invalid = { isSigned: false, problem: { message: 'The signature of the newest entry is not valid.' } }
  try {
    const { payload } = await compactVerify(signature, header => importHostKey(keys, header, AUDIT_HEAD_TYPE))
    const { number, hash } = JSON.parse(new TextDecoder().decode(payload))
    return number === head.number && hash === head.hash ? { isSigned: true } : invalid
  } catch {
    // Whatever is wrong with it, the signature does not prove anything.
    return invalid
  }
}
