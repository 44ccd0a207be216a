import { join } from 'node:path'
import { type Context, type Environment, foldersOfRepository, PROFILES_FILE, readEnvFile } from '../context.ts'
import { MissingTokenError, UsageError } from '../errors.ts'
import { type FoundHost, findProfile, isLoopback, localHost, parseHostUrl, readProfiles } from './profiles.ts'
import { readStarted, startedFile } from './started.ts'

/** The host that a command talks to, with the name and the set of its profile. `url` has no trailing slash. */
export type HostSettings = { url: string; token: string; set?: string; name?: string; tokenFrom?: string }

/** The flags by which a command names its host. */
export type HostNameFlags = { host?: string; url?: string; token?: string }

/** A host and its token, which is empty for an anonymous client, and where each was found, for people. */
export type ResolvedHost = HostSettings & { urlFrom: string; tokenFrom: string }

type Surroundings = Pick<Context, 'configFolder' | 'env' | 'processEnv'>

/**
 * Resolves the host and its token: flags first, then the environment of the process, `sync-card.yaml`, `.env`, and the
 * host of `npm start`. A repository can name any host, so a token is sent only to one that its own source or the user
 * names.
 */
export const resolveHost = (flags: HostNameFlags, surroundings: Surroundings): ResolvedHost => {
  const host = findHost(flags, surroundings)
  if (host.token === '') throw Object.assign(new MissingTokenError(host.tokenFrom), { url: host.url })
  return host
}

/** Resolves a host whose token is optional. Where none is found, `tokenFrom` has the reason. */
export const findHost = (flags: HostNameFlags, surroundings: Surroundings): ResolvedHost => {
  const target = chooseHost(flags, surroundings)
  const { chosenBy, ...host } = target
  const { token, tokenFrom } = chooseToken(flags, target, surroundings)
  if (!/^[\x21-\x7e]*$/.test(token) || /^["'].*["']$/.test(token))
    throw new UsageError(
      `The token has characters that no token can have (${tokenFrom}): leave out quotes, spaces and the word Bearer.`,
    )
  return { ...host, token, tokenFrom }
}

const chooseHost = ({ host, url }: HostNameFlags, surroundings: Surroundings): FoundHost => {
  if (host !== undefined && url !== undefined)
    throw new UsageError('--host and --url both name the host: use one of them.')
  const { configFolder, env, processEnv } = surroundings
  const profiles = readProfiles(configFolder)
  const fromUrl = (text: string, urlFrom: string): FoundHost => {
    const parsed = parseHostUrl(text, urlFrom)
    const [profile, ...others] = profiles.hosts.filter(each => each.url === parsed)
    return { ...(others.length === 0 && profile), url: parsed, urlFrom }
  }
  if (host !== undefined) return { chosenBy: 'name', ...findProfile(host, profiles, surroundings) }
  if (url !== undefined) return { ...fromUrl(url, '--url'), chosenBy: 'url' }
  if (processEnv.SYNC_CARD_URL !== undefined)
    return { ...fromUrl(processEnv.SYNC_CARD_URL, 'SYNC_CARD_URL in the environment'), chosenBy: 'url' }
  const names = profiles.hosts.map(profile => profile.name)
  const name = profiles.defaultName ?? (names.length === 1 ? names[0] : undefined)
  if (name !== undefined) return findProfile(name, profiles, surroundings)
  if (names.length > 1)
    throw new UsageError(
      `${PROFILES_FILE} has ${names.length} hosts and no default: choose one of ${names.join(', ')} with --host, ` +
        `or write default: ${names[0]} into the file.`,
    )
  if (env.SYNC_CARD_URL !== undefined) return fromUrl(env.SYNC_CARD_URL, 'SYNC_CARD_URL in .env')
  return localHost(env)
}

/** A token, where it was found, and the URL that it belongs to, if any. */
type FoundToken = { token: string; variable: string; source: string; belongsTo?: string }

type ChosenToken = Pick<ResolvedHost, 'token' | 'tokenFrom'>

const chooseToken = (flags: HostNameFlags, target: FoundHost, surroundings: Surroundings): ChosenToken => {
  const { url, name } = target
  if (flags.token === '')
    throw new UsageError('--token is empty: set the variable that it is taken from, or leave it out.')
  if (flags.token !== undefined) {
    if (target.chosenBy === undefined) throw new UsageError(`${withheldText('--token', target)} add --url ${url}.`)
    return { token: flags.token, tokenFrom: '--token' }
  }
  const found = findTokens(target, surroundings)
  const own = found.find(({ belongsTo }) => belongsTo === url)
  if (own) return { token: own.token, tokenFrom: `${own.variable} in ${own.source}` }
  const started = readStartedToken(url, surroundings)
  if (started) return started
  const [other] = found
  if (other) return { token: '', tokenFrom: foreignTokenMessage(other, target) }
  const local = isLoopback(url) ? ' npm start makes one, for commands in its clone while it runs.' : ''
  const hint = tokenHint(target, name ? `.env.${name}` : '.env')
  return { token: '', tokenFrom: `There is no token for ${url}.${local} ${hint}` }
}

/** Returns the token of the host that `npm start` runs at a URL in this clone, if one does. */
const readStartedToken = (url: string, { configFolder }: Surroundings): ChosenToken | undefined => {
  const { protocol, hostname, port } = new URL(url)
  if (protocol !== 'http:' || !['127.0.0.1', 'localhost'].includes(hostname)) return undefined
  const file = startedFile(port || '80')
  const folders = [configFolder, ...foldersOfRepository(configFolder)]
  const token = folders.map(folder => readStarted(join(folder, file))?.token).find(each => each !== undefined)
  return token === undefined ? undefined : { token, tokenFrom: `${file} of npm start` }
}

const ENVIRONMENT = 'the environment'

const tokenVariableOf = (name: string): string => `SYNC_CARD_TOKEN_${name.toUpperCase().replaceAll('-', '_')}`

/** Returns the tokens of all sources, in order of preference, whether they belong to the target or not. */
const findTokens = ({ url, name, chosenBy }: FoundHost, { configFolder, processEnv }: Surroundings): FoundToken[] => {
  const variable = name && tokenVariableOf(name)
  const token = variable && processEnv[variable]
  const named = token ? [{ token, variable, source: ENVIRONMENT, ...(chosenBy && { belongsTo: url }) }] : []
  // A token that has been in a shell or a file for long must not reach whatever host is named today.
  const unbound = chosenBy === 'default' || (chosenBy === 'url' && isLoopback(url)) ? url : undefined
  const usualTokens = (source: string, values: Environment, other = unbound): FoundToken[] => {
    const { SYNC_CARD_URL: bound } = values
    const belongsTo = bound === undefined ? other : parseHostUrl(bound, `SYNC_CARD_URL in ${source}`)
    return ['SYNC_CARD_TOKEN', 'ADMIN_TOKEN'].flatMap(variable => {
      const token = values[variable]
      return token === undefined ? [] : [{ token, variable, source, ...(belongsTo !== undefined && { belongsTo }) }]
    })
  }
  const files = [...(name ? [`.env.${name}`] : []), '.env']
  return [
    ...named,
    ...usualTokens(ENVIRONMENT, processEnv, chosenBy === 'url' ? url : unbound),
    ...files.flatMap(file => usualTokens(file, readEnvFile(configFolder, file))),
  ]
}

const foreignTokenMessage = ({ variable, source, belongsTo }: FoundToken, target: FoundHost): string => {
  const { url, name, chosenBy } = target
  if (belongsTo !== undefined) {
    const file = name ? `.env.${name}` : '.env.NAME, and name the host with --host NAME'
    const reason = `The ${variable} in ${source} is for ${belongsTo}, the SYNC_CARD_URL there`
    return `${reason}, and is not sent to ${url}. ${tokenHint(target, file)}`
  }
  if (source !== ENVIRONMENT)
    return (
      `${source} does not say which host its ${variable} is for, so it is not sent to ${url}. ` +
      `If it is for that host, add this line to ${source}: SYNC_CARD_URL=${url}`
    )
  const reason = withheldText(`The ${variable} in ${source}`, target)
  if (name && variable === tokenVariableOf(name)) return `${reason} add --host ${name}.`
  const rename = name && chosenBy === 'name' ? `, or name the variable ${tokenVariableOf(name)}` : ''
  return `${reason} add --url ${url}, or set SYNC_CARD_URL=${url} beside it${rename}.`
}

/** Returns the beginning of the message about a token that nothing of the user links to the host. */
const withheldText = (token: string, { url, urlFrom }: FoundHost): string =>
  `${token} is not sent to ${url}: only ${urlFrom} names that host, and its author would get the token. ` +
  'If it is for that host,'

const tokenHint = ({ url }: FoundHost, file: string): string =>
  `Use --url ${url} with --token, or set SYNC_CARD_URL=${url} and SYNC_CARD_TOKEN in the environment, ` +
  `or write both into ${file}.`
