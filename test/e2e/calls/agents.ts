import { loadManifests } from '../../../cli/manifests/load.ts'
import { createEchoApp, createEchoCard } from '../../../examples/echo-agent/app.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { type Host, startSharedUpstream } from '../../support/host.ts'

/** Returns the manifest of a sample in `examples/cards/`. */
export const sampleManifest = (id: string): JsonObject => {
  const [draft] = loadManifests([`examples/cards/${id}.yaml`], 'https://cards.example.com').drafts
  if (!draft) throw new Error(`examples/cards/${id}.yaml is invalid`)
  return structuredClone(draft.manifest) as JsonObject
}

const backwards = {
  id: 'backwards',
  name: 'Backwards',
  description: 'Answers with the text back to front.',
  ...{ tags: ['echo'], examples: ['backwards hello'] },
}

/** Returns the manifest of the example agent, with an extended card. */
const echoManifest = (): JsonObject => ({ ...sampleManifest('echo'), extended: { skills: [backwards] } })

type Interface = { url: string; protocolBinding: string; protocolVersion: string }

/**
 * Changes of the example's manifest: fields of its card and of the manifest itself, null to omit one.
 * `versions`: the versions of A2A that the agent speaks; `origin`: its origin, if it is not called through the service binding.
 */
export type ManifestChanges = {
  card?: JsonObject
  manifest?: JsonObject
  versions?: readonly string[]
  origin?: string
}

/** Returns the example's manifest with changes. */
export const echoManifestWith = ({
  card,
  manifest,
  versions = ['1.0', '0.3'],
  origin,
}: ManifestChanges = {}): JsonObject => {
  const original = echoManifest()
  const interfaces = (original.card as { supportedInterfaces: Interface[] }).supportedInterfaces
    .filter(({ protocolVersion }) => versions.includes(protocolVersion))
    .map(each =>
      origin === undefined ? each : { ...each, url: each.url.replace('https://echo-agent.internal', origin) },
    )
  const changed: JsonObject = {
    ...original,
    ...(origin !== undefined && { upstream: null }),
    ...manifest,
    card: { ...(original.card as JsonObject), supportedInterfaces: interfaces as Json, ...card },
  }
  return Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== null))
}

/** Registers agents. Throws if one is rejected. */
export const register = async (host: Host, agents: Record<string, JsonObject>): Promise<void> => {
  for (const [id, manifest] of Object.entries(agents)) {
    const response = await host.put(id, manifest)
    if (response.status !== 201) throw new Error(`${id}: ${response.status} ${await response.text()}`)
  }
}

/** The same agent as an Express server of the SDK. */
export type ExpressAgent = {
  origin: string
  /** Returns the requests since the last call of this function. */
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
