import { knownFields, type Level } from '../read/named-fields.ts'

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

/** Where a field belongs that is found on top of a card. */
export const properPlace = (name: string): string | undefined => {
  if (/^(?:in|out)putModes$/.test(name)) return `default${name.charAt(0).toUpperCase()}${name.slice(1)}`
  const holder = (['capabilities', 'provider'] as const).find(of =>
    (knownFields[of] as readonly string[]).includes(name),
  )
  return holder && `${holder}.${name}`
}
