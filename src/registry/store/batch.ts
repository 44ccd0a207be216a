import type { BatchResult, Registered, Registration, WriteRejection } from '../records.ts'
import type { Publisher } from './publisher.ts'
import { register } from './register.ts'

/** Ends a transaction whose changes are all undone. */
class Rejected extends Error {
  readonly results: BatchResult[]

  constructor(results: BatchResult[]) {
    super('a registration of the batch was rejected')
    this.results = results
  }
}

/** Registers all of these agents or none: every registration is tried, so that each has a result of its own. */
export const registerAll = async (
  storage: DurableObjectStorage,
  publisher: Publisher,
  registrations: readonly Registration[],
  mayClaim: boolean,
): Promise<BatchResult[]> => {
  const tried = tryAll(storage, publisher, registrations, mayClaim)
  if ('rejected' in tried) return tried.rejected
  return Promise.all(
    tried.registered.map(async ({ value, publishKeys }) => ({
      ...value,
      published: await publisher.publish(publishKeys),
    })),
  )
}

type Written = { value: Omit<Registered, 'published'>; staleKeys: readonly string[]; publishKeys: readonly string[] }

const tryAll = (
  storage: DurableObjectStorage,
  publisher: Publisher,
  registrations: readonly Registration[],
  mayClaim: boolean,
): { registered: Written[] } | { rejected: BatchResult[] } => {
  try {
    return storage.transactionSync(() => {
      const results = registrations.map(registration => register(storage.sql, registration, mayClaim))
      const registered = results.filter((result): result is Written => 'value' in result)
      if (registered.length < results.length) throw new Rejected(results.map(withdraw))
      // Last, because the alarm that it sets is not part of the transaction.
      publisher.enqueue(registered.flatMap(({ staleKeys }) => staleKeys))
      return { registered }
    })
  } catch (error) {
    if (error instanceof Rejected) return { rejected: error.results }
    throw error
  }
}

const withdraw = (result: Written | { error: WriteRejection }): BatchResult =>
  'error' in result ? result.error : { outcome: 'withdrawn' }
