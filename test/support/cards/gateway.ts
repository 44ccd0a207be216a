import type { Json, JsonObject } from '../../../src/json/json.ts'
import { compileCard, getCompileErrors } from './compile.ts'

/** The host of the agent, which representations must not contain. */
export const host = 'weather.agents.example'

/** The endpoint of the agent. */
export const endpoint = `https://${host}/a2a`

/** The URL of the agent's card. */
export const source = `https://${host}/.well-known/agent-card.json`

/** The URL of the agent on this host. */
export const ownUrl = 'https://host.example/agents/weather'

/** The endpoint on this host that forwards to the agent. */
export const ownEndpoint = `${ownUrl}/a2a`

/** The URL of the card on this host. */
export const ownCardUrl = `${ownUrl}/.well-known/agent-card.json`

/** Returns the manifest of an agent with a remote card behind the gateway. */
export const makeManifest = (upstream: JsonObject = {}, fields: JsonObject = {}): JsonObject => ({
  upstream: { card: source, ...upstream },
  route: 'gateway',
  ...fields,
})

/** Returns the card that is fetched from the agent. */
export const makeCard = (fields: JsonObject = {}): JsonObject => ({
  name: 'Weather',
  description: 'Tells the weather',
  url: endpoint,
  protocolVersion: '0.3.0',
  ...fields,
})

/** Returns the served value of an unknown field that the agent's card has. */
export const serveField = (value: Json, fetched: JsonObject = {}, upstream: JsonObject = {}): Json | undefined =>
  compileCard(makeManifest(upstream), makeCard({ ...fetched, 'x-field': value })).documents['agent-card.json'][
    'x-field'
  ]

/** Returns the pointers of the errors for a fetched card. */
export const findErrors = (fetched: JsonObject, upstream: JsonObject = {}, fields: JsonObject = {}): string[] =>
  getCompileErrors(makeManifest(upstream, fields), fetched).map(({ pointer }) => pointer)
