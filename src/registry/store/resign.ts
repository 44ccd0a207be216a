import { readManifest } from '../../card/manifest/index.ts'
import { signedNames } from '../../card/model/index.ts'
import { signCard } from '../../card/signatures/index.ts'
import { strongEtag } from '../../http/index.ts'
import type { Json } from '../../json/index.ts'
import { createSigning, type Signing, type SigningTerms } from '../../signing/index.ts'
import { packDocuments, unpackDocuments } from '../documents.ts'
import { agentKeys, type DocumentName, groupByEtag } from '../kv-format.ts'
import type { StoredSigning } from '../prepare.ts'
import { selectColumn } from '../sql.ts'
import * as tables from '../tables/index.ts'

/** Signatures of an agent that changes at the same time, before the attempt counts as failed. */
const MAX_ATTEMPTS = 3

/** Signs the documents of an agent again, except those that its author signed. Returns the keys of KV that changed. */
export const resign = async (storage: DurableObjectStorage, id: string, env: Env): Promise<string[]> => {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const changed = await tryResign(storage, id, env)
    if (changed) return changed
  }
  throw new Error('the agent changes all the time')
}

/** Returns undefined if the agent changed meanwhile. */
const tryResign = async (storage: DurableObjectStorage, id: string, env: Env): Promise<string[] | undefined> => {
  const { sql } = storage
  const before = tables.selectManifest(sql, id)
  if (!before) return []
  const published = tables.selectAgent(sql, id)?.published
  const known = tables.selectSigning(sql, id)
  const read = readManifest(JSON.parse(before.manifest) as Json, id)
  // The manifest was valid when it was registered, and may not be by current rules: cards that were signed stay so.
  const manifest = 'errors' in read ? inferTerms(sql, id, known?.signatures ?? {}) : read.manifest
  const signing = await createSigning({ manifest, origin: before.origin }, known?.signatures ?? {}, env)
  const own = new Set(Object.values(known?.signatures ?? {}))
  const signatures: Record<string, string> = {}
  const changed: tables.TierDocuments[] = []
  for (const { tier, ...card } of tables.selectAllDocuments(sql, id)) {
    const representations = unpackDocuments(card)
    let isChanged = false
    for (const { names, etag, bytes } of groupByEtag(representations)) {
      const signed = names.some(isSigned) ? await signAgain(bytes, own, signing) : undefined
      if (!signed) continue
      Object.assign(signatures, signed.signatures)
      for (const name of names) if (isSigned(name)) representations[name] = signed.representation
      isChanged ||= signed.representation.etag !== etag
    }
    if (isChanged) changed.push({ tier, ...packDocuments(representations) })
  }
  return storage.transactionSync(() => {
    const agent = tables.selectAgent(sql, id)
    if (agent?.published !== published) return undefined
    tables.saveSigning(sql, id, { signers: signing.signers, signatures })
    if (!agent || changed.length === 0) return []
    for (const card of changed) tables.storeDocuments(sql, id, card)
    tables.publishAgain(sql, agent, tables.changeTime(agent))
    return agentKeys(id, [], tables.selectExtendedTiers(sql, id))
  })
}

const isSigned = (name: DocumentName): boolean => signedNames.some(signed => signed === name)

/** Infers the terms by which an agent was signed before. */
const inferTerms = (sql: SqlStorage, id: string, signatures: StoredSigning['signatures']): SigningTerms => ({
  signatures: Object.keys(signatures).length > 0 ? 'resign' : 'strip',
  hosts: selectColumn(sql, 'SELECT hostname FROM hosts WHERE id = ?', id),
})

/** Replaces or removes the signatures of this host in a document; undefined where its author has signed it. */
const signAgain = async (bytes: Uint8Array<ArrayBuffer>, own: ReadonlySet<string>, signing: Signing) => {
  const document = tables.withoutOwnSignatures(bytes, own)
  if (document.signatures !== undefined) return undefined
  const signed = 'signer' in signing ? await signCard(document, signing.signer) : { document, signatures: {} }
  const encoded = new TextEncoder().encode(JSON.stringify(signed.document)) as Uint8Array<ArrayBuffer>
  return { representation: { etag: await strongEtag(encoded), bytes: encoded }, signatures: signed.signatures }
}
