import {
  chooseKeys,
  type FetchJson,
  fetchServedCards,
  resolveCardUrl,
  resolveKeys,
  type ServedCards,
  type Trust,
  type Verification,
  verifyCard,
} from '../../src/card/signatures/index.ts'
import { blockReason } from '../../src/http/safe-fetch.ts'
import { isJsonObject, type JsonObject } from '../../src/json/json.ts'
import { KEY_REQUEST } from '../../src/signing/fetch-keys.ts'
import { fetchDocument, isFetchable } from '../client/index.ts'
import type { Context } from '../context.ts'
import { readFile } from '../manifests/index.ts'

/** The result for one card, or why there is none. `source` is the file or URL as it was named. */
export type CardVerification = { source: string } & (
  | (Verification & { keys: { sources: string[]; errors: string[] }; missing?: string })
  | { failed: 'invalid' | 'unreachable'; error: string }
)

/** Verifies the card in a file or at a URL, with the keys at `keys`: files, URLs of key sets and DIDs; without any, those of its origin. */
export const verifySource = async (
  source: string,
  keys: readonly string[],
  context: Context,
): Promise<CardVerification> => {
  const url = isUrl(source) ? resolveCardUrl(source) : undefined
  const read = url === undefined ? readCard(source, context) : await fetchCards(url, context)
  if ('error' in read) return { source, ...read }
  const { served, missing } = read
  const { trust, sources, unread } = chooseKeys(served, { given: keys.length > 0 ? keys : undefined, url })
  const resolved = await resolveKeys(sources, createKeyReader(trust, context))
  return {
    source,
    ...(await verifyCard(served, resolved.keys, trust, context.clock.now())),
    keys: {
      sources: sources.map(String),
      errors: [...resolved.errors, ...unread],
    },
    ...(missing !== undefined && { missing }),
  }
}

const isUrl = (text: string): boolean => /^https?:\/\//i.test(text)

type ReadCards = { served: ServedCards; missing?: string } | { failed: 'invalid' | 'unreachable'; error: string }

const readCard = (file: string, { cwd }: Context): ReadCards => {
  const read = readFile(file, cwd)
  if ('reason' in read) return { failed: 'invalid', error: `cannot be read: ${read.reason}` }
  if ('problems' in read) return { failed: 'invalid', error: read.problems.map(({ message }) => message).join('; ') }
  if (!isJsonObject(read.value)) return { failed: 'invalid', error: 'is no Agent Card: expected an object' }
  const card = cardOf(read.value)
  return { served: { plain: card, current: card } }
}

/** A manifest has the card as a member. */
const cardOf = (document: JsonObject): JsonObject =>
  isJsonObject(document.card) && document.name === undefined ? document.card : document

const fetchCards = async (url: string, context: Context): Promise<ReadCards> => {
  const fetched = await fetchServedCards(headers => fetchDocument(url, { headers }, context))
  return 'error' in fetched ? { failed: 'unreachable', ...fetched } : fetched
}

/** Returns what reads keys. Where the signer of a card chose their place, it must be a public one. Only users name files. */
const createKeyReader =
  (trust: Trust, context: Context): FetchJson =>
  async place => {
    if (!isUrl(place)) return trust === 'given' ? readKeyFile(place, context) : { error: 'is no URL' }
    if (trust === 'signer' && blockReason(place) !== undefined) return { error: 'is no public address' }
    if (!isFetchable(place))
      return { error: 'is not encrypted, so anybody on the way could replace the keys: use https' }
    return fetchDocument(place, KEY_REQUEST, context)
  }

const readKeyFile = (file: string, { cwd }: Context): Awaited<ReturnType<FetchJson>> => {
  const read = readFile(file, cwd)
  if ('reason' in read) return { error: `cannot be read: ${read.reason}` }
  return 'problems' in read
    ? { error: read.problems.map(({ message }) => message).join('; ') }
    : { document: read.value }
}
