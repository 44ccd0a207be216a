import { type CallError, upstreamUrl } from '../../a2a/index.ts'
import { createTokenFinder } from '../../auth/index.ts'
import type { CallProfile } from '../../card/index.ts'
import type { CallTarget } from '../../card/model/index.ts'
import { config } from '../../config.ts'
import { appendVia, blockReason, resolveSecret, resolveService } from '../../http/index.ts'
import { type HeaderSource, type SentHeaders, type UpstreamCredentials, upstreamHeaders } from './request.ts'

/** How a call reaches its agent, and the limit of its time. */
export type UpstreamRoute = {
  /** The Worker that receives the call in place of the network. */
  service?: Pick<Fetcher, 'fetch'> | undefined
  credentials: UpstreamCredentials
  timeoutSeconds: number
}

/** Returns the error of an agent that its owner has not set up correctly; `detail` is for the log. */
export const misconfigured = (detail: string): CallError => ({ kind: 'misconfigured', detail })

/** Resolves how to call an agent that supports A2A itself. */
export const resolveUpstream = (profile: CallProfile, env: Env): UpstreamRoute | CallError => {
  const service = profile.service === undefined ? undefined : resolveService(profile.service, env)
  if (profile.service !== undefined && service === undefined)
    return misconfigured(`This Worker has no service binding "${profile.service}".`)
  const { secret, apiKeyHeaders } = profile
  const credentials =
    secret === undefined ? { pass: ['authorization', ...apiKeyHeaders] } : resolveSecret(secret, env, config(env))
  if ('misconfigured' in credentials) return misconfigured(credentials.misconfigured)
  return { service, credentials, timeoutSeconds: config(env).upstreamTimeoutSeconds }
}

/** One endpoint of an agent: what is the same for all calls to it. */
export class Endpoint {
  readonly target: CallTarget
  /** Why this host does not call the address; undefined if it does. */
  readonly blocked: string | undefined
  readonly #agent: string
  readonly #env: Env
  /** The last headers for each version, type and kind of response, and the host name in their `Via`. */
  readonly #prebuilt: (Pick<SentHeaders, 'version' | 'type' | 'streams'> & { host: string; headers: Headers })[] = []
  /** The last path without a query, and its URL. */
  #last: { path?: string; url?: string | undefined } = {}

  constructor(target: CallTarget, agent: string, env: Env) {
    this.target = target
    this.blocked = blockReason(target.url, config(env).allowedOrigins)
    this.#agent = agent
    this.#env = env
  }

  /** Returns `Via` with this hop: the agent and the host name. Undefined for a loop, or too many hops. */
  appendVia(via: string | null, host: string): string | undefined {
    return appendVia(via, `${this.#agent}.${host}`)
  }

  /** Returns the URL of a call; undefined if its path would lead out of the endpoint. */
  urlOf(path = '', containsHostToken: HeaderSource['containsHostToken']): string | undefined {
    if (path === this.#last.path) return this.#last.url
    const url = upstreamUrl(this.target, path, containsHostToken)
    // The query of a call is its own.
    if (!path.includes('?')) this.#last = { path, url }
    return url
  }

  /** Returns the headers of a call to which its caller adds none. The last of each kind are kept. */
  plainHeaders(sent: SentHeaders, host: string): Headers {
    const { version, type, streams } = sent
    const known = this.#prebuilt.find(
      each => each.version === version && each.type === type && each.streams === streams,
    )
    if (known?.host === host) return known.headers
    const via = this.appendVia(null, host) ?? ''
    const received = { headers: new Headers(), extensions: [], via, containsHostToken: createTokenFinder(this.#env) }
    const headers = new Headers(upstreamHeaders({ ...sent, ...received }))
    if (known) Object.assign(known, { host, headers })
    else this.#prebuilt.push({ version, type, streams, host, headers })
    return headers
  }
}
