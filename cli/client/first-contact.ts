import * as v from 'valibot'
import { VERSION } from '../../src/version.ts'
import { HostError } from '../failure.ts'
import { isLoopback } from '../hosts/index.ts'
import { type Connection, type Reply, request, TransientError } from './http.ts'

/** The health of a host, as it reports it. */
export const HostHealth = v.object({
  service: v.literal('calling-card'),
  version: v.pipe(v.string(), v.regex(/^\d+\.\d+\.\d+(?:[-+][\w.+-]{1,50})?$/)),
  registry: v.string(),
  missing: v.array(v.string()),
})
export type HostHealth = v.InferOutput<typeof HostHealth>

/** Makes sure, without the token, that a URL is of a Calling Card host, and reports one of another version. */
export const identifyHost = async (connection: Connection): Promise<HostHealth> => {
  const { url, inform } = connection
  // A refused connection to this machine means that no host runs. Any other host may still be starting.
  const details = { anonymous: true, isResult: isHealth, failsIfRefused: isLoopback(url) }
  const reply = await request(connection, 'GET', '/health', details).catch((error: unknown) =>
    advise(error, new URL(url)),
  )
  const parsed = v.safeParse(HostHealth, reply.body)
  if (!parsed.success) throw new HostError(`${url} ${describeOther(reply, new URL(url))}`)
  const { version, registry } = parsed.output
  if (!isCompatible(version, VERSION))
    inform(`${url} has version ${version}, and this sync-card has ${VERSION}: upgrade the older of the two.`)
  if (registry === 'unreachable') inform(`${url} cannot reach its registry at the moment.`)
  return parsed.output
}

/** Checks whether a response is of a host, which responds with 503 if only its registry is unreachable. */
export const isHealth = ({ body }: Reply): boolean => v.is(HostHealth, body)

/** Adds what to do if nothing listens at the URL, which may be no more than the default, or its scheme may be wrong. */
const advise = (error: unknown, url: URL): never => {
  if (!(error instanceof TransientError)) throw error
  if (error.kind === 'not-http') throw new HostError(error.message + tryHttps(url))
  if (error.kind !== 'refused') throw error
  throw new HostError(
    `nothing is listening at ${url.origin}, so ${error.message}: start a host there (npm start in its clone), ` +
      'or name another with --url, --host or SYNC_CARD_URL',
  )
}

const tryHttps = ({ protocol, host }: URL): string =>
  protocol === 'http:' ? `; if it speaks https, use https://${host}` : ''

const describeOther = ({ status, headers }: Reply, url: URL): string => {
  const path = url.pathname === '/' ? '' : url.pathname
  const advice = path !== '' ? `; try ${url.origin}, without a path` : status === 400 ? tryHttps(url) : ''
  const mediaType = headers.get('Content-Type')?.split(';')[0] ?? 'no content type'
  const response = mediaType === 'text/html' ? 'an HTML page' : mediaType
  return `is not a Calling Card host: it responded to GET ${path}/health with ${status} and ${response}${advice}`
}

/** Checks by Semantic Versioning whether two versions work together: before 1.0, the minor number counts too. */
const isCompatible = (one: string, other: string): boolean => {
  const significant = (version: string): string => /^(?:0\.\d+|[1-9]\d*)/.exec(version)?.[0] ?? version
  return significant(one) === significant(other)
}
