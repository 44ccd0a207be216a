import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { unstable_readConfig } from 'wrangler'
import { buildWorker } from '../../tools/build.ts'
import { bundleWorkers, type HostConfig, token } from './runtime.ts'

declare module 'vitest' {
  interface ProvidedContext {
    hostConfig: HostConfig
  }
}

/** Builds the Worker, unless only unit tests run. */
export const setup = async ({ provide, vitest }: TestProject): Promise<void> => {
  if (vitest.projects.every(({ name }) => name === 'unit')) return
  provide('hostConfig', { ...readHostConfig(), bundles: await bundleWorkers() })
  await buildWorker(directory)
}

const directory = join(import.meta.dirname, '../../out')

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
export const readHostConfig = (path = 'wrangler.toml'): HostConfig => {
  const config: WranglerConfig = unstable_readConfig({ config: path }, { hideWarnings: true })
  return {
    directory,
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
