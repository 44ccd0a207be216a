import { InvalidArgumentError } from 'commander'
import { readManifest } from '../../../src/card/manifest/index.ts'
import { agentIdPattern, baseTier, type Scope, scopes } from '../../../src/card/model/index.ts'
import { MAX_PAGE_SIZE } from '../../../src/limits.ts'
import { VERSION } from '../../../src/version.ts'
import { type HostClient, isProblem, type ResponseOf, readAgent, readList } from '../../client/index.ts'
import type { Context } from '../../context.ts'
import { asRejection } from '../../errors.ts'
import type { AddCommand, HostFlags } from '../../options.ts'
import { addHostOptions, changeEach, choiceOption, collect, connect, parseChoice } from '../../options.ts'
import { colors, formatTable } from '../../terminal.ts'

type CreateFlags = HostFlags & { scope: Scope[]; agent?: string[]; tier?: string[]; note?: string } & {
  expires?: number | string
}

/** Adds `whoami`, which shows the host and the token in use, and `token`, which issues, lists and revokes tokens. */
export const addToken: AddCommand = (program, context, exit) => {
  addHostOptions(program.command('whoami'))
    .description('show the host and the token that commands use, and what the token allows')
    .action((flags: HostFlags) => whoami(flags, context))
  const token = program.command('token').description('issue, list and revoke the tokens of a host')
  addHostOptions(token.command('create'), 'admin')
    .description('issue a token and print it; it is shown only once')
    .addOption(
      choiceOption('--scope <scope>', 'what the token allows; repeatable', scopes)
        .argParser((value: string, before: Scope[] = []) => [...before, parseChoice(value, scopes)])
        .makeOptionMandatory(),
    )
    .option('--agent <glob>', 'the agents that it is for, such as weather-*; default: all; repeatable', collect)
    .option('--tier <tier>', 'an additional extended card that it can read; * for all; repeatable', collect)
    .option(
      '--expires <when>',
      'when the token expires: after 90m, 12h, 30d or 8w, or on a date such as 2027-01-31; default: never',
      parseExpiry,
    )
    .option('--note <text>', 'its owner and purpose')
    .action((flags: CreateFlags) => create(flags, context))
  addHostOptions(token.command('list'), 'admin')
    .description('list the issued tokens; never the tokens themselves')
    .action((flags: HostFlags) => list(flags, context))
  addHostOptions(token.command('revoke'), 'admin')
    .description('revoke tokens; this takes effect everywhere within a minute or two')
    .argument('<ids...>', 'their ids, as list shows them')
    .action(async (ids: string[], flags: HostFlags) => exit(await revoke(ids.map(tokenId), flags, context)))
}

const SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 7 * 86_400 }

/** Parses when a token expires, as the host takes it: a duration such as 30d in seconds, or a date as it is. */
export const parseExpiry = (text: string): number | string => {
  const [, count, unit = ''] = /^(\d{1,9})([smhdw])$/.exec(text) ?? []
  if (count !== undefined) return Number(count) * (SECONDS[unit] ?? 1)
  if (/^\d{4}-\d{2}-\d{2}(?:T\S+)?$/.test(text)) return text
  throw new InvalidArgumentError('Use a duration such as 90m, 12h, 30d or 8w, or a date such as 2027-01-31.')
}

/** Accepts a whole token in place of its id. The secret part of it is not sent anywhere. */
const tokenId = (text: string): string => /^cc_([a-z2-7]+)_/.exec(text)?.[1] ?? text

const create = async (flags: CreateFlags, context: Context): Promise<void> => {
  const { scope, agent, tier, expires, note, json } = flags
  const { terminal, clock } = context
  const { client } = connect(flags, context)
  const warnings = await warnUnknownAgents(client, agent ?? [], tier ?? [])
  // If the response is lost, a token exists that nobody knows, so no second one is issued.
  const body = { scopes: scope, agents: agent, tiers: tier, expires, note }
  const issued = await client.call('POST /tokens', { body, once: true })
  terminal.out(json ? JSON.stringify(issued) : issued.token)
  const { scopes: allowed, agents, tiers, expires: end } = describeToken(issued, clock.now())
  const rights = `${allowed} for ${agents}${tiers === '-' ? '' : `, tiers ${tiers}`}`
  terminal.info(`${issued.id}: ${rights}, expires ${end}. Store the token: it cannot be shown again.`)
  for (const warning of warnings) terminal.info(`${colors.yellow('warning:')} ${warning}`)
  if (!issued.published) terminal.info('Not propagated to the edge yet; the host will keep retrying.')
}

const list = async (flags: HostFlags, context: Context): Promise<void> => {
  const { terminal, clock } = context
  const tokens = await readList(connect(flags, context).client.pages('GET /tokens'), page => page.tokens)
  const columns = ['id', 'scopes', 'agents', 'tiers', 'expires', 'note'] as const
  const shown = tokens.map(token => ({ ...token, ...describeToken(token, clock.now()) }))
  const rows = shown.map(token => columns.map(name => token[name]))
  if (flags.json) terminal.out(JSON.stringify({ tokens }))
  else if (tokens.length === 0)
    terminal.report('No tokens besides the ADMIN_TOKEN: npx sync-card token create issues one.')
  else terminal.report(formatTable([columns.map(colors.dim), ...rows]))
}

const revoke = async (ids: readonly string[], flags: HostFlags, context: Context): Promise<number> => {
  const { client } = connect(flags, context)
  return changeEach(ids, { ...flags, changed: 'revoked' }, context, async id => {
    await client.call('DELETE /tokens/:id', { params: { id } }).catch(async (error: unknown) => {
      if (!isProblem(error, 'token-not-found') || !error.isRepeated) throw error
      // The attempt whose response was lost may have revoked it: then it is one of those that were revoked last.
      const { entries } = await client.call('GET /audit', { query: { what: 'token-revoked', limit: MAX_PAGE_SIZE } })
      if (!entries.some(({ details }) => details?.token === id)) throw error
    })
    return `revoked ${id}`
  })
}

/** The number of agents that are looked up at most; a host accepts no more in one token. */
const MAX_AGENTS = 20

/** Returns a warning for each agent and tier that the host does not have: most likely they are mistyped. */
const warnUnknownAgents = async (client: HostClient, agents: readonly string[], tiers: readonly string[]) => {
  const ids = agents.filter(id => agentIdPattern.test(id)).slice(0, MAX_AGENTS)
  const registered = await Promise.all(ids.map(id => readAgent(client, id).catch(asRejection)))
  const unknown = ids.filter((_, index) => registered[index] === undefined)
  const tiersOfAgents = registered.flatMap(agent => {
    const parsed = agent && 'manifest' in agent ? readManifest(agent.manifest) : { errors: [] }
    return 'manifest' in parsed ? [Object.keys(parsed.manifest.tiers ?? {})] : []
  })
  // A glob may match agents that do not exist yet, and they may have the tier.
  const areAllKnown = agents.length > 0 && tiersOfAgents.length === agents.length
  const known = ['*', baseTier, ...tiersOfAgents.flat()]
  const unknownTiers = areAllKnown ? tiers.filter(tier => !known.includes(tier)) : []
  return [
    ...unknown.map(id => `No agent "${id}" exists on this host yet; the token will apply once it does.`),
    ...unknownTiers.map(tier => `None of the agents has a tier "${tier}" yet; the token will apply once one does.`),
  ]
}

/** Describes what a token allows, and until when; `now` is in ms since 1970. */
const describeToken = (
  { scopes: allowed, agents, tiers, expires }: Omit<ResponseOf<'GET /tokens/self'>, 'note'>,
  now: number,
) => ({
  scopes: allowed.join(', '),
  agents: agents.join(', '),
  tiers: tiers.join(', ') || '-',
  expires: expires === null ? 'never' : Date.parse(expires) > now ? expires : colors.yellow(`expired ${expires}`),
})

const whoami = async (flags: HostFlags, context: Context): Promise<void> => {
  const { terminal, clock } = context
  const { host, client } = connect(flags, context)
  const { url, urlFrom, name, set, tokenFrom } = host
  const token = await client.call('GET /tokens/self')
  const { version, registry, missing } = await client.call('GET /health')
  const rows = Object.entries({
    host: `${colors.bold(url)} (${urlFrom})`,
    version: version === VERSION ? version : `${version}; this is sync-card ${VERSION}`,
    missing: missing.join(', '),
    set,
    token: `${colors.bold(token.id)} (${tokenFrom})`,
    ...describeToken(token, clock.now()),
    note: token.note,
  })
  if (flags.json) {
    const own = { ...token, from: tokenFrom }
    const versions = { version, clientVersion: VERSION }
    terminal.out(JSON.stringify({ url, urlFrom, name, set, ...versions, registry, missing, token: own }))
  } else terminal.report(formatTable(rows.flatMap(([label, value]) => (value ? [[colors.dim(label), value]] : []))))
}
