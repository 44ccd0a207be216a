import * as v from 'valibot'
import { isJsonObject } from '../../src/json/json.ts'
import { HostError } from './host-error.ts'
import { type Connection, request } from './request.ts'

const Note = v.object({ pointer: v.string(), message: v.string() })
const Change = v.object({
  op: v.string(),
  pointer: v.string(),
  before: v.optional(v.unknown()),
  after: v.optional(v.unknown()),
  leftOut: v.optional(v.array(v.string())),
  count: v.optional(v.number()),
})
/** One thing that a source has changed in its card; `more` is how many more there are. */
export type Change = v.InferOutput<typeof Change>

const Held = v.object({ etag: v.string(), widens: v.array(Note), drift: v.array(Change) })

const Refreshed = v.object({
  outcome: v.picklist(['refreshed', 'unchanged', 'held']),
  seq: v.optional(v.number()),
  drift: v.optional(v.array(Change), []),
  notes: v.optional(v.array(Note), []),
  held: v.optional(Held),
})
/** What came of reading a card again. `held`: it widens access, and waits to be accepted. */
export type Refreshed = v.InferOutput<typeof Refreshed>

/** Why there is no newer card, and where the one that came is wrong. */
export type NotRefreshed = { declined: string; errors: v.InferOutput<typeof Note>[] }

/** Has a host read an agent's card from its source again; or take the one that is held, by its entity tag. */
export const refreshOn = async (
  connection: Connection,
  id: string,
  accept: string | undefined,
): Promise<Refreshed | NotRefreshed> => {
  const { status, body } = await request(
    connection,
    'POST',
    `/agents/${encodeURIComponent(id)}/refresh`,
    accept === undefined ? {} : { body: { accept } },
  )
  if (status !== 200) return notRefreshed(status, body)
  const read = v.safeParse(Refreshed, body)
  if (!read.success) throw new HostError('unreachable', `${connection.url} answers, but it is not a Calling Card host`)
  return read.output
}

const notRefreshed = (status: number, body: unknown): NotRefreshed => {
  const problem = isJsonObject(body) ? body : {}
  const errors = v.safeParse(v.array(Note), problem.errors)
  return {
    declined: typeof problem.detail === 'string' ? problem.detail : `the host answers ${status}`,
    errors: errors.success ? errors.output : [],
  }
}
