import type { Listed } from '../registry/store/agents.ts'
import type { AgentPage } from './agent-page.ts'

/** What a page of agents is in the words of each endpoint that lists them, by its path. */
export const LIST_FORMATS = {
  '/agents': ({ agents, ...more }) => ({
    agents: agents.map(({ id, origin, name, description, version, url }) => ({
      id,
      name,
      description,
      version,
      card: cardUrl(origin, id),
      url,
    })),
    ...more,
  }),

  '/.well-known/a2a/agents': ({ agents, ...more }) => ({
    protocolVersion: '0.3.0',
    agents: agents.map(({ name, description, version, url, shaman }) => ({
      name,
      description,
      version,
      ...(shaman ?? { url, preferredTransport: 'JSONRPC' }),
    })),
    ...more,
  }),

  // SuperX's own lists name an agent by `id` or by `name`, as they are older or newer; its clients send back what they were told.
  '/rpc': ({ agents, ...more }) => ({
    agents: agents.map(({ id, origin, description, version, url, protocol = 'a2a' }) => ({
      id,
      name: id,
      protocol,
      description,
      version,
      url,
      agentCard: { url: cardUrl(origin, id) },
    })),
    ...more,
  }),
} as const satisfies Record<string, (page: AgentPage) => object>

/** Where the lists of agents are. */
export type ListPath = keyof typeof LIST_FORMATS

/** Whether a list of agents is at a path. */
export const isListPath = (path: string): path is ListPath => Object.hasOwn(LIST_FORMATS, path)

const cardUrl = (origin: Listed['origin'], id: string): string => `${origin}/agents/${id}/.well-known/agent-card.json`
