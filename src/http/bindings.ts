import { type FetchFn, safeFetch } from './safe-fetch.ts'

/** The service binding of this Worker that a manifest names; undefined where it has none of that name. */
export const resolveService = (name: string, env: Env): Fetcher | undefined => {
  const binding = bindingNamed(name, env)
  return isService(binding) ? binding : undefined
}

/** The secret of this Worker that a manifest names; undefined where it has none, or where it is not for agents. */
export const resolveSecret = (name: string, env: Env): string | undefined => {
  const binding = notForAgents.test(name) ? undefined : bindingNamed(name, env)
  return typeof binding === 'string' && binding !== '' ? binding : undefined
}

/** Bindings are looked up by name, as manifests name them: what is not a service has no `fetch`. */
const bindingNamed = (name: string, env: Env): unknown =>
  Object.hasOwn(env, name) ? Reflect.get(env, name) : undefined

const isService = (binding: unknown): binding is Fetcher =>
  typeof binding === 'object' && binding !== null && 'fetch' in binding && typeof binding.fetch === 'function'

/** This host's own key, and the variables of wrangler.toml, which are no secrets: who sends one trusts that nobody knows it. */
const notForAgents =
  /^(?:ADMIN_TOKEN|CACHE_(?:MAX_AGE|STALE_WHILE_REVALIDATE)|PUBLIC_URL|ROOT_AGENT|ROLE|UPSTREAM_TIMEOUT|STREAM_IDLE_TIMEOUT|ALLOWED_ORIGINS)$/

/**
 * Makes a request of a Worker that is bound to this one: no network is between them, so there is nothing to guard. Follows no
 * redirect, and does not believe the answer's length: HTTP holds an answer to what it announces, between Workers nothing does.
 */
export const fetchService = async (
  service: Pick<Fetcher, 'fetch'>,
  url: string,
  init: RequestInit,
): Promise<Response> => {
  const answer = await service.fetch(url, { ...init, redirect: 'manual' })
  const copy = new Response(answer.body, answer)
  copy.headers.delete('Content-Length')
  return copy
}

/** What is needed to know of a source to call it. */
type UpstreamAddress = {
  url: string
  /** The service binding through which it is asked in place of the network. */
  service?: string
  /** The Worker secret that goes along as a bearer token. */
  secret?: string
}

/** A request that the fetch guard did not let out. The reason is for the log: to others it must look as if nobody answered. */
export class BlockedError extends Error {
  override readonly name = 'BlockedError'
}

/** Makes one request of a source. Rejects with a `BlockedError`, or as `fetch` does; follows no redirect. */
export type SourceFetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/** A source that this Worker can call: how, and with which credentials, which are for the source's own origin alone. */
type UpstreamClient = { ask: FetchFn; credentials: Record<string, string> }

/** How a source is called; or what this Worker lacks of what the manifest names. For those who say where the credentials go. */
export const createUpstreamClient = (
  { url, service, secret }: UpstreamAddress,
  env: Env,
): UpstreamClient | { misconfigured: string } => {
  const binding = service === undefined ? undefined : resolveService(service, env)
  if (service !== undefined && binding === undefined)
    return { misconfigured: `This Worker has no service binding "${service}".` }
  const value = secret === undefined ? undefined : resolveSecret(secret, env)?.trim()
  if (secret !== undefined && value === undefined) return { misconfigured: `This Worker has no secret "${secret}".` }
  if (value !== undefined && !/^[\x21-\x7e]+$/.test(value))
    return { misconfigured: `The secret "${secret}" is empty, or holds what no header can.` }
  return {
    ask: binding ? asksService(binding, url) : async (to, init) => safeFetch(to, init, env.ALLOWED_ORIGINS),
    credentials: value === undefined ? {} : { Authorization: `Bearer ${value}` },
  }
}

/** A service is asked for what is of the source's own origin: what is elsewhere, it does not stand for. */
const asksService =
  (service: Fetcher, address: string): FetchFn =>
  async (url, init) =>
    isSameOrigin(url, address) ? fetchService(service, url, init) : { blocked: 'not of the origin of its service' }

const isSameOrigin = (url: string, address: string): boolean => URL.parse(url)?.origin === URL.parse(address)?.origin

/** `fetch` for a source: through its service binding, else the fetch guard; its secret goes as a bearer token to its own origin. */
export const createUpstreamFetch = (source: UpstreamAddress, env: Env): SourceFetch | { misconfigured: string } => {
  const reader = createUpstreamClient(source, env)
  if ('misconfigured' in reader) return reader
  const { ask, credentials } = reader
  return async (to, init = {}) => {
    const url = String(to)
    const headers = new Headers(init.headers)
    if (isSameOrigin(url, source.url)) for (const [name, value] of Object.entries(credentials)) headers.set(name, value)
    const response = await ask(url, { ...init, headers })
    if ('blocked' in response) throw new BlockedError(response.blocked)
    return response
  }
}

/** A day: a timer of more than 24 of them goes off at once. */
const most = 86_400

/** Seconds as an owner configures them: more than none, fractions too; else what is usual. */
export const seconds = (value: string, usual: number): number =>
  Number(value) > 0 && Number(value) <= most ? Number(value) : usual
