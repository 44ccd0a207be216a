import { inject } from 'vitest'
import { findFreePorts } from './free-ports.ts'
import { type HostOptions, type Runtime, startHostRuntime } from './runtime.ts'
import { makeSigningKey } from './signing-key.ts'

/** How many upstreams the files of one process may start. */
const UPSTREAMS = 120

/** All tests write with one token, and most of them from one address. */
const unlimited = { PAGE_LIMIT: 1e9, FETCH_LIMIT: 1e9, WRITE_LIMIT: 1e9 }

/** The hosts that the test files of a process share. Each may call the upstream ports. */
const sharedHosts = {
  standard: {},
  /** Times out soon, but not so soon that a busy machine misses the timeouts by itself. */
  'short-timeouts': { vars: { UPSTREAM_TIMEOUT: '0.5', STREAM_IDLE_TIMEOUT: '1' } },
  /** Has low rate limits. */
  limited: {
    rateLimits: { LINT_LIMIT: 5, AUTH_LIMIT: 5, CALL_LIMIT: 30, PAGE_LIMIT: 5, FETCH_LIMIT: 5, WRITE_LIMIT: 50 },
  },
  /** In local mode, as under `npm start`. */
  local: {
    vars: {
      LOCAL_ORIGINS: 'http://127.0.0.1:8787 http://localhost:8787 chrome-extension://mine',
      PUBLIC_URL: 'https://tunnel.example/',
    },
  },
  /** Has a public URL. */
  public: { vars: { PUBLIC_URL: 'https://cards.example.com' } },
  /** Signs its cards, and has the static assets. */
  signing: { assets: true, vars: { SIGNING_KEY: JSON.stringify(makeSigningKey()) } },
  /** Shows its agents to callers with a token only, and none to MCP clients. */
  internal: { vars: { ROLE: 'internal', MCP: 'off' } },
  /** Has no agents, until a test registers some: see `emptyHost`. */
  empty: {},
  /** Has a KV that fails on command. */
  faults: { faults: true },
  /** Has the example agents beside it, and the static assets. */
  examples: { assets: true, examples: ['echo-agent', 'mcp-server'] },
} satisfies Record<string, HostOptions>

export type SharedHostName = keyof typeof sharedHosts

/** The secrets of the shared hosts. */
const secrets = { AGENT_TOKEN: 'the-hosts-own-secret', EMPTY_TOKEN: '' }

let runtime: Runtime<SharedHostName> | undefined
let unusedPorts: number[] = []

/** Starts the shared hosts, unless a file of this process has. */
export const startSharedHosts = async (): Promise<void> => {
  if (runtime) return
  unusedPorts = await findFreePorts(UPSTREAMS)
  const ALLOWED_ORIGINS = unusedPorts.map(port => `http://127.0.0.1:${port}`).join(' ')
  const hosts = Object.entries<HostOptions>(sharedHosts).map(([name, { vars, ...options }]) => [
    name,
    { rateLimits: unlimited, ...options, vars: { ALLOWED_ORIGINS, ...secrets, ...vars } },
  ])
  runtime = await startHostRuntime<SharedHostName>(inject('hostConfig'), Object.fromEntries(hosts))
}

/** The runtime of the shared hosts. */
export const sharedRuntime = (): Runtime<SharedHostName> => {
  if (!runtime) throw new Error('unit tests have no host: name the file `*.host.test.ts`')
  return runtime
}

/**
 * Yields ports of this machine that the shared hosts may call, each once: what an agent of an earlier file has started, such as a
 * refresh of its card, may still call its port.
 */
export function* upstreamPorts(): Generator<number> {
  for (let port = unusedPorts.shift(); port !== undefined; port = unusedPorts.shift()) yield port
}
