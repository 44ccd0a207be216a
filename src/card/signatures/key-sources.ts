import { didDocumentUrl, parseUrl } from '../../http/shared.ts'
import type { JsonObject } from '../../json/index.ts'
import { MAX_SIGNER_KEY_SETS } from '../../limits.ts'
import { listSignatures, readHeader } from './header.ts'
import { type KeysResult, type PublicKey, readDidDocument, readKeys } from './public-keys.ts'
import type { FetchJson, ServedCards } from './served-cards.ts'

/** Names where a verifier has its keys from: a JWK, the URL of a JWK Set, or a DID of the method `web`. */
export type KeySource = JsonObject | string

/** The path of the keys of a host (RFC 7517). */
export const KEY_SET_PATH = '/.well-known/jwks.json'

/**
 * Names who decided which keys count: the verifier (`given`), the server of the card (`origin`), or the signer of the
 * card (`signer`). The last proves nothing: anybody can sign a card with a key of their own, and name the place of that
 * key.
 */
export type Trust = 'given' | 'origin' | 'signer'

/** The keys that the verifier named, if any, and the address of the card, if it has one, before and after redirects. */
type KeyChoice = {
  given?: readonly KeySource[] | undefined
  url?: string | undefined
  redirectedTo?: string | undefined
}

/**
 * The sources of the keys that a card is verified with. `unread` says which key sets that signatures point to are not
 * read, and why.
 */
type ChosenKeys = { trust: Trust; sources: KeySource[]; unread: string[] }

/**
 * Chooses the keys that a card is verified with: those that are given, else those of the origin that its address `url`
 * names: its well-known key set, and others there that signatures point to. Without an origin, all https addresses that
 * they point to. No key is taken from another origin that the card was `redirectedTo`: a server that redirects to any
 * address would vouch for anybody's card.
 */
export const chooseKeys = (
  { plain, current }: ServedCards,
  { given, url, redirectedTo = url }: KeyChoice,
): ChosenKeys => {
  if (given !== undefined) return { trust: 'given', sources: [...given], unread: [] }
  const [origin, lastOrigin] = [url, redirectedTo].map(each => parseUrl(each ?? '')?.origin)
  const named = [
    ...new Set([
      ...[plain, ...(current ? [current] : [])].flatMap(listKeySetUrls),
      ...(lastOrigin === origin ? [] : [lastOrigin + KEY_SET_PATH]),
    ]),
  ]
  const counts = (jku: string): boolean =>
    origin === undefined ? parseUrl(jku)?.protocol === 'https:' : parseUrl(jku)?.origin === origin
  const wellKnown = origin === undefined ? [] : [origin + KEY_SET_PATH]
  const sources = [...new Set([...wellKnown, ...named.filter(counts)])]
  const explain = (jku: string): string => {
    if (origin === undefined) return 'it is not https'
    return parseUrl(jku)?.origin === lastOrigin
      ? 'the card is redirected to this origin. To trust its keys, name the address there'
      : 'it is not on the origin of the card'
  }
  return {
    trust: origin === undefined ? 'signer' : 'origin',
    sources: sources.slice(0, MAX_SIGNER_KEY_SETS),
    unread: [
      ...sources.slice(MAX_SIGNER_KEY_SETS).map(jku => `${jku} is not read: signatures point to too many key sets`),
      ...named.filter(jku => !counts(jku)).map(jku => `${jku} is not read: ${explain(jku)}`),
    ],
  }
}

/** Returns the `jku` of each signature of a card that has one. */
export const listKeySetUrls = (card: JsonObject): string[] =>
  listSignatures(card).flatMap(signature => {
    const read = readHeader(signature)
    return 'header' in read && read.header.jku !== undefined ? [read.header.jku] : []
  })

/** The keys of all sources that could be read, and why others could not. */
type ResolvedKeys = { keys: PublicKey[]; errors: string[] }

/** Reads the keys of each source. `owner` is where a JWK that is a source itself is from. */
export const resolveKeys = async (
  sources: readonly KeySource[],
  fetchJson: FetchJson,
  owner = 'manifest',
): Promise<ResolvedKeys> => {
  const results = await Promise.all(sources.map(source => resolveSource(source, fetchJson, owner)))
  return {
    keys: results.flatMap(result => ('keys' in result ? result.keys : [])),
    errors: results.flatMap(result => ('error' in result ? [result.error] : [])),
  }
}

const resolveSource = async (source: KeySource, fetchJson: FetchJson, owner: string): Promise<KeysResult> => {
  if (typeof source !== 'string') return readKeys(source, owner)
  const didUrl = didDocumentUrl(source)
  const fetched = await fetchJson(didUrl ?? source)
  if ('error' in fetched) return { error: `${source} ${fetched.error}` }
  return didUrl === undefined ? readKeys(fetched.document, source) : readDidDocument(fetched.document, source)
}
