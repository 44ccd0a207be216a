import type { Source } from '../card/manifest/index.ts'
import type { Note } from '../card/model/index.ts'
import { resolveInterfaceUrls } from '../card/rewrite/index.ts'
import type { FetchJson } from '../card/signatures/index.ts'
import { config } from '../config.ts'
import {
  blockOrigins,
  CLOUDFLARE_ERRORS,
  createUpstreamClient,
  type FetchFailure,
  type FetchFn,
  fetchText,
  log,
  originMatcher,
  parseUrl,
  type Resource,
  userAgent,
} from '../http/index.ts'
import { isJsonObject, isJsonType, type Json, type JsonObject, omit, parseUnambiguous } from '../json/index.ts'
import type { CardVerification, SourceFailure, Validators } from '../registry/index.ts'
import { createKeyFetch } from '../signing/index.ts'
import { verifyFetched } from './verify.ts'

/** Result of fetching a card. */
export type FetchResult =
  /** `notes`: how the card differs from the source. `verification`: what its signatures have shown, if they are verified. */
  | { card: JsonObject; validators: Validators; notes?: Note[]; verification?: CardVerification | undefined }
  /** The card that the validators stand for is still current. */
  | { unchanged: true }
  | { failure: SourceFailure }

/** What is known when a card is fetched. */
export type KnownCard = {
  /** The validators of the card that was fetched last. */
  validators?: Validators | undefined
  /** The thumbprints of the keys that may sign the card, once its first one was fetched. */
  pinned?: readonly string[] | undefined
  /** The origins of this host besides `PUBLIC_URL`: fetching its own card would never end. */
  ownOrigins?: readonly string[]
}

/** Fetches the card that an agent publishes, and verifies it if its source demands that. Never rejects. */
export const fetchUpstreamCard = async (
  source: Source,
  { validators, pinned, ownOrigins = [] }: KnownCard,
  env: Env,
): Promise<FetchResult> => {
  const client = createUpstreamClient(source, env, config(env))
  if ('misconfigured' in client)
    return fetchFailed(source, { ...unreachable, message: client.misconfigured }, client.misconfigured)
  const isOwn = originMatcher([...ownOrigins, config(env).publicOrigin])
  if (isOwn(source.url)) return fetchFailed(source, ownAddress, 'this host itself')
  const response = await fetchText(source.url, {
    // A server with a card for each version would take no version for 0.3, whose card has less; others ignore it.
    headers: { Accept: 'application/json', 'A2A-Version': '1.0', 'User-Agent': userAgent(ownOrigins[0]) },
    credentials: client.credentials,
    // Each card is verified with the keys of its time, so it is fetched again, too.
    validators: source.verification ? undefined : conditionalHeaders(validators),
    accepts: isJsonType,
    fetch: blockOrigins(client.fetch, isOwn),
  })
  if ('failed' in response)
    return response.failed === 'unchanged'
      ? { unchanged: true }
      : fetchFailed(source, toSourceFailure(response), `${response.failed}: ${response.detail}`)
  const parsed = parseCard(source, response)
  if ('failure' in parsed) return parsed
  const demanded = source.verification
  if (!demanded) return toFetched(parsed, response)
  const fetchJson = createKeyClient(source, client.fetch, env)
  const verified = await verifyFetched(parsed.card, { source, demanded, pinned, fetchJson })
  return 'failure' in verified
    ? fetchFailed(source, verified.failure, verified.failure.message)
    : toFetched(verified, response)
}

/** Returns what fetches keys: from the origin of the card as the card itself, but without credentials. */
const createKeyClient = (source: Source, fetchFn: FetchFn, env: Env): FetchJson => {
  const isOfCard = originMatcher([source.url])
  const { allowedOrigins } = config(env)
  const [ofCard, ofOthers] = [createKeyFetch(allowedOrigins, fetchFn), createKeyFetch(allowedOrigins)]
  return url => (isOfCard(url) ? ofCard(url) : ofOthers(url))
}

/** Logs why a card could not be fetched, with only the server of the address: the rest may be a secret. */
export const fetchFailed = (
  { url }: Source,
  failure: SourceFailure,
  why: string,
): Extract<FetchResult, { failure: unknown }> => {
  const { hostname, port } = parseUrl(url) ?? { hostname: '', port: '' }
  const server = { 'server.address': hostname, ...(port !== '' && { 'server.port': Number(port) }) }
  log('error', 'card-unread', { ...server, 'calling_card.detail': why })
  return { failure }
}

const conditionalHeaders = ({ etag, lastModified }: Validators = {}): Record<string, string> | undefined => {
  if (etag !== undefined) return { 'If-None-Match': etag }
  return lastModified === undefined ? undefined : { 'If-Modified-Since': lastModified }
}

const parseCard = (source: Source, { content }: Resource): { card: JsonObject } | { failure: SourceFailure } => {
  const parsed = parseUnambiguous(content, 'an Agent Card')
  if ('refused' in parsed) return fetchFailed(source, unreadable(parsed), parsed.refused)
  if (!isJsonObject(parsed.value)) return fetchFailed(source, notAnObject(parsed.value), 'no object')
  return { card: parsed.value }
}

/** Completes a card with what the response says about it. */
const toFetched = (
  { card, verification, notes = [] }: { card: JsonObject; verification?: CardVerification; notes?: Note[] },
  { headers, url, redirected }: Resource,
): FetchResult => {
  // Neither the validators nor the base of relative URLs are those of the address that the manifest names.
  const resolved = redirected ? resolveInterfaceUrls(card, url) : { card, notes: [] }
  // What is kept is not the document that was signed.
  const isChanged = resolved.notes.length > 0
  const lost = isChanged && card.signatures !== undefined ? [signaturesLost] : []
  const allNotes = [...notes, ...resolved.notes, ...lost]
  return {
    card: isChanged ? omit(resolved.card, 'signatures') : resolved.card,
    validators: redirected ? {} : validatorsOf(headers),
    ...(allNotes.length > 0 && { notes: allNotes }),
    ...(verification && { verification }),
  }
}

const signaturesLost: Note = {
  pointer: '/signatures',
  message: 'left out: they do not cover the card with absolute URLs',
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

const unreadable = ({ refused, detail }: { refused: string; detail: string }): SourceFailure => {
  const kind = refused === 'duplicate-name' ? 'ambiguous' : 'invalid'
  return notACard(`The card's address responded with ${kind} JSON. ${detail.replace(/[^.]$/, '$&.')}`)
}

const notAnObject = (value: Json): SourceFailure =>
  notACard(`The card's address responded with ${describe(value)}; an Agent Card is a JSON object.`)

const describe = (value: Json): string => {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`
}
