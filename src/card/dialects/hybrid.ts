import type { Json, JsonObject } from '../../json/json.ts'
import type { AgentCard } from '../model/agent-card.ts'
import { pickV0Interface } from '../read/interfaces.ts'
import { gopherholeVersion } from './gopherhole.ts'
import { writeV0 } from './v0-base.ts'

/**
 * One document that readers of v1.0, v0.3, v0.2 and GopherHole all accept: the union of their fields. Where they clash, on
 * what the top-level `url` speaks, `agent-card.json` tells v0.x readers and `agent.json` tells GopherHole's.
 */
export const writeHybrid = (card: AgentCard, readers: 'agent-card.json' | 'agent.json'): JsonObject => {
  const { document } = writeV0(card, pickV0Interface(card.supportedInterfaces))
  const { skills, ...rest } = document
  return {
    ...rest,
    ...(readers === 'agent.json' && { protocolVersion: gopherholeVersion(card) }),
    supportedInterfaces: card.supportedInterfaces as Json,
    capabilities: card.capabilities as JsonObject,
    ...(card.securityRequirements && { securityRequirements: card.securityRequirements as Json }),
    supportedInputModes: (card.supportedInputModes as Json | undefined) ?? card.defaultInputModes,
    supportedOutputModes: (card.supportedOutputModes as Json | undefined) ?? card.defaultOutputModes,
    skills: (skills as JsonObject[]).map((skill, index) => {
      const requirements = card.skills[index]?.securityRequirements
      return { ...skill, ...(requirements && { securityRequirements: requirements as Json }) }
    }),
  }
}
