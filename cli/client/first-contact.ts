import * as v from 'valibot'
import { isJsonObject } from '../../src/json/json.ts'
import { VERSION } from '../../src/version.ts'
import { isLoopback } from '../hosts/index.ts'
import { type Connection, HostError, RefusedError, type Reply, request, Text } from './http.ts'

/** What a host reports about itself. */
export const HostHealth = v.object({
  service: v.literal('calling-card'),
  version: v.pipe(v.string(), v.regex(/^\d+\.\d+\.\d+(?:[-+][\w.+-]{1,50})?$/)),
  registry: Text,
  missing: v.optional(v.array(Text), []),
})
export type HostHealth = v.InferOutput<typeof HostHealth>

/** Makes sure that a URL is of a Calling Card host, without the token. Reports a host whose version is not that of this program. */
export const identifyHost = async (connection: Connection): Promise<HostHealth> => {
  const { url, inform } = connection
  // A refused connection to this machine means that no host runs. Any other host may still be starting.
  const details = { anonymous: true, isResult: isHealth, failsIfRefused: isLoopback(url) }
  const reply = await request(connection, 'GET', '/health', details).catch(adviseIfRefused)
  const parsed = v.safeParse(HostHealth, reply.body)
  if (!parsed.success) throw new HostError(`${url} ${describeOther(reply, new URL(url))}`)
  const { version, registry } = parsed.output
  if (!isCompatible(version, VERSION))
    inform(`${url} has version ${version}, and this sync-card has ${VERSION}: upgrade the older of the two.`)
  if (registry === 'unreachable') inform(`${url} cannot reach its registry at the moment.`)
  return parsed.output
}

/** Whether a response is of a host, which responds with 503 if only its registry is unreachable. */
export const isHealth = ({ body }: Reply): boolean => v.is(HostHealth, body)

/** Adds what to do if nothing listens at the URL, which may be no more than the default. */
const adviseIfRefused = (error: unknown): never => {
  if (!(error instanceof RefusedError)) throw error
  throw new HostError(
    `${error.message}: start a host there (npm start in its clone), or name another with --url, --host or SYNC_CARD_URL`,
  )
}

const describeOther = ({ status, headers, body }: Reply, { pathname, origin }: URL): string => {
  const { code, detail } = isJsonObject(body) ? body : {}
  const [path, advice] = pathname === '/' ? ['', ''] : [pathname, `; try ${origin}, without a path`]
  if (path === '' && code === 'not-found' && String(detail).includes('agent-card.json'))
    return 'is a Calling Card host from before version 0.1.0, which this sync-card does not know: deploy it again'
  const mediaType = headers.get('Content-Type')?.split(';')[0] ?? 'no content type'
  const response = mediaType === 'text/html' ? 'an HTML page' : mediaType
  return `is not a Calling Card host: it responded to GET ${path}/health with ${status} and ${response}${advice}`
}

/** Whether two versions work together: by Semantic Versioning, the major number counts, and before 1.0 also the minor one. */
const isCompatible = (one: string, other: string): boolean => {
  const significant = (version: string): string => /^(?:0\.\d+|[1-9]\d*)/.exec(version)?.[0] ?? version
  return significant(one) === significant(other)
}
