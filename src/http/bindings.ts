import { variableNames } from '../variables.ts'
import { type FetchFn, safeFetch } from './safe-fetch.ts'
import { parseUrl } from './urls.ts'

/** The part of the host's configuration that this module needs. */
type HostConfig = {
  allowedOrigins: ReadonlySet<string>
  /** Defined where `npm start` runs the host. */
  localOrigins: readonly string[] | undefined
}

/** Returns the service binding that a manifest names; undefined if this Worker has none of that name. */
export const resolveService = (name: string, env: Env): Fetcher | undefined => {
  const binding = bindingNamed(name, env)
  return isService(binding) ? binding : undefined
}

/**
 * Returns the secret that a manifest names, as a header can carry it; or what is wrong. The host's own variables are not
 * available to manifests.
 */
export const resolveSecret = (
  name: string,
  env: Env,
  config: Pick<HostConfig, 'localOrigins'>,
): { secret: string } | { misconfigured: string } => {
  const binding = variableNames.includes(name) ? undefined : bindingNamed(name, env)
  if (typeof binding !== 'string' || binding === '')
    return { misconfigured: `This Worker has no secret "${name}". ${howToAdd(name, config)}` }
  const secret = binding.trim()
  return /^[\x21-\x7e]+$/.test(secret)
    ? { secret }
    : { misconfigured: `The secret "${name}" is empty, or contains characters that no header can carry.` }
}

/** Under `npm start`, wrangler reads secrets from a file, once. */
const howToAdd = (name: string, { localOrigins }: Pick<HostConfig, 'localOrigins'>): string =>
  localOrigins
    ? `Write ${name}=… into .dev.vars, and restart \`npm start\`.`
    : `Run \`npx wrangler secret put ${name}\`.`

/** What a manifest can use of this Worker. */
type BindingNames = { secret?: string | undefined; service?: string | undefined }

/** Returns the secret and the service binding of a manifest that this Worker does not have, with what is wrong. */
export const findMissingBindings = (
  { secret, service }: BindingNames,
  env: Env,
  config: Pick<HostConfig, 'localOrigins'>,
): { field: keyof BindingNames; name: string; message: string }[] => {
  const missing: { field: keyof BindingNames; name: string; message: string }[] = []
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
 * Makes a request to a Worker that is bound to this one. No network is involved, so any URL is safe. Follows no redirect. Removes
 * `Content-Length` from the response, because nothing enforces it between Workers.
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

/** The part of a manifest that determines how an upstream is called. */
type UpstreamAddress = {
  url: string
  /** The service binding that is used instead of the network. */
  service?: string
  /** The Worker secret that is sent as a bearer token. */
  secret?: string
}

/** How an upstream is called. The credentials are for the upstream's own origin only. */
type UpstreamClient = { fetch: FetchFn; credentials: Record<string, string> }

/** Returns how an upstream is called, or which binding of the manifest this Worker lacks. */
export const createUpstreamClient = (
  { url, service, secret }: UpstreamAddress,
  env: Env,
  config: HostConfig,
): UpstreamClient | { misconfigured: string } => {
  const binding = service === undefined ? undefined : resolveService(service, env)
  if (service !== undefined && binding === undefined)
    return { misconfigured: `This Worker has no service binding "${service}".` }
  const resolved = secret === undefined ? undefined : resolveSecret(secret, env, config)
  if (resolved && 'misconfigured' in resolved) return resolved
  return {
    fetch: binding ? serviceFetch(binding, url) : async (to, init) => safeFetch(to, init, config.allowedOrigins),
    credentials: resolved ? { Authorization: `Bearer ${resolved.secret}` } : {},
  }
}

/** A service receives only requests to the origin of its upstream. */
const serviceFetch =
  (service: Fetcher, address: string): FetchFn =>
  async (url, init) =>
    isSameOrigin(url, address) ? fetchService(service, url, init) : { blocked: 'not of the origin of its service' }

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
