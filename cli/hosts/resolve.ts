import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { agentIdPattern, type Finding, record, strictObject, validate } from '../../src/card/model/index.ts'
import { parseUrl } from '../../src/http/shared.ts'
import { type Context, type Environment, foldersOfRepository, PROFILES_FILE, readEnvFile } from '../context.ts'
import { didYouMean, suggestField } from '../did-you-mean.ts'
import { MissingTokenError, UsageError } from '../errors.ts'
import { type Diagnostic, LINK_OUTSIDE, leadsOutside, readFile } from '../manifests/index.ts'
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

type FoundToken = { token: string; variable: string; source: string; belongsTo: string | undefined }

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
  const readTokens = (variables: string[], source: string, values: Environment, belongsTo: string | undefined) =>
    variables.flatMap(variable => {
      const token = values[variable]
      return token === undefined ? [] : [{ token, variable, source, belongsTo }]
    })
  // A token that has been in a shell or a file for long must not reach whatever host is named today.
  const unbound = chosenBy === 'default' || (chosenBy === 'url' && isLoopback(url)) ? url : undefined
  const usualTokens = (source: string, values: Environment, other = unbound) => {
    const { SYNC_CARD_URL: bound } = values
    const belongsTo = bound === undefined ? other : parseHostUrl(bound, `SYNC_CARD_URL in ${source}`)
    return readTokens(['SYNC_CARD_TOKEN', 'ADMIN_TOKEN'], source, values, belongsTo)
  }
  const files = [...(name ? [`.env.${name}`] : []), '.env']
  return [
    ...readTokens(name ? [tokenVariableOf(name)] : [], ENVIRONMENT, processEnv, chosenBy && url),
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

/** A host, and the place that names it, for people. Without `chosenBy`, only a file does; `default`: nothing does. */
type FoundHost = { url: string; urlFrom: string; name?: string; set?: string } & {
  chosenBy?: 'url' | 'name' | 'default'
}

type Profile = FoundHost & { name: string }

type Profiles = { hosts: Profile[]; defaultName?: string | undefined }

/** The profile of the host that `npm start` runs. A file may give the name another meaning. */
const LOCAL_PROFILE = 'local'

/** Names after `.env.` of files that show what a `.env` looks like. */
export const TEMPLATE_NAMES: readonly string[] = ['example', 'sample', 'template']

const profileName = /^[A-Za-z0-9][\w-]{0,62}$/

/** Checks whether a URL has no character that means anything to a shell: messages show commands with it. */
const isHostUrl = (text: string): boolean => /^https?:[\w.~%:/[\]-]+$/.test(parseUrl(text)?.href ?? '')

const Host = strictObject({
  url: v.pipe(v.string(), v.check(isHostUrl, 'must be the URL of a host, such as https://cards.example.com')),
  set: v.optional(v.pipe(v.string(), v.regex(agentIdPattern, 'must be lowercase letters, digits and hyphens'))),
})

const NAME_RULE = 'is not the name of a host: use letters, digits, hyphens and underscores'

const ProfilesFile = strictObject({
  default: v.optional(v.string()),
  hosts: v.optional(record(Host, undefined, v.pipe(v.string(), v.regex(profileName, NAME_RULE))), {}),
})

const readProfiles = (folder: string): Profiles => {
  if (!existsSync(join(folder, PROFILES_FILE))) return { hosts: [] }
  const parsed = leadsOutside(PROFILES_FILE, folder, folder)
    ? { reason: LINK_OUTSIDE }
    : readFile(PROFILES_FILE, folder)
  if ('reason' in parsed) throw new UsageError(`${PROFILES_FILE} cannot be read: ${parsed.reason}.`)
  if ('problems' in parsed) throw profilesError(parsed.problems)
  const invalid = (errors: readonly Finding[]): UsageError =>
    profilesError(errors.map(error => ({ ...error, ...(parsed.locate(error.pointer) ?? { line: 1, column: 1 }) })))
  const result = validate(ProfilesFile, parsed.value ?? {})
  if ('errors' in result) throw invalid(result.errors)
  const { default: defaultName, hosts } = result.output
  const isHost = (name: string): boolean => Object.hasOwn(hosts, name) || envProfile(name, folder) !== undefined
  if (defaultName !== undefined && !isHost(defaultName)) {
    const place = `neither under hosts, nor is there a .env.${defaultName} with a SYNC_CARD_URL`
    throw invalid([{ pointer: '/default', message: `names no host: "${defaultName}" is ${place}` }])
  }
  return {
    hosts: Object.entries(hosts).map(([name, { url, set }]) => ({
      name,
      url: parseHostUrl(url),
      urlFrom: `profile ${name} in ${PROFILES_FILE}`,
      ...(set !== undefined && { set }),
    })),
    defaultName,
  }
}

const profilesError = (problems: readonly Omit<Diagnostic, 'file'>[]): UsageError =>
  new UsageError(
    ...problems.map(({ line, column, pointer, message }) => {
      // This file is usually committed, so a token must not be in it.
      const fix = pointer.endsWith('/token')
        ? 'does not belong in this file: write it into .env or .env.NAME'
        : suggestField({ pointer, message }).message
      return `${PROFILES_FILE}:${line}:${column} ${pointer || '(document)'} ${fix}`
    }),
  )

/** Returns the profile of a name: of `sync-card.yaml`, else of `.env.NAME`, else the local host. */
const findProfile = (name: string, { hosts }: Profiles, { configFolder, env }: Surroundings): Profile => {
  const profile = hosts.find(host => host.name === name) ?? envProfile(name, configFolder)
  if (profile) return profile
  if (name === LOCAL_PROFILE) return { ...localHost(env), name, urlFrom: 'the host that `npm start` runs' }
  const suffixes = readdirSync(configFolder).flatMap(file => /^\.env\.(.*)/s.exec(file)?.[1] ?? [])
  const ofFiles = suffixes.filter(suffix => envProfile(suffix, configFolder) !== undefined)
  const names = [...hosts.map(host => host.name), ...ofFiles, LOCAL_PROFILE]
  throw new UsageError(
    `There is no host "${name}".${didYouMean(name, names)} The hosts are ${[...new Set(names)].join(', ')}; ` +
      `add one under hosts in ${PROFILES_FILE}.`,
  )
}

const envProfile = (name: string, folder: string): Profile | undefined => {
  if (!profileName.test(name) || TEMPLATE_NAMES.includes(name)) return undefined
  const urlFrom = `SYNC_CARD_URL in .env.${name}`
  const url = readEnvFile(folder, `.env.${name}`).SYNC_CARD_URL
  return url === undefined ? undefined : { name, url: parseHostUrl(url, urlFrom), urlFrom }
}

const localHost = (env: Environment): FoundHost => ({
  url: parseHostUrl(localUrl(env), 'PORT'),
  urlFrom: 'the default, where `npm start` listens',
  chosenBy: 'default',
})

/** Returns where `npm start` listens. */
export const localUrl = (env: Environment): string => `http://127.0.0.1:${env.PORT ?? '8787'}`

/** Checks whether what is sent to a URL travels unencrypted to another machine. */
export const isUnencrypted = (url: string): boolean => url.startsWith('http:') && !isLoopback(url)

/** Parses the URL of a host: no shell interprets a part of it. Drops its trailing slash. `source` is its place. */
export const parseHostUrl = (text: string, source?: string): string => {
  if (!isHostUrl(text)) {
    const place = source === undefined ? '' : `${source}: `
    const shown = text.replace(/\/\/[^/@]*@/, '//…@')
    throw new UsageError(`${place}"${shown}" is not the URL of a host. Use one such as https://cards.example.com`)
  }
  return new URL(text).href.replace(/(?<!\/)\/+$/, '')
}

/** Checks whether a URL is of this machine. */
export const isLoopback = (url: string): boolean =>
  /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(url).hostname)
