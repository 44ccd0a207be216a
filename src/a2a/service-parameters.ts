import { majorMinor, type WireVersion, wireVersionOf, wireVersions } from '../card/model/start.ts'
import { MAX_EXTENSIONS } from '../limits.ts'
import type { CallError } from './errors.ts'
import { inferVersion } from './operations.ts'

/** Returns the extensions that a request names in `A2A-Extensions` (1.0) and `X-A2A-Extensions` (0.3). */
export const readExtensions = (headers: Headers): string[] =>
  parseExtensions(headers.get('A2A-Extensions'), headers.get('X-A2A-Extensions'))

/** Parses comma-separated lists of URIs. */
export const parseExtensions = (...headers: readonly (string | null)[]): string[] => {
  const uris = headers.flatMap(header => header?.split(',', MAX_EXTENSIONS) ?? []).map(uri => uri.trim())
  return [...new Set(uris)].filter(uri => uri !== '')
}

/** The version that a call names, undefined if none; or the error of one that this host does not know. */
export type RequestedVersion = { version: WireVersion | undefined } | Extract<CallError, { kind: 'version' }>

/** Reads the version that a request names in the header `A2A-Version` or in a query parameter of that name. */
export const readVersion = ({ headers, url }: Request): RequestedVersion =>
  parseVersion(headers.get('A2A-Version'), versionsInQuery(url))

/** Parses the versions that a call names. A call that names two is rejected: the agent might read the other one. */
export const parseVersion = (header: string | null, query: readonly string[] = []): RequestedVersion => {
  const common = query.length === 0 ? wireVersionOf.get(header ?? '') : undefined
  if (common !== undefined) return { version: common }
  const named = [...(header ?? '').split(','), ...query]
    .map(text => majorMinor(text.trim()))
    .filter(text => text !== '')
  const versions = new Set(named.map(text => wireVersionOf.get(text)))
  const [version] = versions
  if (versions.size > 1 || (named.length > 0 && version === undefined))
    return { kind: 'version', offered: [...new Set(named)].join(', '), accepted: [...wireVersions] }
  return { version }
}

/**
 * Chooses the version of an error for a call whose own version was not resolved: the one that it names; 1.0 if it names an
 * unknown one, which only 1.0 has an error for; else the one that its method looks like.
 */
export const versionForError = (requested: RequestedVersion, method = ''): WireVersion => {
  if ('kind' in requested) return method.includes('/') ? '0.3' : '1.0'
  return requested.version ?? inferVersion(method)
}

/** Checks whether a query parameter names the version, in any case. */
export const isVersionParameter = (name: string): boolean => name.toLowerCase() === 'a2a-version'

const versionsInQuery = (url: string): string[] =>
  url.includes('?')
    ? [...new URL(url).searchParams].flatMap(([name, value]) => (isVersionParameter(name) ? [value] : []))
    : []
