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
