import { InvalidArgumentError } from 'commander'
import { isJsonObject } from '../../src/json/json.ts'
import { parseUrl } from '../../src/net/urls.ts'
import type { HostClient } from '../client/index.ts'
import type { Context } from '../context.ts'
import { ExitCode, UsageError } from '../exit-codes.ts'
import { findHost, isUnencrypted } from '../hosts/index.ts'
import {
  type AddCommand,
  addHostOptions,
  createHostClient,
  describeMissing,
  type HostConnection,
  type HostFlags,
  resolveWithWarning,
} from '../options.ts'
import { colors, escapeControls, withoutControls } from '../terminal.ts'
import { type CheckedRecord, checkRecord, DEFAULT_RESOLVER } from './check.ts'
import {
  type AgentRecords,
  DNS_AID_DRAFT,
  type DnsRecord,
  describeRecords,
  formatRecord,
  parseDomain,
} from './records.ts'

type Flags = HostFlags & { domain?: string; ttl: number; verify?: true; resolver: string }

/** Short, as clients refuse a record with the digest of another card. */
const DEFAULT_TTL_SECONDS = 300

/** Adds `dns`, which prints the DNS records of an agent, or compares them with what DNS has. */
export const addDns: AddCommand = (program, context, exit) => {
  addHostOptions(program.command('dns'), 'write')
    .description('print the DNS records by which clients find an agent and check its card, or check them')
    .argument('<id>', 'the agent')
    .option('--domain <name>', 'the domain whose agent it is; default: that of its host name', toDomain)
    .option('--ttl <seconds>', 'how long resolvers cache the records', toTtl, DEFAULT_TTL_SECONDS)
    .option('--verify', 'compare with what DNS has, and exit 1 if the record of the agent is missing or another')
    .option('--resolver <url>', 'a resolver with the JSON API of DNS over HTTPS', toResolver, DEFAULT_RESOLVER)
    .action(async (id: string, flags: Flags) => exit(await showRecords(id, flags, context)))
}

const toDomain = (text: string): string => {
  const domain = parseDomain(text)
  if (domain === undefined) throw new InvalidArgumentError('It must be a domain such as example.com.')
  return domain
}

const MAX_TTL_SECONDS = 86_400

const toTtl = (text: string): number => {
  const ttl = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (ttl < 1 || ttl > MAX_TTL_SECONDS) throw new InvalidArgumentError(`It must be 1 to ${MAX_TTL_SECONDS} seconds.`)
  return ttl
}

const toResolver = (text: string): string => {
  if (parseUrl(text) === null || isUnencrypted(text))
    throw new InvalidArgumentError('It must be the URL of a resolver, with https.')
  return text
}

const showRecords = async (id: string, flags: Flags, context: Context): Promise<number> => {
  const { domain, ttl, verify, resolver, json } = flags
  const { terminal } = context
  const host = resolveWithWarning(flags, context, findHost)
  const client = createHostClient(host, context)
  const { etag } = await client.getLiveCard(id)
  const sha256 = /^"([0-9a-f]{64})"$/.exec(etag ?? '')?.[1]
  if (sha256 === undefined) {
    terminal.error(await describeNoCard(id, { host, client }))
    return ExitCode.rejected
  }
  const ownHost = host.token === '' ? undefined : await findOwnHost(id, client)
  const agent = describeRecords({ id, ownHost, hostUrl: host.url, sha256, domain, ttl })
  const checked = verify ? await checkAll(agent.records, resolver, context) : undefined
  if (json) terminal.out(escapeControls(toJson(id, agent, checked)))
  else if (checked) terminal.report(checkText(checked))
  else terminal.out(zoneText(id, agent))
  const isComplete = checked?.every(({ record, state }) => record.optional || state === 'present') ?? true
  return isComplete ? ExitCode.ok : ExitCode.outOfDate
}

/** Returns why the host serves no card of an agent to everyone. */
const describeNoCard = async (id: string, connection: HostConnection): Promise<string> => {
  const { host, client } = connection
  const agent = host.token === '' ? undefined : await client.getAgent(id)
  if (agent === undefined) return `${await describeMissing(id, connection)} Only public agents have DNS records.`
  if ('rejected' in agent) return `Agent "${id}" has no public card, and its manifest cannot be read: ${agent.detail}`
  return isJsonObject(agent.manifest) && agent.manifest.visibility === 'internal'
    ? `Agent "${id}" is internal. Only public agents have DNS records.`
    : `The host does not serve the card of agent "${id}" at the moment.`
}

/** Returns the first host name that the agent claims for itself. */
const findOwnHost = async (id: string, client: HostClient): Promise<string | undefined> => {
  const agent = await client.getAgent(id)
  if (agent === undefined || 'rejected' in agent) {
    const reason = agent === undefined ? 'it is not registered' : agent.detail
    throw new UsageError(`The host names of agent "${id}" are not known: ${reason}`)
  }
  const { hosts } = isJsonObject(agent.manifest) ? agent.manifest : {}
  return Array.isArray(hosts) ? hosts.filter(name => typeof name === 'string').find(name => name !== '*') : undefined
}

const checkAll = async (
  records: readonly DnsRecord[],
  resolver: string,
  context: Context,
): Promise<CheckedRecord[]> => {
  const checked: CheckedRecord[] = []
  for (const record of records) checked.push(await checkRecord(record, resolver, context))
  return checked
}

/** Writes a part of a zone file, in which comments begin with a semicolon. */
const zoneText = (id: string, { card, records }: AgentRecords): string =>
  [
    `; Agent ${id}: ${card}`,
    `; DNS-AID (${DNS_AID_DRAFT}). Replace the first record whenever the card changes.`,
    ...records.flatMap(record => [`; ${record.purpose}${record.optional ? ' (optional)' : ''}`, formatRecord(record)]),
  ].join('\n')

const checkText = (checked: readonly CheckedRecord[]): string => {
  const isSigned = checked.every(each => each.isSigned)
  return [...checked.flatMap(checkedLines), ...(isSigned ? [] : [colors.dim(UNSIGNED)])].join('\n')
}

const UNSIGNED =
  'The answers are not signed with DNSSEC: an attacker who changes them on the way can replace the digest, too.'

const checkedLines = (checked: CheckedRecord): string[] => {
  const { record } = checked
  const mark = checked.state === 'present' ? colors.green('✓') : record.optional ? colors.yellow('!') : colors.red('✗')
  const title = `${mark} ${record.name} SVCB`
  if (checked.state === 'present') return [`${title} is present.`]
  const note = record.optional ? ' It is optional.' : ''
  if (checked.state === 'missing') return [`${title} is missing.${note} Add:`, `    ${formatRecord(record)}`]
  return [
    `${title} differs.${note}`,
    ...checked.differences.map(
      ({ what, expected, found }) => `    ${what}: expected ${expected}, found ${withoutControls(found)}`,
    ),
  ]
}

const toJson = (id: string, { card, records }: AgentRecords, checked: readonly CheckedRecord[] | undefined): string =>
  JSON.stringify({
    ...{ id, card },
    records: records.map((record, index) => {
      const { name, ttl, optional, data } = record
      const found = checked?.[index]
      return {
        ...{ name, type: 'SVCB', ttl, optional, text: formatRecord(record) },
        ...{ priority: data.priority, target: data.target, params: Object.fromEntries(data.params) },
        ...(found && { state: found.state, dnssec: found.isSigned }),
        ...(found?.state === 'different' && { differences: found.differences }),
      }
    }),
  })
