import { isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import type { CardError } from '../model/report.ts'

/** Documents that are found where a card should be, by what gives them away. */
const others: readonly { name: string; at: string; is: (document: JsonObject) => boolean }[] = [
  {
    name: 'an ERC-8004 registration, not an A2A card',
    at: '/type',
    is: document => /eip-?8004|erc-?8004/i.test(String(document.type ?? '')),
  },
  {
    name: 'a directory of agents, not the card of one',
    at: '/agents',
    is: document => Array.isArray(document.agents) && !('skills' in document),
  },
  {
    name: 'a list of HTTP endpoints, not an A2A card',
    at: '/endpoints',
    is: document => Array.isArray(document.endpoints) && !('url' in document) && !('skills' in document),
  },
  {
    name: 'a description of an agent, but not an A2A card',
    at: '/agent',
    is: document => isJsonObject(document.agent) && !('name' in document),
  },
  {
    name: 'a description of an agent, but not an A2A card',
    at: '/capabilities',
    is: document =>
      !('skills' in document) && Array.isArray(document.capabilities) && !document.capabilities.every(isFlagName),
  },
]

const isFlagName = (name: Json): boolean =>
  typeof name === 'string' &&
  /^(?:streaming|push_?notifications|multi_?turn|extended_?agent_?card|state_?transition_?history)$/i.test(name)

/** What a document is when it is not an Agent Card, and which fields it lacks to be one; nothing when it may be a card. */
export const detectForeignDocument = (document: JsonObject): CardError[] => {
  const other = others.find(candidate => candidate.is(document))
  if (other === undefined) return []
  return [{ pointer: other.at, message: `is ${other.name}` }, ...missingFields(document)]
}

const missingFields = (document: JsonObject): CardError[] => {
  const missing = ['name', 'description', 'skills'].filter(name => !(name in document))
  if (!('url' in document)) missing.push('url')
  // A document can have all of v0.3's fields and still be of another kind; v1.0's endpoint list is what sets a card apart.
  if (missing.length === 0) missing.push('supportedInterfaces')
  return missing.map(name => ({ pointer: `/${name}`, message: 'is missing' }))
}
