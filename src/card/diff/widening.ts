import { formatPointer } from '../../json/pointer.ts'
import { apiKeyHeadersOf } from '../api-key-headers.ts'
import type { AgentCard } from '../model/agent-card.ts'
import type { CardError } from '../model/report.ts'
import { newAuthorities, newEndpoints } from './new-addresses.ts'
import { weakerRequirements } from './weaker-requirements.ts'
import { weakerSchemes } from './weaker-schemes.ts'

/**
 * What of a card widens access beside the one before it: calls or credentials that go to another address, and callers of whom
 * less is asked. Both are canonical cards before any address in them is this host's; pointers are into the later one.
 */
export const findWidenings = (before: AgentCard, after: AgentCard): CardError[] => [
  ...newEndpoints(before, after),
  ...newAuthorities(before, after),
  ...newHeaders(before, after),
  ...weakerRequirements(before, after),
  ...weakerSchemes(before, after),
  ...extensionsGone(before, after),
]

/** What callers send in the header of an API key goes to the agent; any other header stays here. */
const newHeaders = (before: AgentCard, after: AgentCard): CardError[] => {
  const known = new Set(apiKeyHeadersOf(before).map(({ header }) => header.toLowerCase()))
  return apiKeyHeadersOf(after)
    .filter(({ header }) => !known.has(header.toLowerCase()))
    .map(({ scheme, header }) => ({
      pointer: formatPointer('securitySchemes', scheme, 'apiKeySecurityScheme', 'name'),
      message: `takes the header ${header} of callers to the agent, which stayed here before`,
    }))
}

const extensionsGone = (before: AgentCard, after: AgentCard): CardError[] => {
  const now = new Set(requiredOf(after))
  return requiredOf(before)
    .filter(uri => !now.has(uri))
    .map(uri => ({
      pointer: '/capabilities/extensions',
      message: `asks callers no longer for the extension ${uri}`,
    }))
}

const requiredOf = ({ capabilities: { extensions = [] } }: AgentCard): string[] =>
  extensions.filter(({ required }) => required).map(({ uri }) => uri)
