import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { token as adminToken, type Host, sendRaw, sharedHost, startSharedUpstream } from './host.ts'
import type { SharedHostName } from './shared-hosts.ts'
import type { UpstreamServer } from './upstream.ts'

/** A request to the host; a body that is no text is sent as JSON. */
export type Sent = {
  method?: string
  headers?: Record<string, string>
  body?: Json | Uint8Array
  token?: string | undefined
}

/** A response of the host, its body parsed where it is JSON. */
export type Received = { status: number; headers: Headers; text: string; body: Json }

/** A host and an agent behind it, whose responses a test sets. */
export type CalledHost = {
  host: Host
  agent: UpstreamServer
  /** Sends a request from the file's next client address. */
  send: (path: string, sent?: Sent) => Promise<Received>
  /** Sends a request with several headers of one name. */
  sendLines: (path: string, headers: Record<string, string | string[]>, body: string) => Promise<Received>
  /** Registers an agent, and returns the host's report. */
  register: (id: string, manifest: JsonObject) => Promise<JsonObject>
  /** Issues a token. */
  issue: Host['issue']
  close: () => Promise<void>
}

/** Starts an agent that a shared host may call. */
export const useSharedHost = async (name?: SharedHostName): Promise<CalledHost> => {
  const agent = await startSharedUpstream()
  return { ...calling(sharedHost(name), agent), close: () => agent.close() }
}

let addresses = 0

/** Returns a client address of the block that the test file has for itself. */
export const nextAddress = (): string => {
  const [high, low] = createHash('sha1').update(String(expect.getState().testPath)).digest()
  return `10.${high}.${low}.${addresses++ & 255}`
}

/** Returns a function that sends requests to a host, each from the file's next client address. */
export const senderTo =
  (host: Pick<Host, 'fetch'>): CalledHost['send'] =>
  async (path, { method = 'POST', headers = {}, body, token } = {}) =>
    received(
      await host.fetch(path, {
        method,
        headers: {
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
          'CF-Connecting-IP': nextAddress(),
          ...(token !== undefined && { Authorization: `Bearer ${token}` }),
          ...headers,
        },
        ...(body !== undefined && {
          body: typeof body === 'string' || body instanceof Uint8Array ? (body as BodyInit) : JSON.stringify(body),
        }),
      }),
    )

const calling = (host: Host, agent: UpstreamServer): Omit<CalledHost, 'close'> => {
  const send = senderTo(host)
  return {
    host,
    agent,
    send,
    sendLines: async (path, headers, body) => {
      const sent = { 'Content-Type': 'application/json', 'CF-Connecting-IP': nextAddress(), ...headers }
      return received(await sendRaw(new URL(path, host.url), { method: 'POST', headers: sent, body }))
    },
    register: async (id, manifest) => {
      const { status, body } = await send(`/agents/${id}`, { method: 'PUT', token: adminToken, body: manifest })
      if (status !== 201 && status !== 200) throw new Error(`${id}: ${status} ${JSON.stringify(body)}`)
      return body as JsonObject
    },
    issue: host.issue,
  }
}

const received = async (response: Response): Promise<Received> => {
  const text = await response.text()
  const isJson = /\bjson/.test(response.headers.get('Content-Type') ?? '')
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== '' ? JSON.parse(text) : text,
  }
}
