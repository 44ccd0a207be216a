import type { Level } from '../named-fields.ts'

/** Where fields stand in a card. */
export type Place = Exclude<Level, 'scheme'>

const words = (text: string): readonly string[] => text.split(/\s+/)

/** The fields that only SuperX, Shaman, Telex or a draft of A2A knows. */
export const dialectFields: Record<Place, readonly string[]> = {
  card: words(`protocol authentication interfaces supportedProtocols metadata tags icon supportUrl inputSchema
    outputSchema additionalCapabilities rateLimits resources prompts`),
  capabilities: words(`stateHistory multiModal parallelToolCalls authentication rateLimit contextWindow tools resources
    prompts sampling`),
  provider: words('name email contactEmail'),
  skill: words('inputSchema outputSchema parameters'),
  interface: [],
}

/** Fields that are found on top of cards, and where they belong. */
export const misplaced: Record<string, string> = {
  streaming: 'capabilities.streaming',
  pushNotifications: 'capabilities.pushNotifications',
  extendedAgentCard: 'capabilities.extendedAgentCard',
  multiTurn: 'capabilities.multiTurn',
  stateTransitionHistory: 'capabilities.stateTransitionHistory',
  extensions: 'capabilities.extensions',
  inputModes: 'defaultInputModes',
  outputModes: 'defaultOutputModes',
  organization: 'provider.organization',
}
