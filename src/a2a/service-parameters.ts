import { majorMinor, type WireVersion, wireVersionOf, wireVersions } from '../card/model/calls.ts'
import type { Refusal } from './errors.ts'
import { inferVersion } from './operations.ts'

/** More than any agent requires; what follows is not looked at. */
const most = 200

/** The extensions that a call names, in `A2A-Extensions` (v1.0) and `X-A2A-Extensions` (v0.3): URIs between commas. */
export const parseExtensions = (...headers: readonly (string | null)[]): string[] => {
  const said = headers.filter(header => header !== null)
  const uris = said.flatMap(header => header.split(',', most)).map(uri => uri.trim())
  return [...new Set(uris)].filter(uri => uri !== '')
}

/**
 * The version that a call names: in the header `A2A-Version`, several of which are joined by commas, or in query parameters
 * of that name. None outranks another: a call that names two versions would be another call to whoever reads the other.
 */
export const parseVersion = (
  header: string | null,
  query: readonly string[] = [],
): { version: WireVersion | undefined } | Refusal => {
  const plain = query.length === 0 ? wireVersionOf.get(header ?? '') : undefined
  if (plain !== undefined) return { version: plain }
  const named = [...(header ?? '').split(','), ...query]
    .map(text => majorMinor(text.trim()))
    .filter(text => text !== '')
  const versions = new Set(named.map(text => wireVersionOf.get(text)))
  const [version] = versions
  if (versions.size > 1 || (named.length > 0 && version === undefined))
    return { refused: 'version', offered: [...new Set(named)].join(', '), accepted: [...wireVersions] }
  return { version }
}

/**
 * The version to answer in when a call is refused before its own is settled: the one that it names; or, as only v1.0 knows
 * of versions unknown, 1.0 where it names another; or the one that its method looks like, else 0.3.
 */
export const versionForError = (named: ReturnType<typeof parseVersion>, method = ''): WireVersion => {
  if ('refused' in named) return method.includes('/') ? '0.3' : '1.0'
  return named.version ?? inferVersion(method)
}

/** The versions that a URL names, whatever the case of the name. */
export const versionsInQuery = (url: string): string[] =>
  url.includes('?')
    ? [...new URL(url).searchParams].flatMap(([name, value]) => (name.toLowerCase() === 'a2a-version' ? [value] : []))
    : []

/** The extensions that a request's headers name. */
export const extensionsOf = (headers: Headers): string[] =>
  parseExtensions(headers.get('A2A-Extensions'), headers.get('X-A2A-Extensions'))
