import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { agentIdPattern, record, strictObject, validate } from '../../src/card/model/index.ts'
import { type Context, PROFILES_FILE, readEnvFile } from '../context.ts'
import { didYouMean, suggestField } from '../did-you-mean.ts'
import { UsageError } from '../exit-codes.ts'
import { LINK_OUTSIDE, leadsOutside, readFile } from '../manifests/index.ts'
import { isHostUrl, localUrl, parseHostUrl } from './urls.ts'

/** A host that has a name. */
export type Profile = {
  name: string
  url: string
  /** Where the host is named, for people. */
  source: string
  set?: string
  /** Whether no file names it. */
  isBuiltIn?: true
}

/** The hosts of `sync-card.yaml`. */
export type Profiles = {
  hosts: Profile[]
  /** The name of the host for commands that name none. */
  defaultName?: string
}

/** The profile of the host that `npm start` runs. A file may give the name another meaning. */
const LOCAL_PROFILE = 'local'

/** Names after `.env.` of files that show what a `.env` looks like. */
export const TEMPLATE_NAMES: readonly string[] = ['example', 'sample', 'template']

/** The names of hosts, which are also parts of file names. */
const profileName = /^[A-Za-z0-9][\w-]{0,62}$/

const nameMessage = 'is not the name of a host: use letters, digits, hyphens and underscores'

const Host = strictObject({
  url: v.pipe(v.string(), v.check(isHostUrl, 'must be the URL of a host, such as https://cards.example.com')),
  set: v.optional(v.pipe(v.string(), v.regex(agentIdPattern, 'must be lower-case letters, digits and hyphens'))),
})

const ProfilesFile = strictObject({
  default: v.optional(v.string()),
  hosts: v.optional(record(Host, undefined, v.pipe(v.string(), v.regex(profileName, nameMessage))), {}),
})

/** Reads `sync-card.yaml`. Throws with the place of each error. */
export const readProfiles = (folder: string): Profiles => {
  if (!existsSync(join(folder, PROFILES_FILE))) return { hosts: [] }
  const parsed = leadsOutside(PROFILES_FILE, folder, folder)
    ? { reason: LINK_OUTSIDE }
    : readFile(PROFILES_FILE, folder)
  if ('reason' in parsed) throw new UsageError(`${PROFILES_FILE} cannot be read: ${parsed.reason}.`)
  if ('problems' in parsed) throw profilesError(parsed.problems)
  const result = validate(ProfilesFile, parsed.value ?? {})
  if ('errors' in result)
    throw profilesError(
      result.errors.map(({ pointer, message }) => ({ pointer, message, ...(parsed.locate(pointer) ?? FILE_START) })),
    )
  const { default: defaultName, hosts } = result.output
  const isHost = (name: string): boolean => Object.hasOwn(hosts, name) || envProfile(name, folder) !== undefined
  if (defaultName !== undefined && !isHost(defaultName)) {
    const message =
      `names no host: "${defaultName}" is neither under hosts, ` +
      `nor is there a .env.${defaultName} with a SYNC_CARD_URL`
    throw profilesError([{ pointer: '/default', message, ...(parsed.locate('/default') ?? FILE_START) }])
  }
  return {
    hosts: Object.entries(hosts).map(([name, { url, set }]) => ({
      name,
      url: parseHostUrl(url),
      source: `profile ${name} in ${PROFILES_FILE}`,
      ...(set !== undefined && { set }),
    })),
    ...(defaultName !== undefined && { defaultName }),
  }
}

const FILE_START = { line: 1, column: 1 }

type Problem = { line: number; column: number; pointer: string; message: string }

const profilesError = (problems: readonly Problem[]): UsageError =>
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
  if (name === LOCAL_PROFILE)
    return {
      ...{ name, url: parseHostUrl(localUrl(env), 'PORT'), isBuiltIn: true },
      source: 'the host that `npm start` runs',
    }
  const names = [...hosts.map(host => host.name), ...envProfileNames(configFolder), LOCAL_PROFILE]
  throw new UsageError(
    `There is no host "${name}".${didYouMean(name, names)} The hosts are ${[...new Set(names)].join(', ')}; ` +
      `add one under hosts in ${PROFILES_FILE}.`,
  )
}

/** Returns the profile that `.env.NAME` makes by itself, with its `SYNC_CARD_URL`. */
const envProfile = (name: string, folder: string): Profile | undefined => {
  if (!profileName.test(name) || TEMPLATE_NAMES.includes(name)) return undefined
  const source = `SYNC_CARD_URL in .env.${name}`
  const url = readEnvFile(folder, `.env.${name}`).SYNC_CARD_URL
  return url === undefined ? undefined : { name, url: parseHostUrl(url, source), source }
}

const envProfileNames = (folder: string): string[] =>
  readdirSync(folder)
    .filter(file => file.startsWith('.env.'))
    .map(file => file.slice('.env.'.length))
    .filter(name => envProfile(name, folder) !== undefined)
