import { cardKey, EVENTS_KEY, extendedKey, hostKey, receiptKey, tokenKey } from '../kv-format.ts'
import { type Imported, type ImportRejection, isEmpty, Staging } from '../move/index.ts'
import type { WriteResult } from '../records.ts'
import { indexKey, refreshKey } from './kv-entries.ts'
import type { Publisher } from './publisher.ts'

/** Runs a write of the Registry in one transaction with its outbox entries, then publishes. */
type Write = (
  work: () => WriteResult<Imported, ImportRejection>,
) => Promise<(Imported & { published: boolean }) | ImportRejection>

/** A step of an import: its begin, in place of any other import, its lines, and its end. `digest` is the SHA-256 of the file. */
export type ImportStep =
  | { step: 'begin'; withTokens: boolean }
  | { step: 'stage'; session: string; lines: string }
  | { step: 'commit'; session: string; actor: string; digest: string }
  | { step: 'abandon'; session: string }

/** The result of a step. `session` names the import that began. */
export type ImportReply =
  | { outcome: 'begun'; session: string }
  | { outcome: 'staged' | 'abandoned' }
  | Imported
  | ImportRejection

/** The import that has not ended, by the storage of its object. */
const imports = new WeakMap<DurableObjectStorage, { session: string; staging: Staging }>()

/** The object that imports. */
type Importer = { storage: DurableObjectStorage; publisher: Pick<Publisher, 'enqueueMissing'>; write: Write }

/** Runs a step of an import. One that is refused ends the import and deletes what was staged. */
export const runImportStep = async (
  step: ImportStep,
  { storage, publisher, write }: Importer,
): Promise<ImportReply> => {
  if (step.step === 'begin') return begin(storage, step.withTokens)
  const current = imports.get(storage)
  if (current?.session !== step.session) return { outcome: 'interrupted' }
  const { staging } = current
  if (step.step === 'stage') {
    const rejection = storage.transactionSync(() => staging.add(step.lines))
    if (rejection) end(storage, staging)
    return rejection ?? { outcome: 'staged' }
  }
  if (step.step === 'abandon') {
    end(storage, staging)
    return { outcome: 'abandoned' }
  }
  const result = await write(() => {
    const result = staging.commit(step.actor, step.digest)
    if (result.outcome !== 'imported') return { error: result }
    for (const query of KEYS) publisher.enqueueMissing(`SELECT ${query}`)
    return { value: result, staleKeys: [], publishKeys: [] }
  })
  // The commit has dropped what was staged, and nothing after it may fail.
  if (result.outcome === 'imported') imports.delete(storage)
  else end(storage, staging)
  return result
}

const begin = (storage: DurableObjectStorage, withTokens: boolean): ImportReply => {
  if (!isEmpty(storage.sql)) return { outcome: 'not-empty' }
  const session = crypto.randomUUID()
  imports.set(storage, { session, staging: new Staging(storage.sql, withTokens) })
  return { outcome: 'begun', session }
}

const end = (storage: DurableObjectStorage, staging: Staging): void => {
  staging.drop()
  if (imports.get(storage)?.staging === staging) imports.delete(storage)
}

/** Writes the SQL that makes a part of a key from a column. */
const column = (name: string): string => `' || ${name} || '`

/**
 * What KV, the search index and the objects of remote cards must learn, as keys of the outbox: each the rest of a
 * query.
 */
const KEYS = [
  `'${EVENTS_KEY}' AS key`,
  `'${cardKey(column('id'))}' AS key FROM agents`,
  `DISTINCT '${extendedKey(column('id'), column('tier'))}' AS key FROM extended`,
  `'${hostKey(column('hostname'))}' AS key FROM hosts`,
  `'${receiptKey(column('id'))}' AS key FROM receipts`,
  `'${tokenKey(column('hash'))}' AS key FROM tokens`,
  `'${refreshKey(column('id'))}' AS key FROM sources`,
  `'${indexKey(column('id'))}' AS key FROM agents`,
]
