import { variableNames } from '../variables.ts'
import { type FetchFn, parseUrl, safeFetch } from './safe-fetch.ts'

/** The part of the host's configuration that this module needs. `npm start` defines `localOrigins`. */
type HostConfig = { allowedOrigins: ReadonlySet<string>; localOrigins: readonly string[] | undefined }

/** Returns the service binding that a manifest names; undefined if this Worker has none of that name. */
export const resolveService = (name: string, env: Env): Fetcher | undefined => {
  const binding = bindingNamed(name, env)
  return isService(binding) ? binding : undefined
}

/** Returns the secret that a manifest names, as a header carries it; or what is wrong. Never one of the host's own. */
export const resolveSecret = (
  name: string,
  env: Env,
  { localOrigins }: Pick<HostConfig, 'localOrigins'>,
): { secret: string } | { misconfigured: string } => {
  const binding = variableNames.includes(name) ? undefined : bindingNamed(name, env)
  // Under `npm start`, wrangler reads secrets from a file, once.
  const advice = localOrigins
    ? `Write ${name}=… into .dev.vars, and restart \`npm start\`.`
    : `Run \`npx wrangler secret put ${name}\`.`
  if (typeof binding !== 'string' || binding === '')
    return { misconfigured: `This Worker has no secret "${name}". ${advice}` }
  const secret = binding.trim()
  return /^[\x21-\x7e]+$/.test(secret)
    ? { secret }
    : { misconfigured: `The secret "${name}" is empty, or contains characters that no header can carry.` }
}

/** The secret and the service binding that a manifest names. */
type BindingNames = { secret?: string | undefined; service?: string | undefined }

/** Returns the secret and the service binding of a manifest that this Worker does not have, with what is wrong. */
export const findMissingBindings = (
  { secret, service }: BindingNames,
  env: Env,
  config: Pick<HostConfig, 'localOrigins'>,
): { field: keyof BindingNames; name: string; message: string }[] => {
  const missing: ReturnType<typeof findMissingBindings> = []
  const resolved = secret === undefined ? {} : resolveSecret(secret, env, config)
  if (secret !== undefined && 'misconfigured' in resolved)
    missing.push({ field: 'secret', name: secret, message: `cannot be sent. ${resolved.misconfigured}` })
  if (service !== undefined && !resolveService(service, env)) {
    const advice = `add ${service} to wrangler.toml, then deploy, or restart \`npm start\``
    const message = `names a service binding that this host does not have: ${advice}`
    missing.push({ field: 'service', name: service, message })
  }
  return missing
}

const bindingNamed = (name: string, env: Env): unknown =>
  Object.hasOwn(env, name) ? Reflect.get(env, name) : undefined

const isService = (binding: unknown): binding is Fetcher =>
  typeof binding === 'object' && binding !== null && 'fetch' in binding && typeof binding.fetch === 'function'

/**
 * Makes a request to a Worker that is bound to this one. No network is involved, so any URL is safe. Follows no
 * redirect. Removes `Content-Length` from the response, because nothing enforces it between Workers.
 */
export const fetchService = async (
  service: Pick<Fetcher, 'fetch'>,
  url: string,
  init: RequestInit,
): Promise<Response> => {
  const response = await service.fetch(url, { ...init, redirect: 'manual' })
  const copy = new Response(response.body, response)
  copy.headers.delete('Content-Length')
  return copy
}

/** The part of a manifest that determines how an upstream is called. The secret is sent as a bearer token. */
type UpstreamAddress = { url: string; service?: string; secret?: string }

/** Returns how an upstream is called, with credentials for its own origin only; or which binding this Worker lacks. */
export const createUpstreamClient = (
  { url, service, secret }: UpstreamAddress,
  env: Env,
  config: HostConfig,
): { fetch: FetchFn; credentials: Record<string, string> } | { misconfigured: string } => {
  const binding = service === undefined ? undefined : resolveService(service, env)
  if (service !== undefined && binding === undefined)
    return { misconfigured: `This Worker has no service binding "${service}".` }
  const resolved = secret === undefined ? undefined : resolveSecret(secret, env, config)
  if (resolved && 'misconfigured' in resolved) return resolved
  const fetch: FetchFn = async (to, init) => {
    if (!binding) return safeFetch(to, init, config.allowedOrigins)
    return isSameOrigin(to, url) ? fetchService(binding, to, init) : { blocked: 'not of the origin of its service' }
  }
  return { fetch, credentials: resolved ? { Authorization: `Bearer ${resolved.secret}` } : {} }
}

const isSameOrigin = (url: string, address: string): boolean => parseUrl(url)?.origin === parseUrl(address)?.origin

/** A request that `safeFetch` did not make. The message is for the log; others must see it as an unreachable host. */
export class BlockedError extends Error {
  override readonly name = 'BlockedError'
}

/** Makes a request to an upstream. Rejects with a `BlockedError`, or as `fetch` does. Follows no redirect. */
export type UpstreamFetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/** Returns a `fetch` for an upstream that adds the credentials to requests to its origin. */
export const createUpstreamFetch = (
  upstream: UpstreamAddress,
  env: Env,
  config: HostConfig,
): UpstreamFetch | { misconfigured: string } => {
  const client = createUpstreamClient(upstream, env, config)
  if ('misconfigured' in client) return client
  return async (to, init = {}) => {
    const url = String(to)
    const headers = new Headers(init.headers)
    if (isSameOrigin(url, upstream.url))
      for (const [name, value] of Object.entries(client.credentials)) headers.set(name, value)
    const response = await client.fetch(url, { ...init, headers })
    if ('blocked' in response) throw new BlockedError(response.blocked)
    return response
  }
}
