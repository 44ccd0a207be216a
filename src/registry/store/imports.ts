import { type Imported, type ImportRejection, isEmpty, Staging } from '../move/import.ts'
import type { WriteResult } from '../records.ts'
import { refreshKey } from './kv-entries.ts'
import { indexAgent } from './search.ts'

/** Runs a write of the Registry in one transaction with its outbox entries, then publishes. */
type Write = (
  work: () => WriteResult<Imported, ImportRejection>,
) => Promise<(Imported & { published: boolean }) | ImportRejection>

/** A step of an import: its begin, in place of any other import, its lines, and its end. `digest` is the SHA-256 of the file. */
export type ImportStep =
  | { step: 'begin' }
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

/** Runs a step of an import. One that is refused ends the import and deletes what was staged. */
export const runImportStep = async (
  step: ImportStep,
  storage: DurableObjectStorage,
  write: Write,
): Promise<ImportReply> => {
  if (step.step === 'begin') return begin(storage)
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
    const result = staging.commit(step.actor, step.digest, { indexAgent, refreshKey })
    return 'keys' in result ? { value: result.value, staleKeys: result.keys, publishKeys: [] } : { error: result }
  })
  end(storage, staging)
  return result
}

const begin = (storage: DurableObjectStorage): ImportReply => {
  if (!isEmpty(storage.sql)) return { outcome: 'not-empty' }
  const session = crypto.randomUUID()
  imports.set(storage, { session, staging: new Staging(storage.sql) })
  return { outcome: 'begun', session }
}

const end = (storage: DurableObjectStorage, staging: Staging): void => {
  staging.drop()
  if (imports.get(storage)?.staging === staging) imports.delete(storage)
}
