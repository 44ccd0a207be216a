import { compile, parseManifest } from '../../src/card/compile/index.ts'
import { signedNames } from '../../src/card/model/constants.ts'
import { type PublicKey, readKeys, verifySignatures } from '../../src/card/signatures/index.ts'
import { strongEtag } from '../../src/http/conditional.ts'
import { type Json, type JsonObject, omit } from '../../src/json/json.ts'
import { MAX_REVISIONS } from '../../src/limits.ts'
import { toAgentEnvelope, unpackDocuments } from '../../src/registry/documents.ts'
import type { Envelope, Representation, Representations } from '../../src/registry/kv-format.ts'
import { prepareRegistration } from '../../src/registry/prepare.ts'
import { withoutKeys } from '../../test/support/registrations.ts'
import { publicUrl, type SoakHost } from './host.ts'
import type { Workload } from './workload.ts'

/** The state of the Registry, and where KV differs from it. */
export type Comparison = {
  /** The versions of the agents that exist, by id. */
  versions: Map<string, string>
  /** The ids of the tokens that exist. */
  tokens: Set<string>
  /** How many keys of KV were compared. */
  keys: number
  /** The keys of KV that differ from the Registry, or have documents that are not signed with the keys of now. */
  differences: string[]
}

/**
 * Compares the Registry, as its endpoints report it, with every key of KV that a write may have changed. Signatures differ each time they are
 * made, so documents are compared without them, and the signatures are verified with the keys that the host publishes.
 */
export const compareEdge = async (host: SoakHost, workload: Workload): Promise<Comparison> => {
  const signedBy = await readPublishedKeys(host)
  const result: Comparison = { versions: new Map(), tokens: await listTokens(host), keys: 0, differences: [] }
  const expect = (key: string, isEqual: boolean) => {
    result.keys++
    if (!isEqual) result.differences.push(key)
  }
  for (const id of [...workload.agents.keys(), ...workload.remoteIds]) {
    const truth = await readTruth(host, workload, id)
    if (truth) result.versions.set(id, truth.version)
    const card = await host.readEnvelope(`card:${id}`)
    const extended = await host.readEnvelope(`extended:${id}:base`)
    const isSameManifest = truth === undefined || card?.metadata.etag === truth.manifestEtag
    const isSigned = await areSigned([card, extended], signedBy)
    const cardEtags = await unsignedEtagsOf(card?.representations)
    expect(`card:${id}`, isSameManifest && isSigned && cardEtags === (await unsignedEtagsOf(truth?.representations)))
    const extendedEtags = await unsignedEtagsOf(extended?.representations)
    expect(`extended:${id}:base`, extendedEtags === (await unsignedEtagsOf(truth?.extended)))
    const hostname = `${id}.example.com`
    const owner = (await host.readKv(`host:${hostname}`))?.bytes.toString() ?? ''
    expect(`host:${hostname}`, owner === (truth?.hosts.includes(hostname) ? id : ''))
  }
  const root = (await host.readKv('host:*'))?.bytes.toString() ?? ''
  expect('host:*', root === '' || result.versions.has(root))
  for (const [id, { kvKey }] of workload.tokens) {
    const record = (await host.readKv(kvKey))?.bytes.toString() ?? ''
    expect(`token of ${id}`, (record !== '') === result.tokens.has(id))
  }
  return result
}

/** Returns what an agent's manifest makes in KV, compiled here again; undefined for no agent. */
const readTruth = async (host: SoakHost, workload: Workload, id: string) => {
  const response = await host.send('GET', `/agents/${id}/manifest`)
  if (response.status === 404) return undefined
  const manifestEtag = response.headers.get('ETag') ?? ''
  const document = (await response.json()) as Json
  const parsed = parseManifest(document, { id, publicOrigin: publicUrl, requestOrigin: publicUrl })
  const fetched = workload.remoteIds.includes(id) ? (workload.remoteCard(id) as JsonObject) : undefined
  const result = 'errors' in parsed ? parsed : compile(parsed, fetched)
  if ('errors' in parsed || 'errors' in result) throw new Error(`${id}: ${JSON.stringify(result)}`)
  const prepared = await prepareRegistration(
    parsed,
    { ...result, signing: withoutKeys },
    { actor: 'admin', expected: {} },
  )
  const [publicCard, extended] = prepared.cards
  return {
    manifestEtag,
    version: result.compiled.card.version,
    hosts: prepared.hosts,
    representations: toAgentEnvelope({ ...prepared, seq: 0, modified: 0, source: undefined }, publicCard)
      .representations,
    extended: extended && unpackDocuments(extended),
  }
}

/** Returns the keys that the host publishes; the first of them signs everything. */
const readPublishedKeys = async (host: SoakHost): Promise<PublicKey[]> => {
  const read = await readKeys((await (await host.send('GET', '/.well-known/jwks.json')).json()) as Json, 'the host')
  if ('error' in read) throw new Error(read.error)
  return read.keys
}

/** Whether each document that the host signs has valid signatures only, the first by its current key. */
const areSigned = async (envelopes: (Envelope | undefined)[], keys: readonly PublicKey[]): Promise<boolean> => {
  const documents = envelopes.flatMap(envelope => signedNames.map(name => envelope?.representations[name]))
  const results = await Promise.all(
    documents.flatMap(document => (document ? [verifySignatures(parse(document), keys)] : [])),
  )
  return results.every(
    ([first, ...others]) => first?.kid === keys[0]?.kid && [first, ...others].every(each => each?.valid),
  )
}

const parse = ({ bytes }: Representation): JsonObject => JSON.parse(new TextDecoder().decode(bytes)) as JsonObject

/** Returns the entity tags that documents would have without signatures. The profile has none of its own. */
const unsignedEtagsOf = async (representations: Representations = {}): Promise<string> => {
  const etags = Object.entries(representations).map(async ([name, document]) => {
    const text = JSON.stringify(omit(parse(document), 'signatures'))
    return [name, await strongEtag(new TextEncoder().encode(text))]
  })
  return JSON.stringify((await Promise.all(etags)).sort())
}

const listTokens = async (host: SoakHost): Promise<Set<string>> => {
  const ids = new Set<string>()
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const response = await host.send('GET', `/tokens?limit=100${cursor && `&cursor=${cursor}`}`)
    const page = (await response.json()) as { tokens: { id: string }[]; cursor?: string }
    for (const { id } of page.tokens) ids.add(id)
    cursor = page.cursor
  }
  return ids
}

/**
 * Counts the acknowledged revisions that an agent's history does not have. Each registration has a revision of its own, but
 * concurrent refreshes share one. Only the newest are stored: an older one that was lost shows by its number, which the
 * next write got as well.
 */
export const countLostRevisions = async (
  host: SoakHost,
  id: string,
  acknowledged: readonly number[],
  isRemote: boolean,
): Promise<number> => {
  const stored: number[] = []
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const response = await host.send('GET', `/agents/${id}/revisions?limit=100${cursor && `&cursor=${cursor}`}`)
    const page = (await response.json()) as { revisions?: { seq: number }[]; cursor?: string }
    for (const { seq } of page.revisions ?? []) stored.push(seq)
    cursor = page.cursor
  }
  const distinct = new Set(acknowledged)
  if (isRemote) return Math.max(0, ...distinct) > Math.max(0, ...stored) ? 1 : 0
  const known = new Set(stored)
  const oldest = stored.length < MAX_REVISIONS ? 1 : Math.min(...stored)
  return acknowledged.length - [...distinct].filter(seq => seq < oldest || known.has(seq)).length
}
