import type { Source } from '../card/manifest/index.ts'
import { type Finding, latestVersion } from '../card/model/index.ts'
import { resolveInterfaceUrls } from '../card/rewrite/index.ts'
import { config, type Variables } from '../config.ts'
import {
  blockOrigins,
  blockReason,
  CLOUDFLARE_ERRORS,
  createUpstreamClient,
  createUpstreamFetch,
  type FetchFailure,
  fetchText,
  isPrivateHost,
  log,
  originMatcher,
  parseUrl,
  type Resource,
  userAgent,
} from '../http/index.ts'
import { isJsonObject, type JsonObject, omit, parseUnambiguous } from '../json/index.ts'
import { describeFailure, discover, discoveryLimits, toSuperxCard } from '../mcp/client/index.ts'
import type { CardVerification, SourceFailure, SourceRecord, Validators } from '../registry/index.ts'
import { createKeyFetch } from '../signing/index.ts'
import { findPinnedKeys, verifyFetched } from './verification.ts'

/** Result of fetching a card. */
export type FetchResult =
  /** `notes` are the differences from the source, `verification` is the result for its signatures. */
  | { card: JsonObject; validators: Validators; notes?: Finding[]; verification?: CardVerification | undefined }
  /** The card that the validators stand for is still current. */
  | { unchanged: true }
  | { failure: SourceFailure }

/** The agent whose card is fetched, and what is known about it. */
export type FetchContext = {
  id: string
  /** The stored record of the source, if the card was fetched before. */
  known?: SourceRecord | undefined
  /** Set where a response that the card is unchanged is of use. */
  isConditional?: boolean
  /** The origins of this host, which are never called. */
  ownOrigins: readonly string[]
}

/** Fetches an agent's card from its source. Never rejects. */
export const fetchSource = (source: Source, context: FetchContext, env: Env): Promise<FetchResult> =>
  source.kind === 'mcp' ? fetchMcpCard(source, context.id, env) : fetchUpstreamCard(source, context, env)

/** Makes the card of an agent from the report of its MCP server. A server that fails is `not-ready`, as in SuperX. */
export const fetchMcpCard = async (source: Source, id: string, env: Env): Promise<FetchResult> => {
  const fetch = createUpstreamFetch(source, env, config(env))
  if ('misconfigured' in fetch)
    return fetchFailed(source, { status: 503, code: 'not-ready', message: fetch.misconfigured }, 'not-ready')
  const elicitations = source.session === 'shared' ? {} : { elicitations: 'none' as const }
  const discovery = await discover(source.url, fetch, { ...discoveryLimits, ...elicitations })
  if ('failure' in discovery) {
    const { failure } = discovery
    const reason = failure.code === 'unreachable' ? failure.why : failure.code
    const code = failure.code === 'unreachable' || failure.code === 'timeout' ? failure.code : 'not-ready'
    return fetchFailed(source, { status: 503, code, message: describeFailure(failure) }, reason)
  }
  const { card, notes } = toSuperxCard(id, discovery.discovered, source.url)
  return { card, validators: {}, ...(notes.length > 0 && { notes }) }
}

/** Returns an error if the address of a source is one that this host never calls. The log has the reason. */
export const checkSourceAllowed = ({ kind, url, service }: Source, env: Variables): Finding | undefined => {
  const message = service === undefined ? describeBlocked(url, env) : undefined
  return message === undefined ? undefined : { pointer: `/upstream/${kind}`, message }
}

/** Returns what to do about an address that this host never calls; undefined if it calls it. The log has the reason. */
export const describeBlocked = (address: string, env: Variables): string | undefined => {
  const { allowedOrigins, localOrigins } = config(env)
  const why = blockReason(address, allowedOrigins)
  if (why === undefined) return undefined
  log('warn', 'source-blocked', { 'calling_card.detail': why })
  const { origin, hostname } = new URL(address)
  const advice = localOrigins
    ? `If the agent is on your machine, write ALLOWED_ORIGINS=${origin} into .dev.vars, ` +
      'or add the origin to that line after a space, and restart `npm start`.'
    : isPrivateHost(hostname)
      ? 'No deployed host reaches this one: give the agent a public https address, such as that of a tunnel.'
      : `To allow it, add ${origin} to ALLOWED_ORIGINS in wrangler.toml, and deploy.`
  return `is not an address that this host calls: it calls public host names over https. ${advice}`
}

/** Fetches the card that an agent publishes, and verifies it if its source demands that. Never rejects. */
const fetchUpstreamCard = async (source: Source, context: FetchContext, env: Env): Promise<FetchResult> => {
  const { known, isConditional = false, ownOrigins } = context
  const client = createUpstreamClient(source, env, config(env))
  if ('misconfigured' in client)
    return fetchFailed(source, { ...unreachable, message: client.misconfigured }, client.misconfigured)
  const isOwn = originMatcher([...ownOrigins, config(env).publicOrigin])
  // The fetch of its own card would never end.
  const ownAddress = "The card's address is this host itself. Name the one where the agent publishes its card."
  if (isOwn(source.url)) return fetchFailed(source, { ...unreachable, message: ownAddress }, 'this host itself')
  const response = await fetchText(source.url, {
    // A server with a card for each version would take no version for 0.3, whose card has less; others ignore it.
    headers: { Accept: 'application/json', 'A2A-Version': latestVersion, 'User-Agent': userAgent(ownOrigins[0]) },
    credentials: client.credentials,
    // Each card is verified with the keys of its time, so it is fetched again, too.
    validators: isConditional && !source.verification ? conditionalHeaders(known?.validators) : undefined,
    fetch: blockOrigins(client.fetch, isOwn),
  })
  if ('failed' in response)
    return response.failed === 'unchanged'
      ? { unchanged: true }
      : fetchFailed(source, toSourceFailure(response), `${response.failed}: ${response.detail}`)
  const parsed = parseUnambiguous(response.content, 'an Agent Card')
  if ('refused' in parsed) {
    const kind = parsed.refused === 'duplicate-name' ? 'ambiguous' : 'invalid'
    const message = `The card's address responded with ${kind} JSON. ${parsed.detail.replace(/[^.]$/, '$&.')}`
    return fetchFailed(source, notACard(message), parsed.refused)
  }
  const card = parsed.value
  if (!isJsonObject(card)) {
    const kind = card === null ? 'null' : Array.isArray(card) ? 'a list' : `a ${typeof card}`
    const message = `The card's address responded with ${kind}; an Agent Card is a JSON object.`
    return fetchFailed(source, notACard(message), 'no object')
  }
  const demanded = source.verification
  if (!demanded) return toFetched({ card }, response)
  // Keys on the origin of the card are fetched as the card itself, but without credentials.
  const isOfCard = originMatcher([source.url])
  const { allowedOrigins } = config(env)
  const [ofCard, ofOthers] = [createKeyFetch(allowedOrigins, client.fetch), createKeyFetch(allowedOrigins)]
  const fetchJson = (url: string) => (isOfCard(url) ? ofCard(url) : ofOthers(url))
  const verified = await verifyFetched(card, { source, demanded, pinned: findPinnedKeys(known, source), fetchJson })
  return 'failure' in verified
    ? fetchFailed(source, verified.failure, verified.failure.message)
    : toFetched(verified, response)
}

/** Logs why a card could not be fetched, with only the server of the address: the rest may be a secret. */
const fetchFailed = ({ url }: Source, failure: SourceFailure, why: string): { failure: SourceFailure } => {
  const { hostname, port } = parseUrl(url) ?? { hostname: '', port: '' }
  const server = { 'server.address': hostname, ...(port !== '' && { 'server.port': Number(port) }) }
  log('error', 'card-unread', { ...server, 'calling_card.detail': why })
  return { failure }
}

const conditionalHeaders = ({ etag, lastModified }: Validators = {}): Record<string, string> | undefined => {
  if (etag !== undefined) return { 'If-None-Match': etag }
  return lastModified === undefined ? undefined : { 'If-Modified-Since': lastModified }
}

const toFetched = (
  { card, verification, notes = [] }: { card: JsonObject; verification?: CardVerification; notes?: Finding[] },
  { headers, url, redirected }: Resource,
): FetchResult => {
  // Neither the validators nor the base of relative URLs are those of the address that the manifest names.
  const resolved = redirected ? resolveInterfaceUrls(card, url) : { card, notes: [] }
  // What is kept is not the document that was signed.
  const isChanged = resolved.notes.length > 0
  const message = 'left out: they do not cover the card with absolute URLs'
  const lost = isChanged && card.signatures !== undefined ? [{ pointer: '/signatures', message }] : []
  const allNotes = [...notes, ...resolved.notes, ...lost]
  const [etag, lastModified] = redirected ? [] : [headers.get('ETag'), headers.get('Last-Modified')]
  return {
    card: isChanged ? omit(resolved.card, 'signatures') : resolved.card,
    validators: { ...(etag != null && { etag }), ...(lastModified != null && { lastModified }) },
    ...(allNotes.length > 0 && { notes: allNotes }),
    ...(verification && { verification }),
  }
}

/** A blocked address looks like one that does not respond: otherwise owners could map the network around this host. */
const unreachable: SourceFailure = {
  status: 502,
  code: 'unreachable',
  message:
    "The card's address cannot be reached. Check that it is correct, public and https; " +
    'the log of this host has the reason.',
}

const timeout: SourceFailure = { status: 504, code: 'timeout', message: "The card's address did not respond in time." }

const toSourceFailure = (failure: Exclude<FetchFailure, { failed: 'unchanged' }>): SourceFailure => {
  const { failed, detail } = failure
  if (failed === 'timeout') return timeout
  if (failed === 'redirect') return { ...unreachable, message: `The card's address redirects ${detail}.` }
  if (failed === 'status') {
    const network = CLOUDFLARE_ERRORS.get(failure.status)
    if (network !== undefined) return network.failed === 'timeout' ? timeout : unreachable
    return { ...unreachable, message: `The card's address responded with HTTP ${failure.status}.` }
  }
  if (failed === 'type') {
    const kind = /\bhtml\b/.test(failure.type) ? 'an HTML page' : failure.type
    const described = failure.type === '' ? 'without a Content-Type' : `with ${kind}`
    return notACard(`The card's address responded ${described}; a card is application/json.`)
  }
  if (failed === 'too-large') return notACard(`The card has ${detail}.`)
  return failed === 'not-text' ? notACard('The card is not UTF-8 text.') : unreachable
}

const notACard = (message: string): SourceFailure => ({ status: 502, code: 'invalid-card', message })
