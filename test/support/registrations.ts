import { compile } from '../../src/card/compile/index.ts'
import type { ManifestContext } from '../../src/card/manifest/manifest.ts'
import type { Source } from '../../src/card/manifest/upstream.ts'
import type { RepresentationName } from '../../src/card/model/constants.ts'
import type { StoredReceipt } from '../../src/card/model/receipt-format.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { packDocuments, publicTier } from '../../src/registry/documents.ts'
import { type PreparedCard, prepareRegistration, type Registration } from '../../src/registry/prepare.ts'
import { noSearchFields } from '../../src/registry/search-terms.ts'
import type { SourceFailure, SourceRecord } from '../../src/registry/source-record.ts'
import type { Signing } from '../../src/signing/card-signer.ts'
import { parseDocument } from './cards/compile.ts'

/** The source of a card on another host, with `changes`. */
export const sourceAt = (url: string, changes: Partial<Source> = {}): Source => ({
  ...{ kind: 'card', url, ttl: 300, staleIfError: 86_400, pin: false },
  ...changes,
})

/** The source of an upstream card. */
export const source = sourceAt('https://upstream.example/card', { staleIfError: 3600 })

/** How cards are signed at a host without keys. */
export const withoutKeys: Signing = { signers: '', unsigned: 'There is no key.' }

/** Prepares the registration of a valid document at a host without keys. */
export const prepareDocument = (
  document: Json,
  context: ManifestContext,
  { fetched, record }: { fetched?: JsonObject | undefined; record?: SourceRecord } = {},
): Promise<Registration> => {
  const parsed = parseDocument(document, context)
  const isMissing = record !== undefined && record.card === undefined
  const result = isMissing ? { compiled: undefined } : compile(parsed, fetched)
  if ('errors' in result) throw new Error(JSON.stringify(result.errors))
  return prepareRegistration(parsed, { ...result, record, signing: withoutKeys }, { actor: 'admin', expected: {} })
}

/** Returns a stored document whose entity tag is `text`. */
export const representation = (text: string) => ({
  etag: `"${text}"`,
  bytes: new Uint8Array(new TextEncoder().encode(JSON.stringify({ name: text }))) as Uint8Array<ArrayBuffer>,
})

/** Returns the card of a tier with that name, as it is stored. */
export const cardNamed = (text: string, tier = publicTier): PreparedCard => {
  const names: RepresentationName[] = ['agent-card.json', 'agent.json', '1.0']
  const documents = Object.fromEntries(names.map(name => [name, representation(text)]))
  return { tier, card: JSON.stringify({ name: text }), ...packDocuments(documents) }
}

/** Returns the registration of an agent whose card is named `text`, or of an agent without a card. */
export const registration = (id: string, text: string | undefined, more: Partial<Registration> = {}): Registration => {
  return {
    id,
    manifest: '{}',
    manifestEtag: '"manifest"',
    visibility: 'public',
    set: undefined,
    hosts: [],
    origin: 'https://host.example',
    summary: {
      ...{ name: text ?? id, description: '', version: '', url: '', protocol: 'a2a' },
      shaman: { url: '', preferredTransport: 'JSONRPC' },
    },
    search: noSearchFields,
    cards: text === undefined ? [] : [cardNamed(text)],
    profile: JSON.stringify({ name: `profile of ${text}` }),
    expected: {},
    actor: 'admin',
    ...more,
  }
}

/** The stored source of a card that was fetched just now. */
export const fetched = (text: string, more: Partial<SourceRecord> = {}): SourceRecord => ({
  source,
  card: JSON.stringify({ name: text }),
  validators: { etag: `"${text}"` },
  checked: Date.now(),
  by: 'manifest',
  ...more,
})

/** A failure to fetch a card, as a client sees it. */
export const failure = (status: SourceFailure['status'] = 502, message = 'No.'): SourceFailure => ({
  status,
  code: 'unreachable',
  message,
})

/** The part of the Worker's environment that fetching a card needs. */
export const envWith = (bindings: Record<string, unknown>): Env =>
  ({ ALLOWED_ORIGINS: '', PUBLIC_URL: '', ...bindings }) as unknown as Env

/** Returns the receipt of a check. */
export const receiptOf = (agent: string, checked = '2026-11-22T10:00:00.000Z'): StoredReceipt => ({
  receipt: {
    ...{ agent, checked, host: 'https://cards.example.com', send: false },
    card: { version: '1.0.0', etag: '"abc"' },
    summary: { passed: 2, failed: 1, skipped: 1 },
    tests: [
      { ...testOf('version', 'Refuses a version that does not exist'), result: 'passed' },
      { ...testOf('streaming', 'Streams if its card declares it'), result: 'passed' },
      {
        ...testOf('streaming', 'Streams if its card declares it'),
        ...{ through: 'direct', result: 'failed', reason: 'The agent does not answer.' },
      },
      {
        ...testOf('own-card', 'Serves a card itself'),
        ...{ result: 'skipped', reason: 'The agent serves no card at the origin of its endpoint.' },
      },
    ],
  },
  signature: 'a..b',
})

const testOf = (id: string, title: string) => ({
  ...{ id, title, through: 'gate' as const, protocol: 'JSONRPC 1.0' },
  ...{ claimed: 'A2A requires it', happened: 'error' },
})
