/** A value bound to a Worker. `kv` names another service, `object` a class of the same Worker; `unlimited` lets everything pass. */
export type Binding =
  | { text: string }
  | { json: unknown }
  | { data: Uint8Array }
  | { kv: string }
  | { object: string }
  | { unlimited: true }

/** A service of a workerd process: a Worker, a directory on the disk, or something that listens elsewhere. */
export type Service =
  | {
      modules: Record<string, string>
      bindings?: Record<string, Binding>
      objects?: string[]
      storage?: string
    }
  | { directory: string }
  | { port: number }

/** Everything that one workerd process runs; every named service of `sockets` listens on a free port of its own. */
export type Runtime = { services: Record<string, Service>; sockets: string[] }

/** A rate limit that is never reached: the platform's own counts are its, not the host's. */
const unlimited = 'export default () => ({ limit: async () => ({ success: true }) })'

const compatibilityDate = '2026-11-01'

/** Writes workerd's configuration as Cap'n Proto text. */
export const workerdConfig = ({
  services,
  sockets,
}: Runtime): string => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "internet", network = (allow = ["public", "private"])), ${Object.entries(services)
    .map(([name, service]) => `(name = ${quoted(name)}, ${serviceText(service)})`)
    .join(', ')}],
  extensions = [(modules = [(name = "bench:unlimited", internal = true, esModule = ${quoted(unlimited)})])],
  sockets = [${sockets
    .map(name => `(name = ${quoted(name)}, address = "127.0.0.1:0", http = (), service = ${quoted(name)})`)
    .join(', ')}],
);
`

/** Cap'n Proto's text is written as C's, byte by byte. */
const quoted = (text: string): string => `"${[...Buffer.from(text)].map(character).join('')}"`

const character = (byte: number): string =>
  byte < 0x20 || byte > 0x7e || byte === 0x22 || byte === 0x5c
    ? `\\x${byte.toString(16).padStart(2, '0')}`
    : String.fromCharCode(byte)

const serviceText = (service: Service): string => {
  if ('directory' in service) return `disk = (path = ${quoted(service.directory)}, writable = true)`
  if ('port' in service) return `external = (address = "127.0.0.1:${service.port}", http = ())`
  const { modules, bindings = {}, objects = [], storage } = service
  const parts = [
    `modules = [${Object.entries(modules)
      .map(([name, source]) => `(name = ${quoted(name)}, esModule = ${quoted(source)})`)
      .join(', ')}]`,
    `compatibilityDate = "${compatibilityDate}"`,
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
