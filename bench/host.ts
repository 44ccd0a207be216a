import { workerBundle } from './bundle.ts'
import { cores } from './pinning.ts'
import { type Server, startWorkerd } from './server.ts'
import type { Binding, Service } from './workerd-config.ts'

/** The bearer token of the bench's hosts. */
export const adminToken = 'the-admin-token-of-the-bench'

/** KV in a process of its own, as in production: what it spends is not the host's. `agents`: how many ids it knows. */
export const startKv = async (agents: number): Promise<Server> =>
  startWorkerd(
    {
      services: {
        kv: { modules: { 'kv.js': await workerBundle('kv') }, bindings: { AGENTS: { text: String(agents) } } },
      },
      sockets: ['kv'],
    },
    cores.load,
  )

/** A host: the bundle in a bare workerd with its KV at a port and its Registry on the disk. */
export const startHost = (bundle: string, kvPort: number, storage: string, allowedOrigin = ''): Promise<Server> =>
  startWorkerd({
    services: {
      host: hostService({ 'index.js': bundle }, 'kv', { ALLOWED_ORIGINS: { text: allowedOrigin } }),
      kv: { port: kvPort },
      disk: { directory: storage },
    },
    sockets: ['host'],
  })

/** The host's Worker with the bindings of wrangler.toml; its rate limits let everything pass. */
export const hostService = (
  modules: Record<string, string>,
  kv: string,
  more: Record<string, Binding> = {},
): Service => ({
  modules,
  bindings: { CARDS: { kv }, REGISTRY: { object: 'Registry' }, ...unlimited, ...variables, ...more },
  objects: ['Registry'],
  storage: 'disk',
})

const variables: Record<string, Binding> = Object.fromEntries(
  Object.entries({
    CACHE_MAX_AGE: '60',
    CACHE_STALE_WHILE_REVALIDATE: '86400',
    PUBLIC_URL: '',
    ROOT_AGENT: '',
    UPSTREAM_TIMEOUT: '60',
    STREAM_IDLE_TIMEOUT: '120',
    ADMIN_TOKEN: adminToken,
  }).map(([name, text]) => [name, { text }]),
)

const unlimited: Record<string, Binding> = Object.fromEntries(
  ['LINT_LIMIT', 'CALL_LIMIT', 'AUTH_LIMIT'].map(name => [name, { unlimited: true }]),
)

/** Registers a card at a host. */
export const register = async (port: number, id: string, document: unknown): Promise<void> => {
  const response = await fetch(`http://127.0.0.1:${port}/agents/${id}`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${adminToken}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(document),
  })
  if (!response.ok) throw new Error(`PUT ${id}: ${response.status} ${await response.text()}`)
}
