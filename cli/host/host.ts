import * as v from 'valibot'
import { isJsonObject, type JsonObject } from '../../src/json/json.ts'
import { HostError } from './host-error.ts'
import { type Connection, type Reply, request } from './request.ts'

/** What the host keeps of an agent: its manifest as registered, and the tag that a replacement must name. */
export type Registered = { manifest: JsonObject; etag: string }

const Source = v.looseObject({
  state: v.string(),
  notes: v.optional(v.array(v.looseObject({ pointer: v.string(), message: v.string() })), []),
  failure: v.optional(
    v.looseObject({
      message: v.string(),
      errors: v.optional(v.array(v.looseObject({ pointer: v.string(), message: v.string() })), []),
    }),
  ),
})

/** How the source of a card stands, as the host says it. */
export type SourceState = v.InferOutput<typeof Source>

const Stored = v.object({
  id: v.string(),
  seq: v.optional(v.number()),
  changed: v.optional(v.boolean(), true),
  published: v.optional(v.boolean(), true),
  etags: v.optional(v.record(v.string(), v.string()), {}),
  root: v.optional(v.boolean(), false),
  urls: v.optional(v.record(v.string(), v.string()), {}),
  source: v.optional(Source),
})
/** What the host says of a registration that it took. */
export type Stored = v.InferOutput<typeof Stored>

/** Why the host did not take a registration. `changed`: somebody else wrote meanwhile. */
export type Refused = { refused: 'changed' | 'forbidden' | 'invalid'; detail: string; errors: PointedError[] }

const PointedError = v.looseObject({ pointer: v.string(), message: v.string() })
type PointedError = v.InferOutput<typeof PointedError>

const Page = v.looseObject({
  agents: v.array(v.looseObject({ id: v.string(), name: v.optional(v.string()) })),
  cursor: v.optional(v.nullable(v.string())),
})

/** The registry of a host, as this command needs it. */
export type Host = ReturnType<typeof connect>

/** Speaks to the registry of a host. What fails for good is a verdict; what fails for every file is thrown. */
export const connect = (connection: Connection) => ({
  /** What is registered as an agent; nothing where the agent is not. */
  registered: async (id: string): Promise<Registered | Refused | undefined> => {
    const reply = await request(connection, 'GET', `/agents/${id}/manifest`)
    if (reply.status === 404) return undefined
    if (reply.status !== 200) return refusal(reply)
    const etag = reply.headers.get('ETag')
    if (!isJsonObject(reply.body) || etag === null)
      throw new HostError('unreachable', `${connection.url} answers, but it is not a Calling Card host`)
    return { manifest: reply.body, etag }
  },

  /** Registers a manifest; `etag` is what it replaces, nothing where it must be new. */
  put: async (id: string, manifest: JsonObject, etag?: string): Promise<Stored | Refused> => {
    const headers: Record<string, string> = etag === undefined ? { 'If-None-Match': '*' } : { 'If-Match': etag }
    const reply = await request(connection, 'PUT', `/agents/${id}`, { headers, body: manifest })
    if (reply.status !== 200 && reply.status !== 201) return refusal(reply)
    const stored = v.safeParse(Stored, reply.body)
    if (!stored.success)
      throw new HostError('unreachable', `${connection.url} answers, but it is not a Calling Card host`)
    return stored.output
  },

  /** Takes an agent off the host, if it is still what `etag` says. */
  remove: async (id: string, etag: string): Promise<Refused | undefined> => {
    const reply = await request(connection, 'DELETE', `/agents/${id}`, { headers: { 'If-Match': etag } })
    return reply.status === 204 || reply.status === 404 ? undefined : refusal(reply)
  },

  /** All agents, internal ones included. */
  list: async (): Promise<v.InferOutput<typeof Page>['agents']> => {
    const agents: v.InferOutput<typeof Page>['agents'] = []
    let cursor: string | undefined
    do {
      const query = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`
      const reply = await request(connection, 'GET', `/agents?limit=100${query}`)
      // A token without the scope `read` may do all else that is asked of it.
      if (reply.status === 403)
        throw new HostError('unauthorised', `the host does not list its agents: ${refusal(reply).detail}`)
      const page = v.safeParse(Page, reply.body)
      if (!page.success) throw new HostError('unreachable', `the host does not list its agents (${reply.status})`)
      agents.push(...page.output.agents)
      cursor = page.output.cursor ?? undefined
    } while (cursor !== undefined)
    return agents
  },

  /**
   * The tag of the card that the edge serves to everyone, of an agent or at the host's root, without the weakness that a
   * compressing proxy adds.
   */
  servedEtag: async (id?: string): Promise<string | undefined> => (await served(connection, id)).etag,

  /** The same, and whether there is an agent whose card has not come yet from where it is to come from. */
  served: (id: string): Promise<ServedCard> => served(connection, id),

  /** How the source of an agent's card stands; undefined where its manifest says the card. */
  source: async (id: string): Promise<SourceState | undefined> => {
    const reply = await request(connection, 'GET', `/agents/${id}/source`)
    const read = v.safeParse(v.looseObject({ source: Source }), reply.body)
    return read.success ? read.output.source : undefined
  },
})

/** The card of an agent as everyone is served it. */
export type ServedCard = { etag?: string; isAwaited: boolean }

const served = async (connection: Connection, id?: string): Promise<ServedCard> => {
  const agent = id === undefined ? '' : `/agents/${id}`
  const reply = await request(connection, 'GET', `${agent}/.well-known/agent-card.json`, { anonymous: true })
  const etag = reply.headers.get('ETag')?.replace(/^W\//, '')
  return { ...(etag !== undefined && { etag }), isAwaited: reply.status >= 500 }
}

const refusals: Record<number, Refused['refused']> = { 403: 'forbidden', 412: 'changed' }

const refusal = ({ status, body }: Reply): Refused => {
  const problem: JsonObject = isJsonObject(body) ? body : {}
  const errors = v.safeParse(v.array(PointedError), problem.errors)
  return {
    refused: refusals[status] ?? 'invalid',
    detail: typeof problem.detail === 'string' ? problem.detail : `the host answers ${status}`,
    errors: errors.success ? errors.output : [],
  }
}
