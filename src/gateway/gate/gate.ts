import type { A2ACall, CallError, InvalidParams, MessageFacts, OperationName, Refusal } from '../../a2a/index.ts'
import type { CallProfile } from '../../card/index.ts'
import type { CallBinding, CallModes, CallTarget, WireVersion } from '../../card/model/index.ts'
import {
  addsCredential,
  canTranslate,
  findBridgedTarget,
  isCompatible,
  isReachable,
  isSameProtocol,
  wireVersions,
} from '../../card/model/index.ts'
import { type Config, config } from '../../config.ts'
import { Endpoint, resolveUpstream } from '../upstream/index.ts'

/** How calls of one binding and version reach the agent. */
export type Route = {
  /** The version that the agent gets; undefined if it does not support the caller's, and nothing translates it. */
  agentVersion: WireVersion | undefined
  /** Where the version is not supported, one of the same binding, for manifests that do not enforce the version. */
  target: CallTarget | undefined
  isTranslated: boolean
  versionError: CallError
  /** The beginning of the log line of each operation. */
  lineStarts: Partial<Record<OperationName, string>>
}

/** What a check looks at. */
export type CheckedCall = {
  call: A2ACall
  profile: CallProfile
  route: Route
  modes: CallModes
  /** Undefined where the parameters are `invalid`. */
  message: MessageFacts | undefined
  invalid: InvalidParams | undefined
  /** The error in the shape of the message. */
  misshapen: InvalidParams | undefined
  allowedOrigins: ReadonlySet<string> | undefined
}

/** A check of a card, and whether the manifest enforces it. */
export type ActiveCheck = { find: (checked: CheckedCall) => Refusal; isEnforced: boolean }

/** What the calls of one agent are checked against, and where they are sent: made once from its profile. */
export class Gate {
  readonly id: string
  readonly profile: CallProfile
  readonly env: Env
  readonly config: Config
  readonly checks: readonly ActiveCheck[]
  /** Whether the card alone selects the tenant: callers would reach what is not theirs in another one. */
  readonly selectsTenant: boolean
  /** How the agent is called, unless it is an MCP server. */
  readonly upstream: ReturnType<typeof resolveUpstream>
  readonly #routes = new Map<WireVersion, Partial<Record<CallBinding, Route>>>()
  readonly #endpoints = new Map<CallTarget, Endpoint>()

  constructor(id: string, profile: CallProfile, env: Env, checks: readonly ActiveCheck[]) {
    this.id = id
    this.profile = profile
    this.env = env
    this.config = config(env)
    this.checks = checks
    this.selectsTenant = addsCredential(profile) || profile.tasks === 'owner'
    this.upstream = resolveUpstream(profile, env)
  }

  /** Returns how a call reaches the agent. */
  route(call: Pick<A2ACall, 'binding' | 'version'>): Route {
    const routes = this.#routes.get(call.version) ?? {}
    this.#routes.set(call.version, routes)
    routes[call.binding] ??= this.#createRoute(call)
    return routes[call.binding] as Route
  }

  /** Returns the endpoint of a target. */
  endpoint(target: CallTarget): Endpoint {
    const known = this.#endpoints.get(target)
    if (known) return known
    const endpoint = new Endpoint(target, this.id, this.env)
    this.#endpoints.set(target, endpoint)
    return endpoint
  }

  /** Returns the versions in which the agent can be called in a binding, oldest first. */
  versions(binding: CallBinding): WireVersion[] {
    const { targets, bridge } = this.profile
    return wireVersions.filter(version => isReachable({ binding, version }, targets, bridge))
  }

  /** Lists on demand what a call without a version can mean: of compatible versions, those of the agent itself. */
  impliedVersions(binding: CallBinding): WireVersion[] {
    const own = this.profile.targets.map(target => target.version)
    return this.versions(binding).filter(
      version => own.includes(version) || !own.some(each => isCompatible(each, version)),
    )
  }

  /**
   * Corrects the error of a call that could not be parsed, now that its agent is known: reports the versions that the
   * agent supports, not the host; and an unsupported version before an unknown method.
   */
  preferVersionError(error: CallError, binding: CallBinding): CallError {
    const accepted = this.versions(binding)
    if (error.kind === 'version') return { ...error, accepted }
    const { version: level } = this.profile.gate
    if (error.kind !== 'method' || level !== 'enforce' || accepted.includes(error.version)) return error
    return { kind: 'version', offered: error.version, accepted }
  }

  #createRoute({ binding, version }: Pick<A2ACall, 'binding' | 'version'>): Route {
    const { targets, bridge, mcp } = this.profile
    const from = { binding, version }
    const supported = targets.find(target => isSameProtocol(target, from)) ?? findBridgedTarget(from, targets, bridge)
    const found = supported ?? targets.find(target => target.binding === binding)
    // An MCP server is called only in A2A 1.0, whatever the manifest's `bridge`.
    const target: CallTarget | undefined = found && mcp ? { ...found, version: '1.0' } : found
    return {
      target,
      agentVersion: supported?.version,
      // A call that the manifest lets pass although the agent does not support its version goes as it is.
      isTranslated:
        target !== undefined &&
        !isSameProtocol(from, target) &&
        (mcp !== undefined || canTranslate(from, target, bridge)),
      versionError: { kind: 'version', offered: version, accepted: this.versions(binding) },
      lineStarts: {},
    }
  }
}
