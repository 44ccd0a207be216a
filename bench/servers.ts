import { type ChildProcess, execFileSync, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { connect, createServer } from 'node:net'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { type HostBundle, workerBundle } from './bundle.ts'
import { type Binding, type Runtime, type Worker, writeConfig } from './workerd-config.ts'

/** A running server, and the ports of its sockets by name. `other` is the same server in another build of the host. */
export type Server = { pid: number; ports: Record<string, number>; stop: () => Promise<void>; other?: Server }

/** Returns a server in every build that is measured: that of this checkout first. */
export const buildsOf = <S extends { other?: S }>(server: S): S[] => (server.other ? [server, server.other] : [server])

/** Returns the port of a server's only socket. */
export const portOf = (server: Server): number => Object.values(server.ports)[0] ?? 0

/** Returns the origin of a server's only socket. */
export const originOf = (server: Server): string => `http://127.0.0.1:${portOf(server)}`

/** The cores: the servers under test share one, everything that loads or feeds them has the other. */
export const cores = { server: 0, load: 1 } as const

/** Whether this machine can bind processes to cores, and has two of them. */
export const canPin = ((): boolean => {
  try {
    execFileSync('taskset', ['-p', String(process.pid)], { stdio: 'ignore' })
    return availableParallelism() >= 2
  } catch {
    return false
  }
})()

/** Binds this process with all its threads to a core, where that is possible. */
export const pinSelf = (core: number): void => {
  if (canPin) execFileSync('taskset', ['-a', '-c', '-p', String(core), String(process.pid)], { stdio: 'ignore' })
}

/** Returns the CPU time in milliseconds, user and system, that a process has used with all its threads. Linux only; 0 on other systems. */
export const cpuMilliseconds = (pid: number): number => {
  try {
    return readdirSync(`/proc/${pid}/task`)
      .map(thread => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6)
      .reduce((sum, spent) => sum + spent, 0)
  } catch {
    return 0
  }
}

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts a process on a core. Its standard output is dropped: a platform collects the log of a Worker, no terminal prints it. */
const start = (command: string[], core: number, stdio: StdioOptions) => {
  const [first = '', ...rest] = canPin ? ['taskset', '-c', String(core), ...command] : command
  const child = spawn(first, rest, { stdio })
  running.add(child)
  const exited = once(child, 'exit').then(() => running.delete(child))
  const stop = async () => {
    child.kill()
    await exited
  }
  return { child, pid: child.pid ?? 0, stop }
}

/** Starts a process that reports each port as workerd does: as a line of JSON on file descriptor 3. */
export const startReporting = async (command: string[], core: number, sockets: number): Promise<Server> => {
  const { child, pid, stop } = start(command, core, ['ignore', 'ignore', 'inherit', 'pipe'])
  const ports: Record<string, number> = {}
  for await (const line of createInterface(child.stdio[3] as Readable)) {
    const message = JSON.parse(line) as { event: string; socket: string; port: number }
    if (message.event === 'listen') ports[message.socket] = message.port
    if (Object.keys(ports).length === sockets) return { pid, ports, stop }
  }
  throw new Error(`${command[0]} ended before it listened`)
}

/** Starts a server that listens on a given port, and waits up to 20 seconds until it does. */
const startListening = async (name: string, command: (port: number) => string[]): Promise<Server> => {
  const port = await freePort()
  const { child, pid, stop } = start(command(port), cores.server, 'ignore')
  for (let attempt = 0; attempt < 400 && child.exitCode === null; attempt++) {
    if (await isListening(port)) return { pid, ports: { [name]: port }, stop }
    await sleep(50)
  }
  await stop()
  throw new Error(`${name} does not listen`)
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address ? address.port : 0
}

const isListening = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })

/** The binary itself: what npm links as `workerd` may be a Node script that starts it. */
const { default: workerd } = createRequire(import.meta.url)('workerd') as { default: string }

/** Writes a runtime's configuration. Returns the command that serves it and a function that removes it. */
export const prepareWorkerd = (runtime: Runtime): { command: string[]; remove: () => void } => {
  const directory = mkdtempSync(join(tmpdir(), 'calling-card-bench-'))
  const config = writeConfig(directory, runtime)
  return {
    command: [workerd, 'serve', '--experimental', '--control-fd=3', config],
    remove: () => rmSync(directory, { recursive: true, force: true }),
  }
}

/** Starts a bare workerd and waits until all its sockets listen. */
export const startWorkerd = async (runtime: Runtime, core: number = cores.server): Promise<Server> => {
  const { command, remove } = prepareWorkerd(runtime)
  const server = await startReporting(command, core, runtime.sockets.length)
  const stop = async () => {
    await server.stop()
    remove()
  }
  return { ...server, stop }
}

/** Starts a Worker of bench/workers as a server of its own. */
export const startWorker = async (
  name: 'agent' | 'blind' | 'careful' | 'constant' | 'itty' | 'kv' | 'reader' | 'sink',
  bindings: Record<string, Binding> = {},
  core: number = cores.server,
): Promise<Server> => {
  const modules = { 'index.js': await workerBundle(name) }
  return startWorkerd({ services: { [name]: { modules, bindings } }, sockets: [name] }, core)
}

/** Starts KV in a process of its own, as in production: its CPU time is not the host's. It knows the ids of `agents` agents. */
export const startKv = (agents: number): Promise<Server> =>
  startWorker('kv', { AGENTS: { text: String(agents) } }, cores.load)

/** The bearer token of the bench's hosts. */
export const adminToken = 'the-admin-token-of-the-bench'

/** Returns the host's Worker with the bindings of wrangler.toml. Its rate limits let everything pass. */
export const hostWorker = ({ modules, flags, vars }: HostBundle, more: Record<string, Binding> = {}): Worker => ({
  modules,
  flags,
  bindings: {
    CARDS: { kv: 'kv' },
    REGISTRY: { object: 'Registry' },
    MCP_AGENTS: { object: 'McpAgent' },
    REMOTE_CARDS: { object: 'RemoteCard' },
    TASK_OWNERS: { object: 'TaskOwners' },
    EVENTS: { object: 'Events' },
    LINT_LIMIT: { unlimited: true },
    CALL_LIMIT: { unlimited: true },
    AUTH_LIMIT: { unlimited: true },
    PAGE_LIMIT: { unlimited: true },
    FETCH_LIMIT: { unlimited: true },
    WRITE_LIMIT: { unlimited: true },
    ...Object.fromEntries(Object.entries({ ...vars, ADMIN_TOKEN: adminToken }).map(([name, text]) => [name, { text }])),
    ...more,
  },
  objects: ['Registry', 'RemoteCard', 'McpAgent', 'TaskOwners', 'Events'],
  storage: 'disk',
})

/** Returns the runtime of a host: the bundle in a bare workerd, with KV at a port and the Registry on disk. */
export const hostRuntime = (bundle: HostBundle, kv: Server, storage: string): Runtime => ({
  services: { host: hostWorker(bundle), kv: { port: portOf(kv) }, disk: { directory: storage } },
  sockets: ['host'],
})

/** The builds of the host to measure, and a function that makes an empty directory. */
export type Builds = { bundle: HostBundle; other?: HostBundle; directory: () => string }

/** A running host: its build, a KV of its own, and the directory of its Registry. */
export type Host = Omit<Server, 'other'> & { bundle: HostBundle; kv: Server; storage: string; other?: Host }

/** Starts a host in every build. Its KV knows the ids of `agents` agents; `vars` are more of its variables. */
export const startHost = async (
  { bundle, other, directory }: Builds,
  options: { agents?: number; vars?: Readonly<Record<string, string>> } = {},
): Promise<Host> => {
  const kv = await startKv(options.agents ?? 0)
  const storage = directory()
  const server = await startWorkerd(hostRuntime({ ...bundle, vars: { ...bundle.vars, ...options.vars } }, kv, storage))
  const beside = other && (await startHost({ bundle: other, directory }, options))
  const stop = async () => {
    await Promise.all([server, kv, beside].map(each => each?.stop()))
  }
  const { pid, ports } = server
  return { pid, ports, stop, bundle, kv, storage, ...(beside && { other: beside }) }
}

/** Registers a card or a manifest at a host, in every build. */
export const registerAt = async (host: Server, id: string, document: unknown): Promise<void> => {
  for (const build of buildsOf(host)) await register(portOf(build), id, document)
}

/** Registers a card or a manifest at the host that listens on a port. */
export const register = async (port: number, id: string, document: unknown): Promise<void> => {
  const response = await fetch(`http://127.0.0.1:${port}/agents/${id}`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${adminToken}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(document),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`PUT ${id}: ${response.status} ${text}`)
}

/** Issues a token of a host that may call every agent. Returns its text. */
export const issueToken = async (host: Server): Promise<string> => {
  const response = await fetch(`${originOf(host)}/tokens`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${adminToken}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ scopes: ['call'] }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`POST /tokens: ${response.status} ${text}`)
  return (JSON.parse(text) as { token: string }).token
}

/** A response of the host, for the servers that are to send the same. */
export type Answer = { body: Uint8Array; headers: Record<string, string> }

/** The runtime writes these itself. */
const CONNECTION_HEADERS = ['content-length', 'connection', 'keep-alive', 'date']

/** Fetches a response of the host. */
export const fetchAnswer = async (url: string, init?: RequestInit): Promise<Answer> => {
  const response = await fetch(url, init)
  if (response.status !== 200) throw new Error(`${url}: ${response.status}`)
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !CONNECTION_HEADERS.includes(name)))
  return { body: new Uint8Array(await response.arrayBuffer()), headers }
}

/** Returns the bindings of a Worker that always sends the same response. */
export const answerBindings = ({ body, headers }: Answer): Record<string, Binding> => ({
  BODY: { data: body },
  HEADERS: { json: headers },
})

/** Starts a Worker with the most popular cards that fit into `memoryBytes`. It reads the others from KV. */
export const startConstants = async (
  answer: Answer,
  agents: number,
  kv: Server,
  memoryBytes = Number.POSITIVE_INFINITY,
): Promise<Server> =>
  startWorkerd({
    services: {
      constants: {
        modules: { 'index.js': await workerBundle('constants') },
        bindings: {
          ...answerBindings(answer),
          CARDS: { kv: 'kv' },
          AGENTS: { text: String(agents) },
          MEMORY: { text: String(memoryBytes) },
        },
      },
      kv: { port: portOf(kv) },
    },
    sockets: ['constants'],
  })

/** Starts the A2A SDK's own server of a card: Express with `agentCardHandler`. */
export const startExpress = ({ body }: Answer): Promise<Server> =>
  startReporting(
    [process.execPath, join(import.meta.dirname, 'express-server.ts'), new TextDecoder().decode(body)],
    cores.server,
    1,
  )

/** Starts the npm package `@portkey-ai/gateway` as its README does. It takes the upstream from the headers of each request. */
export const startPortkey = (): Promise<Server> => {
  const script = createRequire(import.meta.url).resolve('@portkey-ai/gateway/build/start-server.js')
  return startListening('portkey', port => [process.execPath, script, `--port=${port}`, '--headless'])
}

/** Starts Caddy as a reverse proxy with default settings. Returns undefined where Caddy is not installed. */
export const startCaddy = async (upstream: string): Promise<Server | undefined> => {
  try {
    execFileSync('caddy', ['version'], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  const directory = mkdtempSync(join(tmpdir(), 'calling-card-caddy-'))
  const server = await startListening('caddy', port => {
    const config = join(directory, 'Caddyfile')
    writeFileSync(config, `{\n  admin off\n}\nhttp://:${port} {\n  bind 127.0.0.1\n  reverse_proxy ${upstream}\n}\n`)
    return ['caddy', 'run', '--config', config, '--adapter', 'caddyfile']
  })
  const stop = async () => {
    await server.stop()
    rmSync(directory, { recursive: true, force: true })
  }
  return { ...server, stop }
}
