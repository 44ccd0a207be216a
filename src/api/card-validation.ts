import { clientKey, findIdentityErrors } from '../auth/index.ts'
import {
  chooseKeys,
  type FetchJson,
  fetchServedCards,
  KEY_SET_PATH,
  resolveCardUrl,
  resolveKeys,
  verifyCard as verifySignatures,
} from '../card/signatures/index.ts'
import { config } from '../config.ts'
import type { FetchFailure, FetchFn, Handler, RequestContext } from '../http/index.ts'
import {
  blockOrigins,
  describeFailure,
  fetchJson,
  HttpError,
  originMatcher,
  parseUrl,
  problem,
  readText,
  safeFetch,
  statusOf,
  tooManyRequests,
  userAgent,
} from '../http/index.ts'
import { parseJson } from '../json/index.ts'
import { MAX_BODY_BYTES, MAX_VERIFY_REQUESTS } from '../limits.ts'
import { KEY_REQUEST } from '../signing/index.ts'
import { agentCard, hostCard } from './card-endpoints.ts'
import { endpoint, flag, json, jsonBody } from './contract/index.ts'
import { getDidDocument, getKeySet } from './published-keys.ts'
import { LintResult, Manifest, VerifyRequest, VerifyResult } from './schemas/index.ts'

/** `POST /lint`: reports on a card or manifest; with `?representations=true`, shows what each client would get, too. */
export const lint = endpoint(
  {
    tag: 'registry',
    summary: 'Check a card or manifest, and store nothing',
    access: 'public',
    query: { representations: flag('Whether the report has the card in each representation.', false) },
    body: jsonBody(Manifest),
    responses: { 200: json('The report.', LintResult) },
    limits: ['LINT_LIMIT'],
  },
  async ({ body: document, query, request, env }) => {
    const [{ compileDocument }, { declaredId }] = await Promise.all([
      import('../card/compile/index.ts'),
      import('../card/manifest/manifest.ts'),
    ])
    const id = declaredId(document) ?? 'agent'
    const { publicOrigin } = config(env)
    const result = compileDocument(document, { id, publicOrigin, requestOrigin: new URL(request.url).origin })
    const errors = 'errors' in result ? result.errors : await findIdentityErrors(result.compiled.manifest, env)
    if ('errors' in result || errors.length > 0) return { body: { valid: false, errors } }
    const { report, secrets, documents: representations } = result.compiled
    const valid = secrets.length === 0
    const isShown = valid && query.representations
    const { createSigning, describeSigning } = await import('../signing/card-signer.ts')
    const signing = await createSigning(result.compiled, {}, env)
    // Nothing is said of a host without a key.
    const ofHost = signing.signers === '' ? [] : describeSigning(signing, representations)
    const signatures = [...report.signatures, ...ofHost]
    return { body: { valid, errors: secrets, ...report, signatures, ...(isShown && { representations }) } }
  },
)

/** `POST /verify`: reports which signatures of a card are valid, with which keys, and which SDKs accept them. */
export const verifyCard = endpoint(
  {
    tag: 'registry',
    summary: 'Verify the signatures of a card, and store nothing',
    access: 'public',
    body: jsonBody(VerifyRequest, { problem: 'invalid-verify-request' }),
    responses: { 200: json('The result, also if no signature is valid.', VerifyResult) },
    problems: ['card-unavailable'],
    limits: ['LINT_LIMIT', 'FETCH_LIMIT'],
  },
  async ({ body: { card = {}, url: named, keys: given }, request, env, ctx }) => {
    const url = named === undefined ? undefined : resolveCardUrl(named)
    const context = { request, env, ctx }
    const outgoing = createOutgoing(context)
    const fetched = url === undefined ? undefined : await fetchServed(url, outgoing, context)
    const served = fetched?.served ?? { plain: card, current: card }
    const { trust, sources, unread } = chooseKeys(served, { given, url, redirectedTo: fetched?.url })
    const keyRequest = { ...KEY_REQUEST, fetch: outgoing.fetch }
    const fetchKeys: FetchJson = url =>
      outgoing.isOwn(url) ? readOwn(url, {}, context) : fetchJson(url, keyRequest, describe)
    const { keys, errors } = await resolveKeys(sources, fetchKeys, 'request')
    assertNotLimited(outgoing)
    const names = sources.map(source => (typeof source === 'string' ? source : 'request'))
    return {
      body: {
        ...(await verifySignatures(served, keys, trust)),
        keys: { sources: names, errors: [...errors, ...unread] },
        ...(fetched?.missing !== undefined && { missing: fetched.missing }),
      },
    }
  },
)

/**
 * Sends a bounded number of requests, none to this host, which cannot send requests to itself: what `isOwn` is read
 * without one. Records whether a request was refused because its client is past the rate limit.
 */
type Outgoing = { isLimited: boolean; isOwn: (url: string) => boolean; fetch: FetchFn }

const createOutgoing = ({ request, env }: RequestContext): Outgoing => {
  let left = MAX_VERIFY_REQUESTS
  const outgoing: Outgoing = {
    isLimited: false,
    isOwn: originMatcher([new URL(request.url).origin, config(env).publicOrigin]),
    fetch: async (url, init) => {
      if (left === 0) return { blocked: NOT_FETCHED }
      left -= 1
      const { success } = await env.FETCH_LIMIT.limit({ key: `verify:${clientKey(request)}` })
      outgoing.isLimited ||= !success
      return success ? safeFetch(url, init, config(env).allowedOrigins) : { blocked: 'rate limit' }
    },
  }
  return outgoing
}

/** Throws if a request was refused: the result would be that of another card or key. */
const assertNotLimited = ({ isLimited }: Outgoing): void => {
  if (isLimited) throw tooManyRequests('Too many cards and keys to fetch for your address.')
}

/** Leaves the requests for both documents of a card and for one key set. */
const MAX_REDIRECTS = MAX_VERIFY_REQUESTS - 3

const NOT_FETCHED =
  `was not fetched: this host sends at most ${MAX_VERIFY_REQUESTS} requests, redirects included. Send the keys ` +
  'themselves as JWKs, fewer addresses of keys, or the address that the card is redirected to'

const describe = (failure: FetchFailure, maxBytes?: number): string =>
  failure.detail === NOT_FETCHED ? NOT_FETCHED : describeFailure(failure, maxBytes)

/** Fetches what clients get of a card; that of an agent of this host is read without a request. */
const fetchServed = async (url: string, outgoing: Outgoing, context: RequestContext) => {
  const { isOwn } = outgoing
  const fetch = blockOrigins(outgoing.fetch, isOwn)
  const fetched = await fetchServedCards(url, (from, versionHeaders) => {
    const headers = { 'User-Agent': userAgent(new URL(context.request.url).origin), ...versionHeaders }
    // As large as a card in the body: verifying takes longer than to read it.
    const options = { headers, fetch, maxBytes: MAX_BODY_BYTES, maxRedirects: MAX_REDIRECTS }
    return isOwn(from) ? readOwn(from, headers, context) : fetchJson(from, options, describe)
  })
  assertNotLimited(outgoing)
  if ('error' in fetched) throw problem('card-unavailable', `${url.slice(0, 200)} ${fetched.error}.`)
  return fetched
}

/** Answers a request for a card or the keys of this host, as a client without a token gets them. */
const readOwn = async (url: string, headers: Record<string, string>, { env, ctx }: RequestContext) => {
  const target = parseUrl(url)
  const found = findOwn(target?.pathname ?? '')
  if (target === null || found === undefined) return { error: 'is an address of this host that has no card' }
  try {
    const response = await found.handler(new Request(target, { headers }), env, ctx, { id: found.id })
    const body = await readText(response, MAX_BODY_BYTES)
    const parsed = 'text' in body ? parseJson(body.text) : body
    return 'value' in parsed ? { document: parsed.value } : { error: 'cannot be read' }
  } catch (error) {
    if (error instanceof HttpError) return { error: `responded with HTTP ${statusOf(error)}` }
    throw error
  }
}

/** The paths of cards: of an agent, of the agent that the host name stands for, and the older name of both. */
const CARD_PATH = /^(?:\/agents\/(?<id>[a-z0-9-]+))?(?:\/\.well-known\/(?<name>agent|agent-card)\.json)?$/

const findOwn = (path: string): { handler: Handler; id?: string | undefined } | undefined => {
  if (path === KEY_SET_PATH) return { handler: getKeySet }
  if (path === '/.well-known/did.json') return { handler: getDidDocument }
  const groups = CARD_PATH.exec(path)?.groups
  if (!groups) return undefined
  const { id, name } = groups
  const hybrid = name === 'agent' ? 'agent.json' : 'agent-card.json'
  return id === undefined ? { handler: hostCard(hybrid) } : { handler: agentCard(hybrid), id }
}
