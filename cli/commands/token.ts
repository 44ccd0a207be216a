import { type Command, InvalidArgumentError } from 'commander'
import colors from 'picocolors'
import { scopes } from '../../src/card/model/constants.ts'
import { exitCodes } from '../exit-codes.ts'
import { connect, type Host } from '../host/host.ts'
import { connectTokens, type Declined } from '../host/tokens.ts'
import { unknownNames } from '../host/unknown-names.ts'
import { tokensText, tokenText } from '../report/tokens-text.ts'
import { readExpiry } from './expiry.ts'
import { fail, type HostFlags, print, say, withConnection, withHost } from './with-host.ts'

type CreateFlags = HostFlags & {
  scope: string[]
  agent?: string[]
  tier?: string[]
  expires?: number | string
  note?: string
}
type Tokens = ReturnType<typeof connectTokens>

/** Adds `token`, which issues, lists and revokes the tokens of a host. */
export const addToken = (command: Command): Command => {
  const token = command.command('token').description('issue, list and revoke the tokens of a host')
  addCreate(token)
  addList(token)
  addRevoke(token)
  return command
}

const addCreate = (token: Command): void => {
  withHost(token.command('create'), 'admin')
    .description('issue a token and print it, this one time')
    .requiredOption('--scope <scope>', `${scopes.join(', ')}: what its bearer may do; name several one by one`, choice)
    .option(
      '--agent <glob>',
      'the agents that it is for, such as weather-*; else all; name several one by one',
      several,
    )
    .option('--tier <tier>', 'an extended card that its bearer may read beside the first; * for all', several)
    .option('--expires <when>', 'in 90m, 12h, 30d, 8w; or a date such as 2027-01-31; else never', readExpiry)
    .option('--note <text>', 'whose it is, what it is for')
    .action((flags: CreateFlags) => withTokens(flags, (tokens, host) => create(tokens, host, flags)))
}

const addList = (token: Command): void => {
  withHost(token.command('list'), 'admin')
    .description('show the tokens that were issued; never the tokens themselves')
    .action((flags: HostFlags) =>
      withTokens(flags, async tokens => {
        const found = await tokens.list()
        if ('declined' in found) return decline(found)
        print(flags.json ? JSON.stringify({ tokens: found }) : tokensText(found, Date.now()))
      }),
    )
}

const addRevoke = (token: Command): void => {
  withHost(token.command('revoke'), 'admin')
    .description('end tokens: at once where the host hears of it, and everywhere within a minute or two')
    .argument('<ids...>', 'their ids, as list shows them')
    .action((given: string[], flags: HostFlags) => {
      const ids = given.map(idOf)
      return withTokens(flags, tokens => revoke(tokens, ids, flags))
    })
}

const several = (value: string, before: string[] = []): string[] => [...before, value]

const choice = (value: string, before: string[] = []): string[] => {
  if (!scopes.some(scope => scope === value))
    throw new InvalidArgumentError(`Allowed choices are ${scopes.join(', ')}.`)
  return [...before, value]
}

/** Who pastes the whole token means its id; the rest of it is not to be sent anywhere. */
const idOf = (text: string): string => /^cc_([a-z2-7]+)_/.exec(text)?.[1] ?? text

const create = async (
  tokens: Tokens,
  host: Host,
  { scope, agent, tier, expires, note, json }: CreateFlags,
): Promise<void> => {
  const unknown = await unknownNames(host, { agents: agent, tiers: tier })
  const issued = await tokens.issue({
    scopes: scope,
    ...(agent && { agents: agent }),
    ...(tier && { tiers: tier }),
    ...(expires !== undefined && { expires }),
    ...(note !== undefined && { note }),
  })
  if ('declined' in issued) return decline(issued)
  print(json ? JSON.stringify(issued) : issued.token)
  say(`${tokenText(issued, Date.now())}. Keep the token: nobody can show it again.`)
  for (const words of unknown)
    say(`${colors.yellow('warning:')} ${words}: the token is for what may come by that name.`)
  if (!issued.published) say('The edge has not taken it yet: the host goes on publishing.')
}

const revoke = async (tokens: Tokens, ids: readonly string[], { json }: HostFlags): Promise<void> => {
  const revoked: string[] = []
  for (const id of ids) {
    const refusal = await tokens.revoke(id)
    if (refusal) decline(refusal, id)
    else revoked.push(id)
    if (!refusal && !json) print(`revoked ${id}`)
  }
  if (json) print(JSON.stringify({ revoked }))
}

const withTokens = (flags: HostFlags, work: (tokens: Tokens, host: Host) => Promise<void>): Promise<void> =>
  withConnection(flags, connection => work(connectTokens(connection), connect(connection)))

const decline = ({ declined }: Declined, id?: string): void =>
  fail(id === undefined ? declined : `${id}: ${declined}`, exitCodes.refused)
