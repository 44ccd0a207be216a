import type { Source } from '../card/manifest/upstream.ts'
import type { Note } from '../card/model/report.ts'
import { createUpstreamClient } from '../http/bindings.ts'
import { type FetchFailure, fetchText, type Resource } from '../http/fetch-resource.ts'
import { userAgent } from '../http/headers.ts'
import { log } from '../http/log.ts'
import { isJsonType } from '../http/media-type.ts'
import { blockOrigins, CLOUDFLARE_ERRORS, isSubrequestLimitError, originMatcher } from '../http/safe-fetch.ts'
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts'
import { parseJson } from '../json/parse.ts'
import type { SourceFailure, Validators } from '../registry/records.ts'

/** What this host does not call looks like what does not answer: else its owners could map what is around it. */
const unreachable: SourceFailure = {
  status: 502,
  code: 'unreachable',
  message:
    "The card's address cannot be reached. See that it is right, public and https; the log of this host says more.",
}

const timeout: SourceFailure = {
  status: 504,
  code: 'timeout',
  message: "The card's address did not answer in time.",
}

/** What an owner is told of a card that could not be fetched. */
const fetchFailure = (failure: Exclude<FetchFailure, { failed: 'unchanged' }>): SourceFailure => {
  switch (failure.failed) {
    case 'blocked':
    case 'unreachable':
      return unreachable
    case 'timeout':
      return timeout
    case 'redirect':
      return { ...unreachable, message: `The card's address redirects ${failure.detail}.` }
    case 'status':
      return statusFailure(failure.status)
    case 'type':
      return notACard(typeText(failure.type))
    case 'too-large':
      return notACard(`The card holds ${failure.detail}.`)
    case 'not-text':
      return notACard('The card is not text in UTF-8.')
  }
}

const statusFailure = (status: number): SourceFailure => {
  const network = CLOUDFLARE_ERRORS.get(status)
  if (network !== undefined) return network.failed === 'timeout' ? timeout : unreachable
  return { ...unreachable, message: `The card's address answered HTTP ${status}.` }
}

const typeText = (type: string): string => {
  if (type === '') return "The card's address answered without a Content-Type; a card is application/json."
  if (/\bhtml\b/.test(type)) return "The card's address answered with a page (HTML), not with a card as JSON."
  return `The card's address answered ${type}; a card is application/json.`
}

/** What came is no Agent Card, as `message` says. */
const notACard = (message: string): SourceFailure => ({ status: 502, code: 'invalid-card', message })

/** What came does not parse, for the reason that the parser tells. */
const notJson = (why: string): SourceFailure =>
  notACard(`The card's address answered what is no JSON card. ${why.replace(/[^.]$/, '$&.')}`)

/** What came is JSON, but no object. */
const notAnObject = (value: Json): SourceFailure =>
  notACard(`The card's address answered ${whatItIs(value)}; an Agent Card is a JSON object.`)

const whatItIs = (value: Json): string => {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`
}

/** What the manifest names is not there. */
export const misconfigured = (message: string): SourceFailure => ({ status: 502, code: 'unreachable', message })

/** A card cannot come from where it goes. */
const thisHost = misconfigured(
  "The card's address is this host itself. Name the one where the agent publishes its card.",
)

/** What came of asking a source for its card. */
export type FetchResult =
  /** `notes`: what of the source the card leaves out. */
  | { card: JsonObject; validators: Validators; notes?: Note[] }
  /** The card that the validators stood for is still the one. */
  | { unchanged: true }
  /** `spent`: this run of the Worker may make no more requests, which says nothing of the source. */
  | { failure: SourceFailure; spent?: true }

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
    fetch: blockOrigins(reader.fetch, isOwn),
  })
  if ('failed' in answer && answer.failed === 'unchanged') return { unchanged: true }
  if ('failed' in answer) return unread(source, fetchFailure(answer), `${answer.failed}: ${answer.detail}`)
  return read(source, answer)
}

const conditions = ({ etag, lastModified }: Validators = {}): Record<string, string> | undefined => {
  if (etag !== undefined) return { 'If-None-Match': etag }
  return lastModified === undefined ? undefined : { 'If-Modified-Since': lastModified }
}

const read = (source: Source, { content, headers, redirected }: Resource): FetchResult => {
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
