import * as v from 'valibot'
import { json, ServedReceipt } from '../../src/card/model/index.ts'
import { isJsonObject, type Json, type JsonObject, jsonEquals } from '../../src/json/index.ts'
import { MAX_PAGE_SIZE } from '../../src/limits.ts'
import { EXPORT_TYPE } from '../../src/registry/move/shared.ts'
import { HostError, onRejection, RejectedError } from '../failure.ts'
import * as api from './api-shapes.ts'
import { HostHealth, identifyHost, isHealth } from './first-contact.ts'
import {
  type Connection,
  isTransient,
  openStream,
  paginate,
  type Reply,
  readReply,
  request,
  TransientError,
} from './http.ts'

/** The API of a host, as the commands need it. */
export type HostClient = ReturnType<typeof createMethods>

/**
 * Creates a client. Methods that a synchronization uses return why the host rejects a request, the others throw it as a
 * RejectedError. All throw a HostError if the host cannot be used at all. Before the first request with the token, the
 * client makes sure that the other side is a Calling Card host.
 */
export const createClient = (settings: Connection): HostClient => {
  const connection = { ...settings, outage: {} }
  let health: Promise<HostHealth> | undefined
  const identify = (): Promise<HostHealth> => {
    health ??= identifyHost(connection)
    return health
  }
  return createMethods({ ...connection, identify })
}

const createMethods = (connection: Omit<Connection, 'identify'> & { identify: () => Promise<HostHealth> }) => ({
  /** Returns what the host reports about itself. */
  getHealth: connection.identify,

  /** Returns what the host reports about itself to the holder of the token. */
  getOwnHealth: async (): Promise<HostHealth> =>
    parseReply(HostHealth, await request(connection, 'GET', '/health', { isResult: isHealth }), connection),

  /** Returns what is registered as an agent. */
  getAgent: async (id: string): Promise<api.RegisteredAgent | api.Rejection | undefined> => {
    const reply = await request(connection, 'GET', `/agents/${id}/manifest`)
    if (reply.status === 404) return undefined
    if (reply.status !== 200) return toRejection(reply)
    const etag = entityTagOf(reply)
    if (!isJsonObject(reply.body) || etag === undefined) throw notCallingCard(connection)
    return { manifest: reply.body, etag }
  },

  /** Registers a manifest. `etag` is of what it replaces; without one, the agent must be new. */
  putAgent: async (id: string, manifest: JsonObject, etag?: string): Promise<api.PutResult | api.Rejection> => {
    const reply = await request(connection, 'PUT', `/agents/${id}`, { headers: conditionOf(etag), body: manifest })
    if (reply.status !== 200 && reply.status !== 201) return toRejection(reply)
    return parseReply(api.PutResult, reply, connection)
  },

  /**
   * Returns the entity tags of the manifests of these agents, 100 at most, `null` for an agent that is not registered;
   * undefined if the host does not list them, because the token cannot write them all.
   */
  getEtags: async (ids: readonly string[]): Promise<Map<string, string | null> | undefined> => {
    const reply = await request(connection, 'GET', `/agents?${ids.map(id => `id=${id}`).join('&')}`)
    const page = v.safeParse(api.AgentPage, reply.body)
    if (reply.status !== 200 || !page.success) return undefined
    const { agents } = page.output
    if (agents.some(({ etag }) => etag === undefined)) return undefined
    const etags = new Map(agents.map(({ id, etag }) => [id, etag]))
    return new Map(ids.map(id => [id, etags.get(id) ?? null]))
  },

  /**
   * Registers manifests with one request. `etag` is as for one. Returns a result for each; undefined for those that
   * must be sent by themselves, because the host had a failure that may pass.
   */
  putAgents: async (
    agents: readonly { id: string; manifest: JsonObject; etag: string | undefined }[],
  ): Promise<(api.PutResult | api.Rejection | undefined)[]> => {
    const lines = agents.map(({ etag, ...agent }) => ({
      ...agent,
      ...(etag === undefined ? { ifNoneMatch: '*' } : { ifMatch: etag }),
    }))
    try {
      const reply = await request(connection, 'POST', '/agents:batch', { lines, isUnrepeatable: true })
      const parsed = v.safeParse(api.BatchReply, reply.body)
      const results = new Map(parsed.success ? parsed.output.map(result => [result.line, result]) : [])
      return agents.map((_, index) => {
        const { status = 0, agent, error } = results.get(index + 1) ?? {}
        if (agent) return agent
        if (error === undefined || isTransient({ status, body: error })) return undefined
        return toRejection({ status, body: error, tokenFrom: reply.tokenFrom })
      })
    } catch (error) {
      // One by one they are no fewer writes.
      if (!(error instanceof TransientError) || error.kind === 'limited') throw error
      return agents.map(() => undefined)
    }
  },

  /** Deletes an agent if its entity tag is still `etag`. An attempt whose response was lost may have deleted it. */
  deleteAgent: async (id: string, etag: string): Promise<api.Rejection | undefined> => {
    const reply = await request(connection, 'DELETE', `/agents/${id}`, { headers: { 'If-Match': etag } })
    const left = reply.status === 412 ? await request(connection, 'GET', `/agents/${id}/manifest`) : reply
    return left.status === 204 || left.status === 404 ? undefined : toRejection(reply)
  },

  /** Makes the host forget who started the tasks of an agent. Returns whether the agent is registered. */
  clearTasks: async (id: string): Promise<boolean> => {
    const reply = await request(connection, 'DELETE', `/agents/${encodeURIComponent(id)}/tasks`)
    if (reply.status !== 204 && !isMissingAgent(reply)) throw rejectedError(reply)
    return reply.status === 204
  },

  /**
   * Returns all agents that the token may read, internal ones included; with `set`, those of that set, with `q`, those
   * that have all of these words, best first, and with `writable`, those that it may write.
   */
  listAgents: async (query: { set?: string | undefined; q?: string; writable?: 'true' } = {}) => {
    const agents = collect(readPages(connection, '/agents', api.AgentPage, query), page => page.agents)
    return agents.catch(
      onRejection(message => {
        // A token without the scope `read` can do everything else.
        throw new HostError(`the host does not list its agents: ${message.replace(/\.$/, '')}`)
      }),
    )
  },

  /**
   * Returns the card of an agent, or of the host's root, as the edge serves it to anonymous clients. `isPending`: the
   * agent's upstream card has not been fetched yet.
   */
  getLiveCard: async (id?: string): Promise<{ etag?: string; card?: JsonObject; isPending: boolean }> => {
    const agent = id === undefined ? '' : `/agents/${id}`
    const reply = await request(connection, 'GET', `${agent}/.well-known/agent-card.json`, { anonymous: true })
    const etag = entityTagOf(reply)
    return {
      ...(etag !== undefined && { etag }),
      ...(reply.status === 200 && isJsonObject(reply.body) && { card: reply.body }),
      isPending: reply.status >= 500,
    }
  },

  /** Returns the card for the holder of the token, in a dialect or as the hybrid; undefined for an unknown agent. */
  getCard: async (id: string, dialect?: string): Promise<{ card: JsonObject } | undefined> => {
    const query = dialect === undefined ? '' : `?dialect=${encodeURIComponent(dialect)}`
    const reply = await request(connection, 'GET', `/agents/${id}/.well-known/agent-card.json${query}`)
    return reply.status === 404 ? undefined : { card: parseResult(v.record(v.string(), json), reply, connection) }
  },

  /** Returns the state of an agent's upstream card; undefined if its manifest has the card itself. */
  getSource: (id: string): Promise<api.SourceState | undefined> => readSource(connection, id),

  /**
   * Requests that the host fetch an agent's upstream card again, or accept the pending one with the entity tag
   * `accept`. Returns undefined if the agent is not registered.
   */
  refresh: async (id: string, accept: string | undefined): Promise<api.RefreshResult | undefined> => {
    const body: { body?: Json } = accept === undefined ? {} : { body: { accept } }
    const isPending = accept !== undefined && (await readSource(connection, id))?.pending?.etag === accept
    const reply = await request(connection, 'POST', `/agents/${encodeURIComponent(id)}/refresh`, body)
    // The card does not wait for approval any more: the attempt whose response was lost has accepted it.
    const mayBeAccepted = isPending && reply.status === 412 && reply.isRepeated
    if (mayBeAccepted && (await readSource(connection, id))?.state === 'fresh')
      return { outcome: 'refreshed', drift: [], notes: [] }
    return parseAgentResult(api.RefreshResult, reply, connection)
  },

  /**
   * Has the host test an agent, and returns the receipt; with `send`, the host sends the agent a message, too, and
   * never a second one. Returns undefined if the agent is not registered.
   */
  check: async (id: string, send: boolean): Promise<ServedReceipt | undefined> => {
    const details = { body: send ? { send } : {}, timeoutMs: CHECK_TIMEOUT_MS, isUnrepeatable: true }
    const reply = await request(connection, 'POST', `/agents/${encodeURIComponent(id)}/check`, details)
    return parseAgentResult(ServedReceipt, reply, connection)
  },

  /** Returns the public keys with which the host's signatures are verified; undefined if it has none. */
  getKeys: async (): Promise<api.PublicKey[] | undefined> => {
    const reply = await request(connection, 'GET', '/.well-known/jwks.json', { anonymous: true })
    return reply.status === 404 ? undefined : parseReply(api.KeySet, reply, connection).keys
  },

  /** Returns the keys of the host by their roles. */
  getHostKeys: async () => parseResult(api.HostKeys, await request(connection, 'GET', '/keys'), connection),

  /** Returns what the calls of an agent have shown; undefined if it is not registered. */
  getObserved: async (id: string) =>
    parseAgentResult(api.Observed, await request(connection, 'GET', `/agents/${id}/observed`), connection),

  /** Returns the newest entries of the audit with these filters, `limit` at most. */
  getAudit: (filters: Record<string, string>, limit: number): Promise<JsonObject[]> =>
    collect(readPages(connection, '/audit', api.AuditPage, filters), page => page.entries, limit),

  /** Returns the whole audit in pages, newest first. */
  readAudit: (): AsyncIterable<api.AuditPage> => readPages(connection, '/audit', api.AuditPage),

  /** Returns the newest revisions of an agent, `limit` at most. */
  getRevisions: (id: string, limit: number) =>
    collect(readPages(connection, `/agents/${id}/revisions`, api.RevisionPage), page => page.revisions, limit),

  /** Returns what a revision of an agent changed, compared with `from` or the one before it. */
  getRevisionDiff: async (id: string, to: number, from?: number): Promise<api.RevisionChanges> => {
    const path = `/agents/${id}/revisions/${to}/diff${from === undefined ? '' : `?from=${from}`}`
    return parseResult(api.RevisionDiff, await request(connection, 'GET', path), connection)
  },

  /** Registers the manifest of a revision again. `etag` is of what it replaces; without one, there must be no agent. */
  rollback: async (id: string, seq: number, etag: string | undefined) => {
    const send = (tag: string | undefined) =>
      request(connection, 'POST', `/agents/${id}/rollback`, { headers: conditionOf(tag), body: { seq } })
    const reply = await send(etag)
    if (reply.status !== 412 || !reply.isRepeated) return parseResult(api.RolledBack, reply, connection)
    // The attempt whose response was lost may have restored it: another one, with the new entity tag, changes nothing.
    const registered = await request(connection, 'GET', `/agents/${id}/manifest`)
    const { body } = await request(connection, 'GET', `/agents/${id}/revisions/${seq}`)
    const isRestored = isJsonObject(body) && jsonEquals(registered.body ?? null, body.manifest ?? null)
    const again = isRestored ? await send(entityTagOf(registered)) : reply
    if (again.status !== 200) throw rejectedError(reply)
    return { ...parseReply(api.RolledBack, again, connection), changed: true }
  },

  /** Returns all that the host has registered, as a stream of lines. */
  openExport: async (): Promise<NonNullable<Response['body']>> => {
    const response = await openStream(connection, 'GET', '/export')
    if (response.status !== 200) throw rejectedError(await readReply(response, connection))
    if (response.body === null || response.headers.get('Content-Type') !== EXPORT_TYPE) throw notCallingCard(connection)
    return response.body
  },

  /** Imports an export, compressed with gzip, into the host, which must be empty, with or without its tokens. */
  importFile: async (file: ReadableStream, withTokens: boolean) => {
    const headers = { 'Content-Type': EXPORT_TYPE, 'Content-Encoding': 'gzip' }
    const path = withTokens ? '/import' : '/import?tokens=false'
    const response = await openStream(connection, 'POST', path, { headers, body: file })
    return parseResult(api.ImportResult, await readReply(response, connection), connection)
  },

  /** The tokens of the host. */
  tokens: {
    /** Returns what the token of this client allows. */
    self: async () => parseReply(api.OwnToken, await request(connection, 'GET', '/tokens/self'), connection),

    /** Issues a token. If the response is lost, a token exists that nobody knows, so no second one is issued. */
    issue: async (wanted: api.TokenRequest) => {
      const reply = await request(connection, 'POST', '/tokens', { body: wanted, isUnrepeatable: true })
      return parseResult(api.IssuedToken, reply, connection)
    },

    /** Returns all tokens, ordered by id. */
    list: (): Promise<api.Token[]> => collect(readPages(connection, '/tokens', api.TokenPage), page => page.tokens),

    /** Revokes a token. */
    revoke: async (id: string): Promise<void> => {
      const reply = await request(connection, 'DELETE', `/tokens/${encodeURIComponent(id)}`)
      // The attempt whose response was lost may have revoked it.
      const isRevoked = reply.status === 404 && reply.isRepeated && (await readRevoked(connection)).includes(id)
      if (reply.status !== 204 && !isRevoked) throw rejectedError(reply)
    },
  },
})

const readSource = async (connection: Connection, id: string): Promise<api.SourceState | undefined> => {
  const reply = await request(connection, 'GET', `/agents/${encodeURIComponent(id)}/source`)
  const parsed = v.safeParse(v.looseObject({ source: api.SourceState }), reply.body)
  return parsed.success ? parsed.output.source : undefined
}

/** Returns the ids of the tokens that were revoked last. */
const readRevoked = async (connection: Connection): Promise<unknown[]> => {
  const { body } = await request(connection, 'GET', `/audit?what=token-revoked&limit=${MAX_PAGE_SIZE}`)
  const page = v.safeParse(api.AuditPage, body)
  return page.success ? page.output.entries.map(({ details }) => isJsonObject(details) && details.token) : []
}

/** Returns the condition that an agent has this entity tag, or does not exist. */
const conditionOf = (etag: string | undefined): Record<string, string> =>
  etag === undefined ? { 'If-None-Match': '*' } : { 'If-Match': etag }

/** The host gives up earlier. */
const CHECK_TIMEOUT_MS = 120_000

const readPages = <Output extends object>(
  connection: Connection,
  path: string,
  schema: v.GenericSchema<unknown, Output>,
  filters: Record<string, string | undefined> = {},
): AsyncGenerator<Output> =>
  paginate(async cursor => {
    const query = new URLSearchParams({ limit: String(MAX_PAGE_SIZE) })
    for (const [name, value] of Object.entries({ cursor, ...filters })) if (value) query.set(name, value)
    return parseResult(schema, await request(connection, 'GET', `${path}?${query}`), connection)
  })

/** Returns the items of all pages, `limit` at most. */
const collect = async <Output extends object, Item>(
  pages: AsyncIterable<Output>,
  itemsOf: (page: Output) => readonly Item[],
  limit = Number.POSITIVE_INFINITY,
): Promise<Item[]> => {
  const items: Item[] = []
  for await (const page of pages) {
    for (const item of itemsOf(page)) items.push(item)
    if (items.length >= limit) break
  }
  return items.slice(0, limit)
}

const rejectedError = (reply: Omit<Reply, 'headers'>): RejectedError => new RejectedError(toRejection(reply).detail)

/** Returns the result of a request about an agent; undefined if that is not registered. */
const parseAgentResult = <Schema extends v.GenericSchema>(schema: Schema, reply: Reply, connection: Connection) =>
  isMissingAgent(reply) ? undefined : parseResult(schema, reply, connection)

const parseResult = <Schema extends v.GenericSchema>(schema: Schema, reply: Reply, connection: Connection) => {
  if (reply.status !== 200 && reply.status !== 201) throw rejectedError(reply)
  return parseReply(schema, reply, connection)
}

const parseReply = <Schema extends v.GenericSchema>(schema: Schema, { body }: Reply, connection: Connection) => {
  const parsed = v.safeParse(schema, body)
  if (!parsed.success) throw notCallingCard(connection)
  return parsed.output
}

/** Returns the entity tag without `W/`: a compressing proxy weakens it, and `If-Match` needs a strong one. */
const entityTagOf = ({ headers }: Reply): string | undefined => headers.get('ETag')?.replace(/^W\//, '')

const notCallingCard = ({ url }: Connection): HostError =>
  new HostError(`${url} responds, but it is not a Calling Card host`)

const isMissingAgent = ({ body }: Reply): boolean => isJsonObject(body) && body.code === 'agent-not-found'

/** The end of some messages, for clients that send requests themselves. */
const ENDPOINT_HINT = / GET \/\w+ lists \w+\.$/

const toRejection = ({ status, body, tokenFrom }: Omit<Reply, 'headers'>): api.Rejection => {
  const problem: JsonObject = isJsonObject(body) ? body : {}
  const errors = v.safeParse(v.array(api.Note), problem.errors)
  const source = status === 403 && tokenFrom !== undefined ? ` (${tokenFrom}).` : '$&'
  return {
    rejected: status === 403 ? 'forbidden' : status === 412 ? 'conflict' : 'invalid',
    detail:
      typeof problem.detail === 'string'
        ? problem.detail.replace(ENDPOINT_HINT, '').replace(/\.?$/, source)
        : `the host responded with ${status}`,
    errors: errors.success ? errors.output : [],
  }
}
