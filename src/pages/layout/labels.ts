import type { RepresentationName } from '../../card/model/constants.ts'

/** The names of dialects and representations for people. */
export const representationLabels: Readonly<Record<RepresentationName, string>> = {
  '1.0': 'A2A 1.0',
  '0.3': 'A2A 0.3',
  'agent-card.json': 'Hybrid',
  'agent.json': 'Hybrid, agent.json',
  gopherhole: 'GopherHole',
  superx: 'SuperX',
  shaman: 'Shaman',
  telex: 'Telex',
}
