import * as v from 'valibot'
import { ApiError, createClient as createApiClient } from '../../src/api/client/index.ts'
import { isExpected } from '../../src/api/client/shared.ts'
import { Health } from '../../src/api/schemas/index.ts'
import { isJsonObject, type JsonObject } from '../../src/json/index.ts'
import { VERSION } from '../../src/version.ts'
import type { Context } from '../context.ts'
import { HostError, onRejection } from '../errors.ts'
import { isLoopback } from '../hosts/index.ts'
import { explainWith, type HostAccess, openStream, sendWith } from './http.ts'

/** The API of a host, as the commands need it. */
export type HostClient = ReturnType<typeof createHostClient>

/** How often a request is retried by default. */
export const DEFAULT_RETRIES = 4

/**
 * Creates a client that reports its retries on the terminal. Calls throw an ApiError if the host rejects the request,
 * and a HostError if the host cannot be used at all. Before the first request with the token, the client makes sure
 * that the other side is a Calling Card host.
 */
export const createHostClient = (
  host: Pick<HostAccess, 'url' | 'token' | 'tokenFrom'>,
  { terminal, fetch, clock }: Pick<Context, 'fetch' | 'clock'> & { terminal: Pick<Context['terminal'], 'info'> },
  { retries = DEFAULT_RETRIES, signal }: Partial<Pick<HostAccess, 'retries' | 'signal'>> = {},
) => {
  const access: HostAccess = { ...host, retries, signal, fetch, clock, inform: terminal.info }
  let health: ReturnType<typeof identifyHost> | undefined
  const identify = () => {
    health ??= identifyHost(access)
    return health
  }
  const explain = explainWith(access)
  return {
    ...createApiClient({ ...access, send: sendWith(fetch), isResult: isExpected, explain, identify }),
    getHealth: identify,
    /** Turns what a client fails with into the error for a command. */
    explain,
    /** Returns all that the host has registered, as a stream of lines. */
    openExport: () => identify().then(() => openStream(access, '/export')),
  }
}

/** Returns the items of all pages, `limit` at most. */
export const readList = async <Page, Item>(
  pages: AsyncIterable<Page>,
  itemsOf: (page: Page) => readonly Item[],
  limit = Number.POSITIVE_INFINITY,
): Promise<Item[]> => {
  const items: Item[] = []
  for await (const page of pages) {
    for (const item of itemsOf(page)) items.push(item)
    if (items.length >= limit) break
  }
  return items.slice(0, limit)
}

/** Returns all agents that the token may read, internal ones included, or those that match the query. */
export const listAgents = (
  { pages }: HostClient,
  query: { set?: string | undefined; q?: string | undefined; writable?: 'true' } = {},
) =>
  readList(pages('GET /agents', { query }), ({ agents }) => agents).catch(
    onRejection(({ message }) => {
      // A token without the scope `read` can do everything else.
      throw new HostError(`the host does not list its agents: ${message.replace(/\.$/, '')}`)
    }),
  )

/** A registered agent: its manifest, and the entity tag that a replacement must name. */
export type RegisteredAgent = { manifest: JsonObject; etag: string }

/** Returns what is registered as an agent; undefined for nothing. */
export const readAgent = async (client: HostClient, id: string): Promise<RegisteredAgent | undefined> => {
  const response = await client.send('GET /agents/:id/manifest', { params: { id }, ignore: 'agent-not-found' })
  if (response === undefined) return undefined
  const { body: manifest, etag } = response
  if (!isJsonObject(manifest) || etag === undefined) throw client.explain(new ApiError(response))
  return { manifest, etag }
}

/** Deletes an agent if its entity tag is still `etag`. An attempt whose response was lost may have deleted it. */
export const deleteAgent = async (client: HostClient, id: string, etag: string): Promise<void> => {
  const deletion = client.call('DELETE /agents/:id', { params: { id }, etag, ignore: 'agent-not-found' })
  await deletion.catch(async error => {
    if (!(error instanceof ApiError) || error.status !== 412 || (await readAgent(client, id))) throw error
  })
}

/** Returns the card of an agent or the host as anonymous clients get it. `isPending`: it has not been fetched yet. */
export const readLiveCard = async (
  { send }: HostClient,
  id?: string,
): Promise<{ etag?: string | undefined; card?: JsonObject; isPending: boolean }> => {
  const anonymous = true
  const reading =
    id === undefined
      ? send('GET /.well-known/agent-card.json', { anonymous })
      : send('GET /agents/:id/.well-known/agent-card.json', { params: { id }, anonymous })
  return reading.then(
    ({ etag, body }) => ({ etag, card: body, isPending: false }),
    onRejection(({ status }) => ({ isPending: status >= 500 })),
  )
}

/** What every version of a host reports. */
const HostHealth = v.object({ ...v.pick(Health, ['service', 'version', 'missing']).entries, registry: v.string() })

/** Makes sure, without the token, that a URL is of a Calling Card host, and reports one of another version. */
const identifyHost = async (access: HostAccess) => {
  const { url, inform } = access
  const client = createApiClient({
    ...access,
    send: sendWith(access.fetch),
    isResult: (_, { body }) => v.is(HostHealth, body),
    explain: explainWith(access),
    // A refused connection to this machine means that no host runs. Any other host may still be starting.
    canRetry: (_, { retry }) => retry !== 'refused' || !isLoopback(url),
  })
  const health = await client.call('GET /health', { anonymous: true }).catch((error: unknown) => {
    throw describeContact(error, url)
  })
  const { version, registry } = health
  if (significantPart(version) !== significantPart(VERSION))
    inform(`${url} has version ${version}, and this sync-card has ${VERSION}: upgrade the older of the two.`)
  if (registry === 'unreachable') inform(`${url} cannot reach its registry at the moment.`)
  return health
}

/** Adds what to do if nothing listens at the URL, which may be no more than the default, or its scheme may be wrong. */
const describeContact = (error: unknown, url: string): unknown => {
  const failure = error instanceof HostError ? error.cause : error
  if (!(failure instanceof ApiError)) return error
  const { status, retry, message } = failure
  const { protocol, host, origin, pathname } = new URL(url)
  const tryHttps = protocol === 'http:' ? `; if it speaks https, use https://${host}` : ''
  if (retry === 'not-http') return new HostError(message + tryHttps)
  if (retry === 'refused')
    return new HostError(
      `nothing is listening at ${origin}, so ${message}: start a host there (npm start in its clone), ` +
        'or name another with --url, --host or SYNC_CARD_URL',
    )
  if (retry !== undefined || status === 401 || (status >= 300 && status < 400)) return error
  const path = pathname === '/' ? '' : pathname
  const advice = path !== '' ? `; try ${origin}, without a path` : status === 400 ? tryHttps : ''
  const mediaType = failure.headers.get('Content-Type')?.split(';')[0] ?? 'no content type'
  const response = `${status} and ${mediaType === 'text/html' ? 'an HTML page' : mediaType}`
  return new HostError(
    `${url} is not a Calling Card host: it responded to GET ${path}/health with ${response}${advice}`,
  )
}

/** Returns the part of a version that must be the same for both sides: before 1.0, the minor number counts too. */
const significantPart = (version: string): string => /^(?:0\.\d+|[1-9]\d*)/.exec(version)?.[0] ?? version
