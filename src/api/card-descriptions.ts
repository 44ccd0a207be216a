import { dialectNames } from '../card/model/index.ts'
import type { ProblemCode } from '../problems.ts'
import { UPSTREAM_PROBLEMS } from './agent-errors.ts'
import { agentPath, anyText, choice, describe, json, text, version } from './contract/index.ts'
import { AgentCard } from './schemas/index.ts'

/** Describes an endpoint for a card, and the error for none. */
export const card = <Missing extends ProblemCode>(summary: string, missing: Missing) =>
  ({
    tag: 'cards',
    summary,
    access: 'optional',
    query: {
      dialect: choice('The dialect of the card. It wins over the version.', ['hybrid', ...dialectNames]),
      'A2A-Version': text('The same as the header.'),
    },
    openQuery: true,
    headers: {
      'A2A-Version': version('the card should have the form of'),
      Prefer: anyText('`server-timing` adds `Server-Timing` to the response (RFC 7240).'),
    },
    responses: { 200: json('The card.', AgentCard, { headers: ['Last-Modified', 'A2A-Version'] }) },
    validated: true,
    problems: [missing, 'unknown-dialect', ...UPSTREAM_PROBLEMS],
  }) as const

const agentCard = (summary: string) =>
  describe({
    ...card(summary, 'agent-not-found'),
    description:
      'An internal agent needs a token with the scope `read`; without one, it looks like an agent that does not exist.',
    params: agentPath,
  })

/** The description of `GET /.well-known/agent-card.json`. */
export const getHostCard = describe(card('Get the card of the agent of this host name', 'no-root-agent'))
/** The description of `GET /.well-known/agent.json`. */
export const getHostAgentJson = describe(card('Get the same card at the path of older clients', 'no-root-agent'))
/** The description of `GET /agents/{id}/.well-known/agent-card.json`. */
export const getWellKnownAgentCard = agentCard('Get the card of an agent')
/** The description of `GET /agents/{id}/.well-known/agent.json`. */
export const getAgentJson = agentCard('Get the same card at the path of older clients')
/** The description of `GET /agents/{id}`. */
export const getAgentCard = agentCard('Get the card of an agent; browsers get its page')
