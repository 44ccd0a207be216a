import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A value bound to a Worker. `kv` names another service, `object` a class of the same Worker; `unlimited` is a rate limit without a limit. */
export type Binding =
  | { text: string }
  | { json: unknown }
  | { data: Uint8Array }
  | { kv: string }
  | { object: string }
  | { unlimited: true }

/** A Worker: its ES modules by name, the main one first, and what they are given. */
export type Worker = {
  modules: Record<string, string>
  flags?: readonly string[]
  bindings?: Record<string, Binding>
  objects?: readonly string[]
  storage?: string
}

/** A service of a workerd process: a Worker, a directory on disk, or a server at a port. */
export type Service = Worker | { directory: string } | { port: number }

/** What one workerd process runs. Every service named in `sockets` listens on a free port of its own. */
export type Runtime = { services: Record<string, Service>; sockets: readonly string[] }

const COMPATIBILITY_DATE = '2026-11-01'

const unlimited = 'export default () => ({ limit: async () => ({ success: true }) })'

/**
 * Writes the configuration of a runtime and the modules of its Workers into a directory, and returns the configuration's path.
 * The configuration embeds the modules as files: Cap'n Proto would take longer to parse them as text than V8 to compile them.
 */
export const writeConfig = (directory: string, { services, sockets }: Runtime): string => {
  for (const [service, definition] of Object.entries(services))
    if ('modules' in definition)
      for (const [name, source] of Object.entries(definition.modules)) {
        const path = join(directory, service, name)
        mkdirSync(dirname(path), { recursive: true })
        writeFileSync(path, source)
      }
  const path = join(directory, 'config.capnp')
  writeFileSync(
    path,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "internet", network = (allow = ["public", "private"])), ${Object.entries(services)
    .map(([name, service]) => `(name = ${quoted(name)}, ${serviceText(name, service)})`)
    .join(', ')}],
  extensions = [(modules = [(name = "bench:unlimited", internal = true, esModule = ${quoted(unlimited)})])],
  sockets = [${sockets
    .map(name => `(name = ${quoted(name)}, address = "127.0.0.1:0", http = (), service = ${quoted(name)})`)
    .join(', ')}],
);
`,
  )
  return path
}

/** Quotes text for Cap'n Proto, which escapes byte by byte as C does. */
const quoted = (text: string): string => `"${[...Buffer.from(text)].map(character).join('')}"`

const character = (byte: number): string =>
  byte < 0x20 || byte > 0x7e || byte === 0x22 || byte === 0x5c
    ? `\\x${byte.toString(16).padStart(2, '0')}`
    : String.fromCharCode(byte)

const serviceText = (service: string, definition: Service): string => {
  if ('directory' in definition) return `disk = (path = ${quoted(definition.directory)}, writable = true)`
  if ('port' in definition) return `external = (address = "127.0.0.1:${definition.port}", http = ())`
  const { modules, flags = [], bindings = {}, objects = [], storage } = definition
  const parts = [
    `modules = [${Object.keys(modules)
      .map(name => `(name = ${quoted(name)}, esModule = embed ${quoted(`${service}/${name}`)})`)
      .join(', ')}]`,
    `compatibilityDate = "${COMPATIBILITY_DATE}"`,
    `compatibilityFlags = [${flags.map(quoted).join(', ')}]`,
    `bindings = [${Object.entries(bindings)
      .map(([name, binding]) => `(name = ${quoted(name)}, ${bindingText(binding)})`)
      .join(', ')}]`,
    `durableObjectNamespaces = [${objects
      .map(name => `(className = ${quoted(name)}, uniqueKey = ${quoted(`bench-${name}`)}, enableSql = true)`)
      .join(', ')}]`,
  ]
  if (storage !== undefined) parts.push(`durableObjectStorage = (localDisk = ${quoted(storage)})`)
  return `worker = (${parts.join(', ')})`
}

const bindingText = (binding: Binding): string => {
  if ('text' in binding) return `text = ${quoted(binding.text)}`
  if ('json' in binding) return `json = ${quoted(JSON.stringify(binding.json))}`
  if ('data' in binding) return `data = 0x"${Buffer.from(binding.data).toString('hex')}"`
  if ('unlimited' in binding) return 'wrapped = (moduleName = "bench:unlimited")'
  if ('kv' in binding) return `kvNamespace = ${quoted(binding.kv)}`
  return `durableObjectNamespace = ${quoted(binding.object)}`
}
