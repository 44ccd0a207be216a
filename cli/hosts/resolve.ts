import { type Context, type Environment, foldersOfRepository, PROFILES_FILE, readEnvFile } from '../context.ts'
import { UsageError } from '../exit-codes.ts'
import { findProfile, type Profile, readProfiles } from './profiles.ts'
import { isLoopback, localSecretsFile, localUrl, parseHostUrl } from './urls.ts'

/** The host that a command talks to. `url` has no trailing slash. */
export type HostSettings = {
  url: string
  token: string
  /** The set of agents that the host's profile names. */
  set?: string
  /** The name of the host's profile. */
  name?: string
  /** Where the token was found, for people. */
  tokenFrom?: string
}

/** The flags by which a command names its host. */
export type HostNameFlags = { host?: string; url?: string; token?: string }

/** A host and its token, which is empty for an anonymous client, and where each was found, for people. */
export type ResolvedHost = HostSettings & { urlFrom: string; tokenFrom: string }

/** The surroundings that decide about the host. */
type Surroundings = Pick<Context, 'configFolder' | 'env' | 'processEnv'>

/**
 * Resolves the host and its token: flags first, then the environment of the process, `sync-card.yaml`, `.env`, and the host that
 * `npm start` runs. A token belongs to one URL and is sent to no other.
 */
export const resolveHost = (flags: HostNameFlags, surroundings: Surroundings): ResolvedHost => {
  const host = findHost(flags, surroundings)
  if (host.token === '') throw new UsageError(host.tokenFrom)
  return host
}

/** Resolves a host in the same way, for a command whose token is optional. Where none is found, `tokenFrom` has the reason. */
export const findHost = (flags: HostNameFlags, surroundings: Surroundings): ResolvedHost => {
  const target = chooseHost(flags, surroundings)
  const { url, urlFrom, profile } = target
  const { token, tokenFrom } = chooseToken(flags, target, surroundings)
  if (!/^[\x21-\x7e]*$/.test(token) || /^["'].*["']$/.test(token))
    throw new UsageError(
      `The token has characters that no token can have (${tokenFrom}): leave out quotes, spaces and the word Bearer.`,
    )
  return {
    url,
    token,
    ...(profile && { name: profile.name }),
    ...(profile?.set !== undefined && { set: profile.set }),
    urlFrom,
    tokenFrom,
  }
}

/** A host without its token. `isNamed`: the command names the profile, and not only its URL. */
type Target = { url: string; urlFrom: string; profile?: Profile; isNamed?: boolean }

const chooseHost = ({ host, url }: HostNameFlags, surroundings: Surroundings): Target => {
  if (host !== undefined && url !== undefined)
    throw new UsageError('--host and --url both name the host: use one of them.')
  const { configFolder, env, processEnv } = surroundings
  const profiles = readProfiles(configFolder)
  const fromUrl = (text: string, urlFrom: string): Target => {
    const parsed = parseHostUrl(text, urlFrom)
    const matching = profiles.hosts.filter(profile => profile.url === parsed)
    return { url: parsed, urlFrom, ...(matching.length === 1 && matching[0] && { profile: matching[0] }) }
  }
  const fromName = (name: string): Target => {
    const profile = findProfile(name, profiles, surroundings)
    return { url: profile.url, urlFrom: profile.source, profile, isNamed: true }
  }
  if (host !== undefined) return fromName(host)
  if (url !== undefined) return fromUrl(url, '--url')
  if (processEnv.SYNC_CARD_URL !== undefined)
    return fromUrl(processEnv.SYNC_CARD_URL, 'SYNC_CARD_URL in the environment')
  const { hosts, defaultName } = profiles
  const name = defaultName ?? (hosts.length === 1 ? hosts[0]?.name : undefined)
  if (name !== undefined) return fromName(name)
  if (hosts.length > 1) {
    const names = hosts.map(profile => profile.name)
    throw new UsageError(
      `${PROFILES_FILE} has ${names.length} hosts and no default: choose one of ${names.join(', ')} with --host, or write default: ${names[0]} into the file.`,
    )
  }
  if (env.SYNC_CARD_URL !== undefined) return fromUrl(env.SYNC_CARD_URL, 'SYNC_CARD_URL in .env')
  return { url: parseHostUrl(localUrl(env), 'PORT'), urlFrom: 'the default, where `npm start` listens' }
}

/** A token, where it was found, and the URL that it belongs to, if any. */
type FoundToken = { token: string; variable: string; source: string; belongsTo?: string }

const chooseToken = (
  flags: HostNameFlags,
  target: Target,
  surroundings: Surroundings,
): { token: string; tokenFrom: string } => {
  const { url } = target
  if (flags.token === '')
    throw new UsageError('--token is empty: set the variable that it is taken from, or leave it out.')
  if (flags.token !== undefined) return { token: flags.token, tokenFrom: '--token' }
  const found = findTokens(target, surroundings)
  const own = found.find(({ belongsTo }) => belongsTo === url)
  if (own) {
    rejectForeignSecret(own)
    return { token: own.token, tokenFrom: `${own.variable} in ${own.source}` }
  }
  const started = readStartedToken(url, surroundings)
  if (started) return started
  const [other] = found
  return { token: '', tokenFrom: other ? foreignTokenMessage(other, target) : missingTokenMessage(target) }
}

/** Returns the token of the host that `npm start` runs at a URL in this clone, if one does. */
const readStartedToken = (
  url: string,
  { configFolder }: Surroundings,
): { token: string; tokenFrom: string } | undefined => {
  const { protocol, hostname, port } = new URL(url)
  if (protocol !== 'http:' || !['127.0.0.1', 'localhost'].includes(hostname)) return undefined
  const file = localSecretsFile(port || '80')
  const tokens = [configFolder, ...foldersOfRepository(configFolder)].map(
    folder => readEnvFile(folder, file).ADMIN_TOKEN,
  )
  const token = tokens.find(each => each !== undefined)
  // The file is written for wrangler, which expands variables.
  return token === undefined ? undefined : { token: token.replaceAll('\\$', '$'), tokenFrom: `${file} of npm start` }
}

/**
 * Rejects a secret of another product: a `sync-card.yaml` that somebody else wrote can name any variable, such as GITHUB_TOKEN, and any
 * host.
 */
const rejectForeignSecret = ({ token, variable, source }: FoundToken): void => {
  if (/^(?:SYNC_CARD_\w+|ADMIN_TOKEN)$/.test(variable) || /^cc_[a-z2-7]+_[a-z2-7]+$/.test(token)) return
  throw new UsageError(
    `The ${variable} in ${source} is not a token that a host has issued (cc_…), so it is not sent. Keep an admin token in ADMIN_TOKEN or a variable whose name begins with SYNC_CARD_.`,
  )
}

const ENVIRONMENT = 'the environment'

/** Returns the tokens of all sources, in order of preference, whether they belong to the target or not. */
const findTokens = ({ url, profile, isNamed }: Target, { configFolder, processEnv }: Surroundings): FoundToken[] => {
  const files = [...(profile ? [`.env.${profile.name}`] : []), '.env']
  const sources: { source: string; values: Environment; unbound: string | undefined }[] = [
    { source: ENVIRONMENT, values: processEnv, unbound: url },
    ...files.map(source => ({
      source,
      values: readEnvFile(configFolder, source),
      // A token that has been in a file for long must not reach whatever host is named today.
      unbound: isLoopback(url) ? url : undefined,
    })),
  ]
  const variables = tokenVariables(profile, isNamed === true)
  return sources.flatMap(({ source, values, unbound }) => {
    const { SYNC_CARD_URL: bound } = values
    const belongsTo = bound === undefined ? unbound : parseHostUrl(bound, `SYNC_CARD_URL in ${source}`)
    return variables.flatMap(variable => {
      const token = values[variable]
      return token === undefined ? [] : [{ token, variable, source, ...(belongsTo !== undefined && { belongsTo }) }]
    })
  })
}

const USUAL_VARIABLES = ['SYNC_CARD_TOKEN', 'ADMIN_TOKEN']

/** A profile that is found by its URL may have its token in the usual variables as well: they override the file. */
const tokenVariables = (profile: Profile | undefined, isNamed: boolean): string[] => {
  const { tokenVariable } = profile ?? {}
  if (tokenVariable === undefined) return USUAL_VARIABLES
  return isNamed ? [tokenVariable] : [tokenVariable, ...USUAL_VARIABLES]
}

const foreignTokenMessage = ({ variable, source, belongsTo }: FoundToken, target: Target): string => {
  const { url, profile } = target
  if (belongsTo === undefined)
    return `${source} does not say which host its ${variable} is for, so it is not sent to ${url}. If it is for that host, add this line to ${source}: SYNC_CARD_URL=${url}`
  const reason = `The ${variable} in ${source} is for ${belongsTo}, the SYNC_CARD_URL there, and is not sent to ${url}.`
  return `${reason} ${tokenHint(target, profile ? `.env.${profile.name}` : '.env.NAME, and name the host with --host NAME')}`
}

const missingTokenMessage = (target: Target): string => {
  const { url, profile } = target
  const local = isLoopback(url) ? ' npm start makes one, for commands in its clone while it runs.' : ''
  return `There is no token for ${url}.${local} ${tokenHint(target, profile ? `.env.${profile.name}` : '.env')}`
}

/** Returns where the token of a host can be written. */
const tokenHint = ({ url, profile, isNamed }: Target, file: string): string => {
  const [variable = ''] = tokenVariables(profile, isNamed === true)
  return `Use --token, or set SYNC_CARD_URL=${url} and ${variable} in the environment, or write both into ${file}.`
}
