import {
  chooseKeys,
  type FetchJson,
  fetchServedCards,
  isAgentCard,
  readKeys,
  resolveCardUrl,
  resolveKeys,
  type ServedCards,
  type Trust,
  type Verification,
  verifyCard,
} from '../../../src/card/signatures/index.ts'
import { blockReason, didDocumentUrl } from '../../../src/http/shared.ts'
import { isJsonObject, type Json } from '../../../src/json/index.ts'
import { KEY_REQUEST } from '../../../src/signing/shared.ts'
import { fetchDocument, isFetchable } from '../../client/index.ts'
import type { Context } from '../../context.ts'
import { UsageError } from '../../errors.ts'
import { readFile } from '../../manifests/index.ts'

/** The end of a sentence about a file; `at` is the place in the file, such as `:1:2`. */
type ReadError = { error: string; at?: string }

/** The result for one card, or why there is none. `source` is the file or URL as the user wrote it. */
export type CardVerification = { source: string } & (
  | (Verification & { keys: { sources: string[]; errors: string[] }; missing?: string })
  | (ReadError & { failed: 'invalid' | 'unreachable' })
)

/** Verifies the card in a file or at a URL, with these keys (files, URLs, DIDs); without any, those of its origin. */
export const verifySource = async (
  source: string,
  keys: readonly string[],
  context: Context,
): Promise<CardVerification> => {
  const url = isUrl(source) ? resolveCardUrl(source) : undefined
  const fetchFrom = (from: string, headers: Record<string, string>) => fetchDocument(from, { headers }, context)
  const read = url === undefined ? readCard(source, context) : await fetchServedCards(url, fetchFrom)
  if ('error' in read) return { source, failed: url === undefined ? 'invalid' : 'unreachable', ...read }
  const { served, missing, url: redirectedTo } = read
  const given = keys.length > 0 ? keys : undefined
  const { trust, sources, unread } = chooseKeys(served, { given, url, redirectedTo })
  const resolved = await resolveKeys(sources, createKeyReader(trust, context))
  return {
    source,
    ...(await verifyCard(served, resolved.keys, trust, context.clock.now())),
    keys: { sources: sources.map(String), errors: [...resolved.errors, ...unread] },
    ...(missing !== undefined && { missing }),
  }
}

/** Rejects keys that are mistakes of the user. Whether a server has the others shows only when they are fetched. */
export const checkNamedKeys = async (keys: readonly string[], context: Context): Promise<void> => {
  for (const key of keys) {
    if (isUrl(key) && !isFetchable(key)) throw new UsageError(`--key: ${key} ${UNENCRYPTED}.`)
    if (isUrl(key) || didDocumentUrl(key) !== undefined) continue
    if (key.startsWith('did:'))
      throw new UsageError(`--key: ${key}: only DIDs of the method web are supported, such as did:web:example.com.`)
    const read = readDocument(key, context)
    if ('error' in read) throw new UsageError(`--key: ${key}${read.at ?? ''} ${read.error}.`)
    const result = await readKeys(read.document, key)
    if ('error' in result) throw new UsageError(`--key: ${result.error}.`)
  }
}

const isUrl = (text: string): boolean => /^https?:\/\//i.test(text)

const UNENCRYPTED = 'is not encrypted, so anybody on the way could replace the keys: use https'

type ReadCards = { served: ServedCards; url?: string; missing?: string } | ReadError

const readCard = (file: string, context: Context): ReadCards => {
  const read = readDocument(file, context)
  if ('error' in read) return read
  const { document } = read
  // A manifest has the card as a member.
  const isManifest = isJsonObject(document) && isJsonObject(document.card) && document.name === undefined
  const card = isManifest ? document.card : document
  return isJsonObject(card) && isAgentCard(card)
    ? { served: { plain: card, current: card } }
    : { error: 'is not an Agent Card' }
}

const readDocument = (file: string, { cwd }: Context): { document: Json } | ReadError => {
  const read = readFile(file, cwd)
  if ('reason' in read) return { error: `cannot be read: ${read.reason}` }
  if ('value' in read) return { document: read.value }
  // Turns sentences such as "This is not JSON. Unexpected …" into ends of a sentence about the file.
  const error = read.problems
    .map(({ message }) => message.replace(/^This ([^.]*)\.\s*/, '$1: ').replace(/[.:]\s*$/, ''))
    .join('; ')
  const [first] = read.problems
  return { error, ...(first && !error.startsWith('cannot be read') && { at: `:${first.line}:${first.column}` }) }
}

/** Returns a reader of keys. A place that the signer of a card chose must be a public address. */
const createKeyReader =
  (trust: Trust, context: Context): FetchJson =>
  async place => {
    if (!isUrl(place)) return trust === 'given' ? readDocument(place, context) : { error: 'is no URL' }
    if (trust === 'signer' && blockReason(place) !== undefined) return { error: 'is no public address' }
    if (!isFetchable(place)) return { error: UNENCRYPTED }
    return fetchDocument(place, KEY_REQUEST, context)
  }
