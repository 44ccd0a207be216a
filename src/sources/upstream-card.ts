import type { Source } from '../card/manifest/upstream.ts'
import type { Note } from '../card/model/report.ts'
import { resolveInterfaceUrls } from '../card/rewrite/relative-urls.ts'
import { createUpstreamClient } from '../http/bindings.ts'
import { type FetchFailure, fetchText, type Resource } from '../http/fetch-resource.ts'
import { userAgent } from '../http/headers.ts'
import { log } from '../http/log.ts'
import { isJsonType } from '../http/media-type.ts'
import { blockOrigins, CLOUDFLARE_ERRORS, originMatcher } from '../http/safe-fetch.ts'
import { isJsonObject, type Json, type JsonObject, omit } from '../json/json.ts'
import { parseJson } from '../json/parse.ts'
import { parseUrl } from '../net/urls.ts'
import type { SourceFailure, Validators } from '../registry/records.ts'

/** Result of fetching a card. */
export type FetchResult =
  /** `notes`: how the card differs from the source. */
  | { card: JsonObject; validators: Validators; notes?: Note[] }
  /** The card that the validators stand for is still current. */
  | { unchanged: true }
  | { failure: SourceFailure }

/**
 * Fetches the card that an agent publishes. `known` are the validators of the card that was fetched last, `ownOrigins` those of
 * this host besides `PUBLIC_URL`: fetching its own card would never end. Never rejects.
 */
export const fetchUpstreamCard = async (
  source: Source,
  known: Validators | undefined,
  env: Env,
  ownOrigins: readonly string[] = [],
): Promise<FetchResult> => {
  const client = createUpstreamClient(source, env)
  if ('misconfigured' in client)
    return fetchFailed(source, { ...unreachable, message: client.misconfigured }, client.misconfigured)
  const isOwn = originMatcher([...ownOrigins, env.PUBLIC_URL])
  if (isOwn(source.url)) return fetchFailed(source, ownAddress, 'this host itself')
  const response = await fetchText(source.url, {
    // A server with a card for each version would take no version for 0.3, whose card has less; others ignore it.
    headers: { Accept: 'application/json', 'A2A-Version': '1.0', 'User-Agent': userAgent(ownOrigins[0]) },
    credentials: client.credentials,
    validators: conditionalHeaders(known),
    accepts: isJsonType,
    fetch: blockOrigins(client.fetch, isOwn),
  })
  if (!('failed' in response)) return parseCard(source, response)
  if (response.failed === 'unchanged') return { unchanged: true }
  return fetchFailed(source, toSourceFailure(response), `${response.failed}: ${response.detail}`)
}

/** Logs why a card could not be fetched, with only the server of the address: the rest may be a secret. */
export const fetchFailed = ({ url }: Source, failure: SourceFailure, why: string): FetchResult => {
  const { hostname, port } = parseUrl(url) ?? { hostname: '', port: '' }
  const server = { 'server.address': hostname, ...(port !== '' && { 'server.port': Number(port) }) }
  log('error', 'card-unread', { ...server, 'calling_card.detail': why })
  return { failure }
}

const conditionalHeaders = ({ etag, lastModified }: Validators = {}): Record<string, string> | undefined => {
  if (etag !== undefined) return { 'If-None-Match': etag }
  return lastModified === undefined ? undefined : { 'If-Modified-Since': lastModified }
}

const parseCard = (source: Source, { content, headers, url, redirected }: Resource): FetchResult => {
  const parsed = parseJson(content, 'an Agent Card')
  if ('refused' in parsed) return fetchFailed(source, notJson(parsed.detail), parsed.refused)
  if (!isJsonObject(parsed.value)) return fetchFailed(source, notAnObject(parsed.value), 'no object')
  if (!redirected) return { card: parsed.value, validators: validatorsOf(headers) }
  // Neither the validators nor the base of relative URLs are those of the address that the manifest names.
  const { card, notes } = resolveInterfaceUrls(parsed.value, url)
  // What is kept is not the document that was signed.
  return notes.length > 0 ? { card: omit(card, 'signatures'), validators: {}, notes } : { card, validators: {} }
}

const validatorsOf = (headers: Headers): Validators => {
  const etag = headers.get('ETag')
  const lastModified = headers.get('Last-Modified')
  return { ...(etag !== null && { etag }), ...(lastModified !== null && { lastModified }) }
}

/** A blocked address looks like one that does not respond: otherwise owners could map the network around this host. */
const unreachable: SourceFailure = {
  status: 502,
  code: 'unreachable',
  message:
    "The card's address cannot be reached. Check that it is correct, public and https; the log of this host has the reason.",
}

const timeout: SourceFailure = {
  status: 504,
  code: 'timeout',
  message: "The card's address did not respond in time.",
}

const ownAddress: SourceFailure = {
  ...unreachable,
  message: "The card's address is this host itself. Name the one where the agent publishes its card.",
}

const toSourceFailure = (failure: Exclude<FetchFailure, { failed: 'unchanged' }>): SourceFailure => {
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
      return notACard(typeMessage(failure.type))
    case 'too-large':
      return notACard(`The card has ${failure.detail}.`)
    case 'not-text':
      return notACard('The card is not UTF-8 text.')
  }
}

const statusFailure = (status: number): SourceFailure => {
  const network = CLOUDFLARE_ERRORS.get(status)
  if (network !== undefined) return network.failed === 'timeout' ? timeout : unreachable
  return { ...unreachable, message: `The card's address responded with HTTP ${status}.` }
}

const typeMessage = (type: string): string => {
  if (type === '') return "The card's address responded without a Content-Type; a card is application/json."
  if (/\bhtml\b/.test(type)) return "The card's address responded with an HTML page; a card is application/json."
  return `The card's address responded with ${type}; a card is application/json.`
}

const notACard = (message: string): SourceFailure => ({ status: 502, code: 'invalid-card', message })

const notJson = (reason: string): SourceFailure =>
  notACard(`The card's address responded with invalid JSON. ${reason.replace(/[^.]$/, '$&.')}`)

const notAnObject = (value: Json): SourceFailure =>
  notACard(`The card's address responded with ${describe(value)}; an Agent Card is a JSON object.`)

const describe = (value: Json): string => {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`
}
