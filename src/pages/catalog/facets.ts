/** The filters of the page, which are parameters of the search, and their labels. */
export const facetLabels = {
  tag: 'Tag',
  capability: 'Capability',
  inputMode: 'Accepts',
  outputMode: 'Produces',
  protocolVersion: 'A2A version',
} as const

/** The name of a filter. */
export type FacetName = keyof typeof facetLabels

/** The names of the filters. */
export const facetNames = Object.keys(facetLabels) as FacetName[]

/** The most frequent values among the agents found. */
export type Facets = Partial<Record<FacetName, { value: string; count?: number }[]>>

/** The capabilities in words; the search compares values in lower case. */
const capabilityLabels: ReadonlyMap<string, string> = new Map([
  ['streaming', 'Streaming'],
  ['pushnotifications', 'Push notifications'],
  ['extendedagentcard', 'Extended card'],
  ['multiturn', 'Multi-turn'],
  ['statetransitionhistory', 'State history'],
])

/** Returns the name of a capability for people; of an extension, the last part of its URI, with a version after it. */
export const labelCapability = (name: string): string => {
  const [, last] = /^\w+:.*?\/([^/]+(?:\/v?[\d.]+)?)\/?$/s.exec(name) ?? []
  return capabilityLabels.get(name.toLowerCase()) ?? last ?? name
}
