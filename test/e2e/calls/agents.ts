import { loadManifests } from '../../../cli/manifests/load.ts'
import { createEchoApp, createEchoCard } from '../../../examples/echo-agent/app.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { type Host, startSharedUpstream } from '../../support/host.ts'

/** The manifest of the example agent, as `cards/` has it. */
export const echoManifest = (): JsonObject => {
  const [draft] = loadManifests(['cards/echo.yaml'], 'https://cards.example.com').drafts
  if (!draft) throw new Error('cards/echo.yaml is bad')
  return structuredClone(draft.manifest) as JsonObject
}

type Interface = { url: string; protocolBinding: string; protocolVersion: string }

/**
 * What of the example's manifest is changed: fields of its card, and fields beside it, null where they are left out.
 * `versions`: those that it speaks; `origin`: where it is, if not behind the service binding.
 */
export type Change = { card?: JsonObject; beside?: JsonObject; versions?: readonly string[]; origin?: string }

/** The example's manifest with changes. */
export const changed = ({ card, beside, versions = ['1.0', '0.3'], origin }: Change = {}): JsonObject => {
  const before = echoManifest()
  const interfaces = (before.card as { supportedInterfaces: Interface[] }).supportedInterfaces
    .filter(({ protocolVersion }) => versions.includes(protocolVersion))
    .map(each =>
      origin === undefined ? each : { ...each, url: each.url.replace('https://echo-agent.internal', origin) },
    )
  const after: JsonObject = {
    ...before,
    ...(origin !== undefined && { upstream: null }),
    ...beside,
    card: { ...(before.card as JsonObject), supportedInterfaces: interfaces as Json, ...card },
  }
  return Object.fromEntries(Object.entries(after).filter(([, value]) => value !== null))
}

/** Registers agents, and fails where one is refused. */
export const register = async (host: Host, agents: Record<string, JsonObject>): Promise<void> => {
  for (const [id, manifest] of Object.entries(agents)) {
    const response = await host.put(id, manifest)
    if (response.status !== 201) throw new Error(`${id}: ${response.status} ${await response.text()}`)
  }
}

/** The same agent as an Express server of the SDK, on this machine. */
export type ExpressAgent = {
  origin: string
  /** The calls that arrived since the last look. */
  takeCalls: () => string[]
  close: () => Promise<void>
}

/** Starts the agent as an Express server that the shared hosts may call. */
export const startExpressAgent = async (): Promise<ExpressAgent> => {
  const server = await startSharedUpstream()
  server.listenWith(createEchoApp(createEchoCard(server.origin)))
  return {
    origin: server.origin,
    takeCalls: () => server.requests.splice(0).map(({ method, path }) => `${method} ${path}`),
    close: () => server.close(),
  }
}
