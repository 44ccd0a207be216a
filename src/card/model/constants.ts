// By itself, so that who asks for it loads no schema.

/** The tier of the first extended card: what every caller reads whose token names no other tier of the agent. */
export const baseTier = 'base'

/** What a token lets its bearer do: `admin` everything, `write` change agents, `read` see what is not public and call it. */
export const scopes = ['read', 'write', 'admin'] as const
export type Scope = (typeof scopes)[number]

/** The shapes of a card that this host reads and writes, the most telling marks first: so are they looked for. */
export const dialectNames = ['1.0', 'superx', 'telex', 'shaman', '0.3', 'gopherhole'] as const
export type DialectName = (typeof dialectNames)[number]

/** The public documents of one agent: the hybrid of either well-known path, and each dialect by its name. */
export const representationNames = ['agent-card.json', 'agent.json', ...dialectNames] as const
export type RepresentationName = (typeof representationNames)[number]

/** A kebab-case id made from a name; `fallback` where the name has no letter or digit of ASCII. */
export const toSlug = (name: string, fallback: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, 63)
    .replace(/-$/, '') || fallback

/** The form of an agent's id. */
export const agentIdPattern = /^[a-z0-9][a-z0-9-]{0,62}$/
