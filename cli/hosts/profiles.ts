import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { agentIdPattern, type Finding, record, strictObject, validate } from '../../src/card/model/index.ts'
import { parseUrl } from '../../src/http/shared.ts'
import { type Context, type Environment, PROFILES_FILE, readEnvFile } from '../context.ts'
import { didYouMean, suggestField } from '../did-you-mean.ts'
import { UsageError } from '../errors.ts'
import { type Diagnostic, LINK_OUTSIDE, leadsOutside, readFile } from '../manifests/index.ts'

/** A host, and the place that names it, for people. Without `chosenBy`, only a file does; `default`: nothing does. */
export type FoundHost = { url: string; urlFrom: string; name?: string; set?: string } & {
  chosenBy?: 'url' | 'name' | 'default'
}

type Profile = FoundHost & { name: string }

/** The hosts of `sync-card.yaml`, and the name of the one for commands that name none. */
type Profiles = { hosts: Profile[]; defaultName?: string | undefined }

/** The profile of the host that `npm start` runs. A file may give the name another meaning. */
const LOCAL_PROFILE = 'local'

/** Names after `.env.` of files that show what a `.env` looks like. */
export const TEMPLATE_NAMES: readonly string[] = ['example', 'sample', 'template']

/** The names of hosts, which are also parts of file names. */
const profileName = /^[A-Za-z0-9][\w-]{0,62}$/

/** Checks whether a URL has no character that means anything to a shell: messages show commands with it. */
const isHostUrl = (text: string): boolean => /^https?:[\w.~%:/[\]-]+$/.test(parseUrl(text)?.href ?? '')

const Host = strictObject({
  url: v.pipe(v.string(), v.check(isHostUrl, 'must be the URL of a host, such as https://cards.example.com')),
  set: v.optional(v.pipe(v.string(), v.regex(agentIdPattern, 'must be lower-case letters, digits and hyphens'))),
})

const NAME_RULE = 'is not the name of a host: use letters, digits, hyphens and underscores'

const ProfilesFile = strictObject({
  default: v.optional(v.string()),
  hosts: v.optional(record(Host, undefined, v.pipe(v.string(), v.regex(profileName, NAME_RULE))), {}),
})

/** Reads `sync-card.yaml`. Throws with the place of each error. */
export const readProfiles = (folder: string): Profiles => {
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
export const findProfile = (
  name: string,
  { hosts }: Profiles,
  { configFolder, env }: Pick<Context, 'configFolder' | 'env'>,
): Profile => {
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

/** Returns the profile that `.env.NAME` makes by itself, with its `SYNC_CARD_URL`. */
const envProfile = (name: string, folder: string): Profile | undefined => {
  if (!profileName.test(name) || TEMPLATE_NAMES.includes(name)) return undefined
  const urlFrom = `SYNC_CARD_URL in .env.${name}`
  const url = readEnvFile(folder, `.env.${name}`).SYNC_CARD_URL
  return url === undefined ? undefined : { name, url: parseHostUrl(url, urlFrom), urlFrom }
}

/** Returns the host that commands use if nothing names one. */
export const localHost = (env: Environment): FoundHost => ({
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
