import * as v from 'valibot'
import { ApiError, createClient } from '../../src/api/client/index.ts'
import { Health } from '../../src/api/schemas/index.ts'
import { VERSION } from '../../src/version.ts'
import { HostError } from '../errors.ts'
import { isLoopback } from '../hosts/index.ts'
import { explainWith, type HostAccess, sendWith } from './http.ts'

/** What every version of a host reports. */
const HostHealth = v.object({ ...v.pick(Health, ['service', 'version', 'missing']).entries, registry: v.string() })
type HostHealth = v.InferOutput<typeof HostHealth>

/** Makes sure, without the token, that a URL is of a Calling Card host, and reports one of another version. */
export const identifyHost = async (access: HostAccess): Promise<HostHealth> => {
  const { url, inform } = access
  const client = createClient({
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
  if (!isCompatible(version, VERSION))
    inform(`${url} has version ${version}, and this sync-card has ${VERSION}: upgrade the older of the two.`)
  if (registry === 'unreachable') inform(`${url} cannot reach its registry at the moment.`)
  return health
}

/** Adds what to do if nothing listens at the URL, which may be no more than the default, or its scheme may be wrong. */
const describeContact = (error: unknown, url: string): unknown => {
  const failure = error instanceof HostError ? error.cause : error
  if (!(failure instanceof ApiError)) return error
  const { status, retry, message } = failure
  if (retry === 'not-http') return new HostError(message + tryHttps(new URL(url)))
  if (retry === 'refused')
    return new HostError(
      `nothing is listening at ${new URL(url).origin}, so ${message}: start a host there (npm start in its clone), ` +
        'or name another with --url, --host or SYNC_CARD_URL',
    )
  const isOther = retry === undefined && status !== 401 && (status < 300 || status >= 400)
  return isOther ? new HostError(`${url} ${describeOther(failure, new URL(url))}`) : error
}

const tryHttps = ({ protocol, host }: URL): string =>
  protocol === 'http:' ? `; if it speaks https, use https://${host}` : ''

const describeOther = ({ status, headers }: ApiError, url: URL): string => {
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
