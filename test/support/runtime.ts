import { readdir, readFile } from 'node:fs/promises'
import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { Miniflare, type MiniflareOptions } from 'miniflare'
import { build, type Plugin } from 'rolldown'
import { workerOptions } from '../../tools/build.ts'

/** The admin token of every host under test that is not given another. */
export const token = 'the-admin-token-of-tests'

const root = join(import.meta.dirname, '../..')

/** The part of wrangler.toml that a runtime needs. */
export type HostConfig = {
  /** The directory of the build. */
  directory: string
  compatibilityDate: string
  compatibilityFlags: string[]
  vars: Record<string, string>
  rateLimits: Record<string, number>
  kvNamespaces: string[]
  /** Classes of Durable Objects by their bindings. */
  durableObjects: Record<string, string>
  /** Whether Workers Cache is in front of each entrypoint, unless the entrypoint has a setting of its own. */
  cacheEnabled: boolean
  cachedByEntrypoint: Record<string, boolean>
  /** The other Workers of a runtime, bundled, by their paths. Without them, each process bundles its own. */
  bundles?: Record<string, string>
}

/** Where a host differs from the configuration that production has. */
export type HostOptions = {
  vars?: Record<string, string>
  /** The requests a minute that rate limits let pass, by their bindings. */
  rateLimits?: Record<string, number>
  /** Puts the host's own code behind a KV that fails on command: see workers/faults.ts. */
  faults?: boolean
  /** Bindings to Workers that pass every request to an origin of this machine. */
  services?: Record<string, string>
  /** The example agents that run beside the host, by their folders. */
  examples?: readonly (keyof typeof exampleWorkers)[]
  /** Serves the static assets of the build, for browsers. */
  assets?: boolean
}

/** Workers in one runtime. Each has a socket of its own, with nothing between it and the network. */
export type Runtime<Name extends string = typeof main> = {
  miniflare: Miniflare
  urls: Record<Name, URL>
  logs: string[]
  close: () => Promise<void>
}

type Worker = MiniflareOptions['workers'][number]

/** The name of the Worker that a runtime is started for. */
export const main = 'main'

/** The example agents by their folders: the binding of a host to each, and the Durable Objects that each needs. */
const exampleWorkers = {
  'echo-agent': { binding: 'ECHO', durableObjects: { AGENT: 'EchoAgent' } },
  'mcp-server': { binding: 'TOOLS', durableObjects: {} },
}

/**
 * Starts the production build: one host for each name, with nothing in common but the process. With `storage`, a directory, its
 * state survives.
 */
export const startHostRuntime = async <Name extends string>(
  config: HostConfig,
  hosts: Record<Name, HostOptions>,
  storage?: string,
): Promise<Runtime<Name>> => {
  const options = Object.values<HostOptions>(hosts)
  const started = [...new Set(options.flatMap(({ examples = [] }) => examples))]
  const workers = Object.entries<HostOptions>(hosts).map(([name, each]) => hostWorker(name, config, each))
  const others = [
    ...started.map(name => exampleWorker(name, config)),
    ...options.flatMap(({ services = {} }) => Object.values(services).map(origin => passingWorker(origin, config))),
  ]
  const modules = { 'rate-limit.js': await bundleOf(rateLimitPath, config) }
  const limiter = worker(rateLimiter, modules, { compatibilityDate: config.compatibilityDate })
  return start([...(await Promise.all([...workers, ...others])), limiter], Object.keys(hosts) as Name[], storage)
}

const hostWorker = async (
  name: string,
  config: HostConfig,
  { vars = {}, rateLimits = {}, faults = false, services = {}, examples = [], assets = false }: HostOptions,
): Promise<Worker> => {
  const env = {
    ...textBindings({ ...config.vars, ...vars }),
    ...mapValues(config.rateLimits, (limit, binding) => ({
      type: 'worker' as const,
      worker: rateLimiter,
      exportName: 'RateLimit',
      props: { name: `${name} ${binding}`, limit: rateLimits[binding] ?? limit },
    })),
    ...Object.fromEntries(config.kvNamespaces.map(kv => [kv, { type: 'kv' as const, id: `${name}-${kv}` }])),
    ...mapValues(services, origin => ({ type: 'worker' as const, worker: passingName(origin) })),
    // The Worker of an example that is not started is the host itself, so that its binding exists.
    ...Object.fromEntries(
      Object.entries(exampleWorkers).map(([folder, { binding }]) => [
        binding,
        { type: 'worker' as const, worker: examples.some(started => started === folder) ? folder : name },
      ]),
    ),
  }
  const modules: Record<string, string> = {
    ...(faults && { 'faults.js': await bundleOf(faultsPath, config) }),
    ...(await builtModules(config.directory)),
  }
  return worker(name, modules, { ...config, env, ...(assets && { assets: join(config.directory, 'public') }) })
}

/** The modules of the production build, the main one first. */
const builtModules = async (directory: string): Promise<Record<string, string>> => {
  const names = (await readdir(directory)).filter(name => name.endsWith('.js') && name !== 'index.js')
  const texts = ['index.js', ...names].map(async name => [name, await readFile(join(directory, name), 'utf8')])
  return Object.fromEntries(await Promise.all(texts))
}

/** Starts a Worker whose module exports what `source` does; its imports are relative to `directory`. */
export const startWorkerRuntime = async (
  source: string,
  directory: string,
  { compatibilityDate }: HostConfig,
): Promise<Runtime> => {
  const path = join(directory, 'worker.ts')
  const modules = { 'worker.js': await bundle(path, [virtualModule(path, source)]) }
  return start([worker(main, modules, { compatibilityDate })], [main])
}

type WorkerOptions = {
  compatibilityDate: string
  compatibilityFlags?: string[]
  durableObjects?: Record<string, string>
  env?: Worker['config']['env']
  /** The directory of the static assets. */
  assets?: string
}

/** Describes a Worker whose main module is the first. */
const worker = (
  name: string,
  modules: Record<string, string>,
  { compatibilityDate, compatibilityFlags = [], durableObjects = {}, env = {}, assets }: WorkerOptions,
): Worker => ({
  config: {
    name,
    compatibilityDate,
    compatibilityFlags,
    manifest: {
      mainModule: Object.keys(modules)[0] ?? '',
      modules: mapValues(modules, contents => ({ type: 'esm' as const, contents })),
    },
    ...(assets !== undefined && { assets: { directory: assets, hasUserWorker: true } }),
    exports: Object.fromEntries(
      Object.values(durableObjects).map(className => [className, { type: 'durable-object', storage: 'sqlite' }]),
    ),
    env: {
      ...env,
      ...mapValues(durableObjects, exportName => ({ type: 'durable-object' as const, worker: name, exportName })),
    },
  },
  dev: { stripCfConnectingIp: false, unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }] },
})

const examplePath = (name: string): string => join(root, 'examples', name, 'worker.ts')

const exampleWorker = async (name: keyof typeof exampleWorkers, config: HostConfig): Promise<Worker> => {
  const modules = { 'index.js': await bundleOf(examplePath(name), config) }
  const { compatibilityDate } = config
  return worker(name, modules, { compatibilityDate, durableObjects: exampleWorkers[name].durableObjects })
}

const passingName = (origin: string): string => `pass-to-${new URL(origin).port}`

/** Describes a Worker that passes every request to `origin`. */
const passingWorker = (origin: string, { compatibilityDate }: HostConfig): Worker => {
  const code = `export default {
    fetch: request => fetch(new Request(request.url.replace(/^https?:\\/\\/[^/]*/, '${origin}'), request), { redirect: 'manual' })
  }`
  return worker(passingName(origin), { 'index.js': code }, { compatibilityDate })
}

const start = async <Name extends string>(
  workers: Worker[],
  names: readonly Name[],
  storage?: string,
): Promise<Runtime<Name>> => {
  const logs: string[] = []
  const miniflare = new Miniflare({
    enableDevRegistry: false,
    handleStructuredLogs: ({ message }) => void logs.push(message),
    workers,
    ...(storage !== undefined && { resourcePersistencePath: storage }),
  })
  const urls = await Promise.all(names.map(async name => [name, await miniflare.unsafeGetDirectURL(name)] as const))
  return { miniflare, urls: Object.fromEntries(urls) as Record<Name, URL>, logs, close: () => miniflare.dispose() }
}

/** The Worker with the rate limits of all hosts. */
const rateLimiter = 'rate-limiter'

const rateLimitPath = join(import.meta.dirname, 'workers/rate-limit.ts')
/** Imports the production build, which stays a module of its own. */
const faultsPath = join(import.meta.dirname, 'workers/faults.ts')

const bundleOf = async (path: string, { bundles }: HostConfig): Promise<string> => bundles?.[path] ?? bundle(path)

/** Bundles every Worker that a runtime may start beside hosts, once for all processes. */
export const bundleWorkers = async (): Promise<Record<string, string>> => {
  const paths = [rateLimitPath, faultsPath, ...Object.keys(exampleWorkers).map(examplePath)]
  return Object.fromEntries(await Promise.all(paths.map(async path => [path, await bundle(path)])))
}

/** Bundles a Worker into one module. */
const bundle = async (input: string, plugins: Plugin[] = []): Promise<string> => {
  const { output } = await build({
    input,
    ...workerOptions,
    external: /^cloudflare:/,
    // The echo agent's server is CommonJS: without 'import', `require` finds the CommonJS side of a package. What the host
    // replaces in packages, the example of an MCP server needs.
    resolve: { ...workerOptions.resolve, conditionNames: ['workerd', 'worker', 'browser'], alias: {} },
    plugins: [productionBuild, nodeModules, ...plugins],
    write: false,
    output: { format: 'esm', codeSplitting: false },
  })
  return output[0].code
}

/** Leaves the host's own code out of a bundle: it is the module that `npm run build` made. */
const productionBuild: Plugin = {
  name: 'production-build',
  resolveId: {
    filter: { id: /\/src\/index\.ts$/ },
    handler: () => ({ id: './index.js', external: true }),
  },
}

/** Leaves Node's modules to the runtime, also where a dependency asks for them with `require`, which a module cannot. */
const nodeModules: Plugin = {
  name: 'node-modules',
  resolveId: {
    filter: { id: new RegExp(`^(node:)?(${builtinModules.join('|')})$`) },
    handler: (id, _importer, { kind }) => {
      const name = `node:${id.replace('node:', '')}`
      return kind === 'require-call' ? `require-${name}` : { id: name, external: true }
    },
  },
  load: {
    filter: { id: /^require-node:/ },
    handler: id => `import value from '${id.replace('require-', '')}'\nmodule.exports = value`,
  },
}

/** Gives the module at `path` the text `code`, in place of a file. */
const virtualModule = (path: string, code: string): Plugin => ({
  name: 'virtual-module',
  resolveId: id => (id === path ? id : null),
  load: id => (id === path ? code : null),
})

const textBindings = (texts: Record<string, string>) => mapValues(texts, value => ({ type: 'text' as const, value }))

const mapValues = <From, To>(record: Record<string, From>, map: (value: From, name: string) => To) =>
  Object.fromEntries(Object.entries(record).map(([name, value]): [string, To] => [name, map(value, name)]))
