import { isJsonObject } from '../json/json.ts'
import type { AgentCard } from './model/agent-card.ts'

/** The headers that a card's API keys go in, as it writes them, by the names of their schemes. */
export const apiKeyHeadersOf = ({ securitySchemes = {} }: AgentCard): { scheme: string; header: string }[] =>
  Object.entries(securitySchemes).flatMap(([scheme, { apiKeySecurityScheme: key }]) =>
    isJsonObject(key) && key.location === 'header' && typeof key.name === 'string'
      ? [{ scheme, header: key.name }]
      : [],
  )
