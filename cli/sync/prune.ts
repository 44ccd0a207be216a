import type { Host } from '../host/host.ts'
import type { Result } from './outcome.ts'

/** An agent that no file describes any more, as the host has it. */
export type Stray = { id: string; etag: string }

/** Looks up what would be deleted, so that nothing is deleted that changes until then. */
export const lookUp = async (host: Host, id: string): Promise<Stray | Result | undefined> => {
  const now = await host.registered(id)
  if (now === undefined) return undefined
  if ('refused' in now) return { id, action: 'forbidden', detail: now.detail }
  return { id, etag: now.etag }
}

/** Deletes a stray, if it is still what was looked up. */
export const remove = async (host: Host, { id, etag }: Stray): Promise<Result> => {
  const refused = await host.remove(id, etag)
  if (refused === undefined) return { id, action: 'deleted' }
  const action = refused.refused === 'changed' ? 'changed meanwhile' : 'refused'
  return { id, action: refused.refused === 'forbidden' ? 'forbidden' : action, detail: refused.detail }
}
