import type { Source } from '../card/manifest/source.ts'
import { blockOrigins, originMatcher } from '../http/elsewhere.ts'
import type { Resource } from '../http/fetch-resource.ts'
import { fetchText } from '../http/guarded-text.ts'
import { isJsonType } from '../http/json-type.ts'
import { log } from '../http/log.ts'
import { isSubrequestLimitError } from '../http/requests-spent.ts'
import { createUpstreamClient } from '../http/source-fetch.ts'
import { userAgent } from '../http/user-agent.ts'
import { isJsonObject } from '../json/json.ts'
import { parseJson } from '../json/parse.ts'
import type { SourceFailure } from '../registry/source-failure.ts'
import type { Validators } from '../registry/validators.ts'
import { fetchFailure, misconfigured, notAnObject, notJson, thisHost } from './card-failures.ts'
import type { FetchResult } from './fetched.ts'

/**
 * Fetches a card from where its agent publishes it; `known` stands for the one that was had last. `ownOrigins` are this host's,
 * beside `PUBLIC_URL`: a card cannot come from where it goes. Never rejects.
 */
export const fetchUpstreamCard = async (
  source: Source,
  known: Validators | undefined,
  env: Env,
  ownOrigins: readonly string[] = [],
): Promise<FetchResult> => {
  const reader = createUpstreamClient(source, env)
  if ('misconfigured' in reader) return unread(source, misconfigured(reader.misconfigured), reader.misconfigured)
  const isOwn = originMatcher([...ownOrigins, env.PUBLIC_URL])
  if (isOwn(source.url)) return unread(source, thisHost, 'this host itself')
  const answer = await fetchText(source.url, {
    // Who serves cards by version takes silence for 0.3, and has more to say in 1.0; others do not look.
    headers: { Accept: 'application/json', 'A2A-Version': '1.0', 'User-Agent': userAgent(ownOrigins[0]) },
    credentials: reader.credentials,
    validators: conditions(known),
    accepts: isJsonType,
    ask: blockOrigins(reader.ask, isOwn),
  })
  if ('failed' in answer && answer.failed === 'unchanged') return { unchanged: true }
  if ('failed' in answer) return unread(source, fetchFailure(answer), `${answer.failed}: ${answer.detail}`)
  return read(source, answer)
}

const conditions = ({ etag, lastModified }: Validators = {}): Record<string, string> | undefined => {
  if (etag !== undefined) return { 'If-None-Match': etag }
  return lastModified === undefined ? undefined : { 'If-Modified-Since': lastModified }
}

const read = (source: Source, { content, headers, redirected }: Resource<string>): FetchResult => {
  const parsed = parseJson(content, 'an Agent Card')
  if ('refused' in parsed) return unread(source, notJson(parsed.detail), parsed.refused)
  if (!isJsonObject(parsed.value)) return unread(source, notAnObject(parsed.value), 'no object')
  // What another address answered says nothing of this one.
  return { card: parsed.value, validators: redirected ? {} : validatorsOf(headers) }
}

const validatorsOf = (headers: Headers): Validators => {
  const etag = headers.get('ETag')
  const lastModified = headers.get('Last-Modified')
  return { ...(etag !== null && { etag }), ...(lastModified !== null && { lastModified }) }
}

/** The log is told the reason, and of the address no more than its origin: the rest of it may be a secret. */
const unread = ({ url }: Source, failure: SourceFailure, why: string): FetchResult => {
  log('error', 'card-unread', { origin: URL.parse(url)?.origin ?? '', why })
  return { failure, ...(isSubrequestLimitError(why) && { spent: true }) }
}
