import { existsSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import type { TestProject } from 'vitest/node'
import { unstable_readConfig } from 'wrangler'
import { type HostConfig, type HostOptions, startHostRuntime, token } from './runtime.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The hosts that all files share, if there is a build. */
    hostUrls: Record<SharedHostName, string> | undefined
    hostConfig: HostConfig
    /** Ports of this machine that the shared host may call. */
    upstreamPorts: number[]
  }
}

/** All tests write with one token, and most of them from one address. */
const unlimited = { PAGE_LIMIT: 1e9, FETCH_LIMIT: 1e9, WRITE_LIMIT: 1e9 }

/** The hosts that all files share. Each may call the upstream ports of this machine. */
const sharedHosts = {
  standard: { rateLimits: unlimited },
  /** Times out soon, but not so soon that a busy machine misses the timeouts by itself. */
  'short-timeouts': { rateLimits: unlimited, vars: { UPSTREAM_TIMEOUT: '0.5', STREAM_IDLE_TIMEOUT: '1' } },
  /** Has low rate limits. */
  limited: {
    rateLimits: { LINT_LIMIT: 5, AUTH_LIMIT: 5, CALL_LIMIT: 30, PAGE_LIMIT: 5, FETCH_LIMIT: 5, WRITE_LIMIT: 50 },
  },
  /** In local mode, as under `npm start`. */
  local: {
    rateLimits: unlimited,
    vars: {
      LOCAL_ORIGINS: 'http://127.0.0.1:8787 http://localhost:8787 chrome-extension://mine',
      PUBLIC_URL: 'https://tunnel.example/',
    },
  },
} satisfies Record<string, HostOptions>

export type SharedHostName = keyof typeof sharedHosts

/** Three files run at once, and each has a few servers. */
const upstreamPortCount = 24

let close: (() => Promise<void>) | undefined

/** Starts the shared hosts, if there is a build. */
export const setup = async ({ provide }: TestProject) => {
  const config = readHostConfig()
  const ports = await findFreePorts(upstreamPortCount)
  provide('hostConfig', config)
  provide('upstreamPorts', ports)
  provide('hostUrls', undefined)
  if (!existsSync('out/index.js')) return
  const ALLOWED_ORIGINS = ports.map(port => `http://127.0.0.1:${port}`).join(' ')
  const hosts = Object.entries<HostOptions>(sharedHosts).map(([name, { vars, ...options }]) => {
    return [name, { ...options, vars: { ALLOWED_ORIGINS, ...secrets, ...vars } }] as const
  })
  const runtime = await startHostRuntime(config, Object.fromEntries(hosts))
  close = runtime.close
  const urls = Object.entries(runtime.urls).map(([name, { href }]) => [name, href])
  provide('hostUrls', Object.fromEntries(urls))
}

export const teardown = (): Promise<void> | undefined => close?.()

/** The secrets of the shared hosts. */
const secrets = { AGENT_TOKEN: 'the-hosts-own-secret', EMPTY_TOKEN: '' }

/** The part of wrangler's own type that is read here. */
type WranglerConfig = {
  compatibility_date?: string
  compatibility_flags: string[]
  vars: Record<string, string>
  kv_namespaces: { binding: string }[]
  durable_objects: { bindings: { name: string; class_name: string }[] }
  cache?: { enabled: boolean }
  exports?: Record<string, { cache?: { enabled: boolean } }>
  ratelimits: { name: string; simple: { limit: number } }[]
}

/** Reads from wrangler.toml what a host under test needs. */
export const readHostConfig = (): HostConfig => {
  const config: WranglerConfig = unstable_readConfig({ config: 'wrangler.toml' }, { hideWarnings: true })
  return {
    compatibilityDate: config.compatibility_date ?? '',
    compatibilityFlags: config.compatibility_flags,
    vars: { ...config.vars, ADMIN_TOKEN: token },
    rateLimits: Object.fromEntries(config.ratelimits.map(({ name, simple }) => [name, simple.limit])),
    kvNamespaces: config.kv_namespaces.map(({ binding }) => binding),
    durableObjects: Object.fromEntries(
      config.durable_objects.bindings.map(({ name, class_name }) => [name, class_name]),
    ),
    cacheEnabled: config.cache?.enabled ?? false,
    cachedByEntrypoint: Object.fromEntries(
      Object.entries(config.exports ?? {}).flatMap(([name, { cache }]) => (cache ? [[name, cache.enabled]] : [])),
    ),
  }
}

const findFreePorts = async (count: number): Promise<number[]> => {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer()
      await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
      return server
    }),
  )
  const ports = servers.map(server => (server.address() as AddressInfo).port)
  await Promise.all(servers.map(server => new Promise(closed => server.close(closed))))
  return ports
}
