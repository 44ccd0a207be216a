import { authenticate, authenticateForAgent } from '../auth/authenticate.ts'
import { hasPermission } from '../auth/permissions.ts'
import { unauthorized } from '../auth/require.ts'
import type { CallProfile } from '../card/call-profile.ts'
import { createHostMatcher, hostnameOf } from '../card/rewrite/host-leaks.ts'
import { checkRateLimit } from '../gateway/access.ts'
import { HttpError, serviceUnavailable, tooManyRequests } from '../http/errors.ts'
import { fetchBytes } from '../http/fetch-resource.ts'
import type { Handler } from '../http/handler.ts'
import { CORS_HEADERS, isCardHost, userAgent } from '../http/headers.ts'
import { log } from '../http/log.ts'
import { essence } from '../http/media-type.ts'
import { blockOrigins, originMatcher, safeFetch } from '../http/safe-fetch.ts'
import { normalizeForSearch } from '../net/hosts.ts'
import { lookUpProfile } from '../registry/edge/cards.ts'
import { agentNotFound } from './errors.ts'

const named: Readonly<Record<string, string>> = {
  period: '.',
  colon: ':',
  sol: '/',
  bsol: '\\',
  hyphen: '-',
  dash: '-',
}

/** What takes no room where it is read. */
const invisible = /[\u00ad\u200b-\u200d\u2060\ufeff]/g

/** What a page or a picture in markup says to people: without its tags, character references as what they stand for. */
export const pageText = (markup: string): string =>
  markup
    .replace(/<[^<>]*>/g, '')
    .replace(/&#(?:x([0-9a-f]{1,6})|(\d{1,7}));?/gi, (reference, hexadecimal?: string, decimal?: string) =>
      character(hexadecimal === undefined ? Number(decimal) : Number.parseInt(hexadecimal, 16), reference),
    )
    .replace(/&(\w{3,6});/g, (reference, name: string) => named[name] ?? reference)
    .replace(/&(?:shy|zwn?j|zerowidthspace|nobreak);/gi, '')
    .replace(invisible, '')

const character = (code: number, reference: string): string =>
  code <= 0x10ffff ? String.fromCodePoint(code) : reference

/** More marks on one letter than any language has: to put these in order takes long. */
const heaped = /(\p{M}{30})\p{M}+/gu

/**
 * Which host of an agent, or what host below it, a text names that is not to be known: as it is written, or as people read it.
 * Other private hosts may be named: documentation is full of them, for examples.
 */
export const toldAddress = (
  text: string,
  { targets, links = {}, mcp }: Pick<CallProfile, 'targets' | 'links' | 'mcp'>,
  agentUrl: string,
): string | undefined => {
  const addresses = [...targets.map(({ url }) => url), ...Object.values(links), ...(mcp ? [mcp.url] : [])]
  const apart = [...new Set(addresses)].filter(each => URL.canParse(each))
  const says = createHostMatcher({ apart, interfaces: [], agentUrl, fetched: false, mayShow: [] })
  const own = new URL(agentUrl).hostname
  const hosts = apart.map(hostnameOf).filter(each => each.includes('.') && each !== own)
  for (const each of [text, pageText(text)]) {
    const bounded = each.replace(heaped, '$1')
    const said = says(bounded, false)
    if (said) return said.host
    const others = normalizeForSearch(bounded).replaceAll(own, '')
    const below = hosts.find(host => others.includes(`.${host}`))
    if (below !== undefined) return below
  }
  return undefined
}

/** What of a card leads people to the agent's own host, and is served here in its place. */
type LinkName = keyof NonNullable<CallProfile['links']>

/** What is sent on of what a link leads to; or why nothing is, for the log. */
type Linked = { content: Uint8Array<ArrayBuffer>; type: string } | { failed: string }

/**
 * What each may be: nothing that a browser would run, HTML being shown without its scripts, and as of no origin. Nor data, such as
 * the card itself, or what cannot be searched though it is full of links, such as a PDF.
 */
const types: Record<LinkName, RegExp> = {
  documentation: /^text\/(?:html|plain|markdown)$/,
  icon: /^image\/(?:png|jpeg|gif|webp|avif|svg\+xml|x-icon|vnd\.microsoft\.icon)$/,
}

const isText = /^text\/|\+xml$/

/** Whose link it is, and the origin of this host by which it was asked for. */
type Whose = { id: string; profile: CallProfile; origin: string }

/** Fetches what a link of an agent's card leads to, through the fetch guard. What names the agent's host is not sent on. */
const fetchLink = async (name: LinkName, url: string, whose: Whose, env: Env): Promise<Linked> => {
  const { PUBLIC_URL, ALLOWED_ORIGINS } = env
  const origin = PUBLIC_URL.replace(/\/+$/, '') || whose.origin
  const fetched = await fetchBytes(url, {
    headers: { 'User-Agent': userAgent(origin) },
    accepts: type => types[name].test(essence(type)),
    ask: blockOrigins(
      async (to, init) => safeFetch(to, init, ALLOWED_ORIGINS),
      originMatcher([PUBLIC_URL, whose.origin]),
    ),
  })
  if ('failed' in fetched) return { failed: `${fetched.failed}: ${fetched.detail}` }
  // No more of the type than its name: parameters are the agent's words, too.
  const type = essence(fetched.headers.get('Content-Type'))
  const content = fetched.content as Uint8Array<ArrayBuffer>
  if (!isText.test(type)) return { content, type }
  const text = textOf(content)
  if (text === undefined) return { failed: 'not UTF-8' }
  const told = toldAddress(text, whose.profile, `${origin}/agents/${whose.id}`)
  return told === undefined ? { content, type: `${type}; charset=utf-8` } : { failed: `names the agent's host ${told}` }
}

/** In another encoding than is searched, a text could be read as another. */
const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    return undefined
  }
}

const safety = {
  'Content-Security-Policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
}

/**
 * `GET /agents/{id}/documentation` and `/icon`: what the card of an agent behind the gateway names on the agent's own host, whose
 * address nobody is told. Of a card that names it elsewhere, there is nothing here.
 */
export const agentLink =
  (name: LinkName): Handler =>
  async (request, env, ctx) => {
    if (isCardHost(request.headers)) throw loop(name)
    const id = request.params.id ?? ''
    const profile = await readableProfile(id, request, env, ctx)
    const url = profile.links?.[name]
    if (url === undefined) throw new HttpError(404, 'not-found', `The card of agent "${id}" names no ${name} here.`)
    // Who may write a card would else read all that is behind a binding: it is for calls, and for the card itself.
    if (profile.service !== undefined) {
      log('warn', 'link-unread', { agent: id, name, why: 'the agent is called through a service binding' })
      throw new HttpError(404, 'not-found', `The ${name} of agent "${id}" is not shown here.`)
    }
    const linked = await fetchLink(name, url, { id, profile, origin: new URL(request.url).origin }, env)
    if ('failed' in linked) throw unreachable(id, name, linked.failed)
    const caching = profile.visibility === 'public' ? 'public, max-age=3600' : 'private, no-store'
    return new Response(linked.content, {
      headers: { ...CORS_HEADERS, ...safety, 'Content-Type': linked.type, 'Cache-Control': caching },
    })
  }

/** `GET /agents/{id}/documentation`. */
export const agentDocumentation = agentLink('documentation')

/** `GET /agents/{id}/icon`. */
export const agentIcon = agentLink('icon')

/** What is known of an agent that a request's sender may read; to all others, it looks like none. */
const readableProfile = async (id: string, ...[request, env, ctx]: Parameters<Handler>): Promise<CallProfile> => {
  const bearer = await authenticate(request, env, ctx)
  if (await checkRateLimit(bearer, request, env)) throw tooManyRequests('That is asked for too often.')
  const profile = await lookUpProfile(id, env, ctx)
  if (profile === undefined) throw serviceUnavailable()
  const caller = profile ? await authenticateForAgent(bearer, request, id, profile, env, ctx) : bearer
  if (!caller.known && caller.given === 'throttled') throw unauthorized(caller, request, env)
  if (profile === null || (profile.visibility === 'internal' && !hasPermission(caller, 'read', id)))
    throw agentNotFound(id)
  return profile
}

/** Hosts like this one show what is behind them, not what others show: else one request could go around for ever. */
const loop = (name: LinkName): HttpError =>
  new HttpError(
    508,
    'loop',
    `A host like this one asks for this ${name}: it is for people, and fetched for no other host.`,
  )

const unreachable = (agent: string, name: LinkName, why: string): HttpError => {
  log('error', 'link-unread', { agent, name, why })
  return new HttpError(
    502,
    'link-unreachable',
    `The ${name} of agent "${agent}" could not be fetched. Try again later.`,
  )
}
