import { VERSION } from '../../src/version.ts'
import type { HostHealth, OwnToken } from '../client/index.ts'
import type { Context } from '../context.ts'
import { ExitCode } from '../exit-codes.ts'
import type { ResolvedHost } from '../hosts/index.ts'
import { colors, formatTable } from '../terminal.ts'
import { type AddCommand, addHostOptions, createHostClient, type HostFlags, resolveWithWarning } from './options.ts'
import { describeToken } from './token.ts'

/** Adds `whoami`, which shows which host and token the commands use, and what the token allows. */
export const addWhoami: AddCommand = (program, context, exit) => {
  addHostOptions(program.command('whoami'))
    .description('show the host and the token that commands use, and what the token allows')
    .action(async (flags: HostFlags) => exit(await whoami(flags, context)))
}

const whoami = async (flags: HostFlags, context: Context): Promise<number> => {
  const { terminal, clock } = context
  const host = resolveWithWarning(flags, context)
  const client = createHostClient(host, context)
  const health = await client.getHealth()
  const token = await client.tokens.self()
  if (flags.json) terminal.out(whoamiJson(host, health, token))
  else terminal.report(whoamiText(host, health, token, clock.now()))
  return ExitCode.ok
}

const whoamiJson = ({ url, urlFrom, name, set, tokenFrom }: ResolvedHost, health: HostHealth, token: OwnToken) =>
  JSON.stringify({
    url,
    urlFrom,
    ...(name !== undefined && { name }),
    ...(set !== undefined && { set }),
    version: health.version,
    clientVersion: VERSION,
    registry: health.registry,
    missing: health.missing,
    token: { ...token, from: tokenFrom },
  })

const whoamiText = (host: ResolvedHost, { version, missing }: HostHealth, token: OwnToken, now: number): string => {
  const { url, urlFrom, set, tokenFrom } = host
  const { id, note } = token
  const { scopes, agents, tiers, expires } = describeToken(token, now)
  const rows = Object.entries({
    host: `${colors.bold(url)} (${urlFrom})`,
    version: version === VERSION ? version : `${version}; this is sync-card ${VERSION}`,
    missing: missing.join(', '),
    set,
    token: `${colors.bold(id)} (${tokenFrom})`,
    ...{ scopes, agents, tiers, expires },
    note,
  })
  return formatTable(rows.flatMap(([name, value]) => (value ? [[colors.dim(name), value]] : [])))
}
