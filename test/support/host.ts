import { request as httpRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import { inject } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { checkDeclared, type OpenApiDocument } from './declared-problems.ts'
import {
  type HostConfig,
  type HostOptions,
  main,
  type Runtime,
  startHostRuntime,
  startWorkerRuntime,
  token,
} from './runtime.ts'
import { type SharedHostName, sharedRuntime, upstreamPorts } from './shared-hosts.ts'
import { startUpstream, type UpstreamServer } from './upstream.ts'

export { token }

/** A host under test: the production build in the real runtime, which a test talks to over HTTP. */
export type Host = {
  url: URL
  /** Sends a request; an absolute URL sets the host name. */
  fetch: (path: string, init?: RequestInit) => Promise<Response>
  /** Registers a card or manifest with the admin token. */
  put: (id: string, document: Json, headers?: Record<string, string>) => Promise<Response>
  /** Issues a token with the admin token. */
  issue: (request: JsonObject) => Promise<IssuedToken>
  /** The bindings of the Worker. */
  env: () => Promise<Env>
  /** The lines that all hosts of its runtime have logged since, with those of the runtime itself. */
  logged: () => string[]
  /** The lines in JSON among them: what the Worker has logged. */
  events: () => JsonObject[]
}

/** The members of the response to `POST /tokens` that tests read. */
export type IssuedToken = { id: string; token: string; published: boolean }

/** A host that only one file uses. */
export type OwnHost = Host & { close: () => Promise<void> }

/** Returns a host that the files of this process share. Use ids and host names that no other file uses. */
export const sharedHost = (name: SharedHostName = 'standard'): Host => hostOf(sharedRuntime(), name)

/**
 * Returns a shared host without the agents and tokens of the files before. Their revisions, audit entries and events stay, so
 * that ids must be unique here too.
 */
export const emptyHost = async (name: SharedHostName = 'empty'): Promise<Host> => {
  const host = sharedHost(name)
  const headers = { Authorization: `Bearer ${token}` }
  for (const kind of ['agents', 'tokens'])
    for (let isLast = false; !isLast; ) {
      const page = (await (await host.fetch(`/${kind}?limit=100`, { headers })).json()) as Record<
        string,
        { id: string }[]
      >
      const entries = page[kind] ?? []
      await Promise.all(entries.map(({ id }) => host.fetch(`/${kind}/${id}`, { method: 'DELETE', headers })))
      isLast = entries.length < 100
    }
  return host
}

/** Starts a server that the shared hosts may call. */
export const startSharedUpstream = (): Promise<UpstreamServer> => startUpstream({ ports: upstreamPorts() })

/** How a host of one file differs from production; with `storage`, a directory, its state survives. */
type StartOptions = HostOptions & { storage?: string }

/** Starts a host for one file, which costs as much as a hundred tests: prefer a shared one. */
export const startHost = async (
  vars: Record<string, string> = {},
  { storage, ...options }: StartOptions = {},
): Promise<OwnHost> => {
  const config: HostConfig = inject('hostConfig')
  const runtime = await startHostRuntime(config, { [main]: { ...options, vars } }, storage)
  return { ...hostOf(runtime, main), close: runtime.close }
}

/** Returns a host of a runtime. Its log begins now. */
const hostOf = <Name extends string>({ miniflare, urls, logs }: Runtime<Name>, name: Name): Host => {
  const before = logs.length
  return {
    ...hostAt(urls[name]),
    env: () => miniflare.getBindings<Env>(name),
    logged: () => logs.slice(before),
    events: () => logs.slice(before).flatMap(line => (line.startsWith('{') ? JSON.parse(line) : [])),
  }
}

/** Starts a Worker whose module exports what `source` does; its imports are relative to this folder. */
export const startWorker = (source: string): Promise<Runtime> =>
  startWorkerRuntime(source, import.meta.dirname, inject('hostConfig'))

let document: Promise<OpenApiDocument> | undefined

/** Reads the OpenAPI document, which is the same for every host. */
const readDocument = (url: URL): Promise<OpenApiDocument> => {
  document ??= fetch(new URL('/openapi.json', url)).then(response => response.json() as Promise<OpenApiDocument>)
  return document
}

const hostAt = (url: URL): Omit<Host, 'env' | 'logged' | 'events'> => {
  const send: Host['fetch'] = async (path, init = {}) => {
    const target = new URL(path, url)
    const headers = Object.fromEntries(new Headers(init.headers))
    const response = await (target.origin === url.origin
      ? fetch(target, { redirect: 'manual', ...init })
      : sendRaw(new URL(target.pathname + target.search, url), { ...init, headers: { ...headers, Host: target.host } }))
    await checkDeclared(init.method ?? 'GET', target.pathname, response, () => readDocument(url))
    return response
  }
  return {
    url,
    fetch: send,
    put: (id, document, headers = {}) =>
      send(`/agents/${id}`, {
        method: 'PUT',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify(document),
      }),
    issue: async request => {
      const response = await send('/tokens', {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(request),
      })
      if (response.status !== 201) throw new Error(`POST /tokens: ${response.status} ${await response.text()}`)
      return (await response.json()) as IssuedToken
    },
  }
}

/** Sends what `fetch` cannot: a Host header, or several headers of one name. */
export const sendRaw = (
  url: URL,
  { method = 'GET', headers, body }: { method?: string; headers: Record<string, string | string[]>; body?: unknown },
): Promise<Response> =>
  new Promise((resolve, reject) => {
    const request = httpRequest(url.href, { method, headers }, async response => {
      const { statusCode: status = 0, headersDistinct } = response
      const received = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
        values.map((value): [string, string] => [name, value]),
      )
      // Such a response has no body, not even an empty one.
      const content = status === 204 || status === 304 ? null : await text(response)
      resolve(new Response(content, { status, headers: received }))
    })
    request.on('error', reject).end(body)
  })
