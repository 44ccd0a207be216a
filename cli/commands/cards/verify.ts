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
import { ExitCode, UsageError } from '../../errors.ts'
import { readFile } from '../../manifests/index.ts'
import { type AddCommand, collect } from '../../options.ts'
import { colors, formatTable, type Lines } from '../../terminal.ts'

type Flags = { key?: string[]; json?: true }

const KEY_HELP =
  'a key to trust: a file with a JWK or JWK Set, the URL of one, or a DID such as did:web:example.com; repeatable. ' +
  'Default: the keys that the server of the card publishes'

/** Adds `verify`, which checks the signatures of cards. It needs no host. */
export const addVerify: AddCommand = (program, context, exit) => {
  program
    .command('verify')
    .description('check who signed a card, and which SDKs will accept it')
    .argument('<files...>', 'files with a card, or URLs of cards')
    .option('--key <file>', KEY_HELP, collect)
    .option('--json', 'print one JSON object on stdout')
    .action(async (named: string[], flags: Flags) => exit(await verify(named, flags, context)))
}

const verify = async (named: readonly string[], { key = [], json }: Flags, context: Context): Promise<number> => {
  await checkNamedKeys(key, context)
  const cards: CardVerification[] = []
  for (const source of named) {
    const card = await verifySource(source, key, context)
    cards.push(card)
    if (!json) context.terminal.report(verifyText(card))
  }
  if (json) context.terminal.out(JSON.stringify({ cards }))
  return Math.max(...cards.map(exitCodeOf))
}

const exitCodeOf = (card: CardVerification): number => {
  if ('failed' in card) return card.failed === 'invalid' ? ExitCode.rejected : ExitCode.unreachable
  if (card.verified) return ExitCode.ok
  // The key files were read before, so these are key sets that the user named and that could not be fetched.
  return card.trust.basis === 'given' && card.keys.errors.length > 0 ? ExitCode.unreachable : ExitCode.outOfDate
}

const TICK = colors.green('✓')
const CROSS = colors.red('✗')

/** Formats the result for one card: whether it is verified and why not, its signatures, their keys, and the SDKs. */
const verifyText = (card: CardVerification): Lines => {
  if ('failed' in card) return `${CROSS} ${card.source}${card.at ?? ''} ${card.error.replace(/\.$/, '')}.`
  const { source, verified, reason, trust, keys, signatures, sdks, missing } = card
  // Without a signature, the keys that the card or its server names do not matter, and neither do the SDKs.
  if (signatures.length === 0 && trust.basis !== 'given') return `${CROSS} ${source} is not verified. ${reason}`
  const isExplained = trust.basis === 'signer' && reason?.includes(trust.meaning)
  const notes = [...keys.errors, missing ?? []].flat()
  const verdicts = sdks.map(({ sdk, accepted, reason = '' }) =>
    accepted ? [TICK, sdk, 'accepts the card'] : [CROSS, sdk, reason],
  )
  return [
    `${verified ? TICK : CROSS} ${source} is ${verified ? 'signed with a trusted key' : 'not verified'}.`,
    ...(reason === undefined ? [] : [`  ${reason}`]),
    ...(isExplained ? [] : [`  ${colors.dim(trust.meaning)}`]),
    ...notes.map(note => `  ${colors.yellow(note)}`),
    ...section('Signatures', signatures.map(signatureRow)),
    ...section('Verifiers', verdicts),
  ]
}

const section = (title: string, rows: readonly (readonly string[])[]): string[] =>
  rows.length === 0 ? [] : [`  ${title}`, ...formatTable(rows).map(row => `  ${row}`)]

const signatureRow = (signature: Exclude<CardVerification, { failed: string }>['signatures'][number]): string[] => {
  const { kid = '(no kid)', version } = signature
  // Every thumbprint is shorter.
  const name = `${kid.slice(0, 100)}${version === undefined ? '' : ` for A2A ${version}`}`
  if (!signature.valid) return [CROSS, name, signature.reason]
  const { rule, omits, key } = signature
  const covered = omits === undefined ? 'covers the whole card' : `covers all but ${omits}`
  return [TICK, name, `${rule}: ${covered} (key from ${key.from})`]
}

/** The end of a sentence about a file; `at` is the place in the file, such as `:1:2`. */
type ReadError = { error: string; at?: string }

/** The verification of one card, or the error that prevented it. `source` is the file or URL as the user wrote it. */
type CardVerification = { source: string } & (
  | (Verification & { keys: { sources: string[]; errors: string[] }; missing?: string })
  | (ReadError & { failed: 'invalid' | 'unreachable' })
)

/** Verifies the card in a file or at a URL, with these keys (files, URLs, DIDs); without any, those of its origin. */
const verifySource = async (source: string, keys: readonly string[], context: Context): Promise<CardVerification> => {
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
const checkNamedKeys = async (keys: readonly string[], context: Context): Promise<void> => {
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
