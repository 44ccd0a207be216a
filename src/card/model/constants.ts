import { MAX_NAME_LENGTH } from '../../limits.ts'

// The Worker evaluates this module at every start, so it imports no schema.

/** The tier that `extended` makes. A token that names no other tier of an agent reads this one. */
export const baseTier = 'base'

/** Token scopes: `read` sees what is not public, `call` also calls agents, `write` changes them, `admin` does all. */
export const scopes = ['read', 'call', 'write', 'admin'] as const
export type Scope = (typeof scopes)[number]

/** The dialects, with names for people, in the order of detection: the most distinctive first; the last fits any. */
export const dialectLabels = {
  '1.0': 'A2A 1.0',
  superx: 'SuperX',
  telex: 'Telex',
  shaman: 'Shaman',
  '0.3': 'A2A 0.3',
  gopherhole: 'GopherHole',
} as const
export type DialectName = keyof typeof dialectLabels

/** The dialects in this order. */
export const dialectNames = Object.keys(dialectLabels) as DialectName[]

/** The public documents of an agent: the hybrids of both well-known paths, and one for each dialect. */
export const representationNames = ['agent-card.json', 'agent.json', ...dialectNames] as const
export type RepresentationName = (typeof representationNames)[number]

/** The documents that this host signs: those that the official clients read. */
export const signedNames = ['agent-card.json', 'agent.json', '1.0', '0.3'] as const satisfies RepresentationName[]

/** The roles of a key: `next` is published before it signs, `current` signs everything, `previous` only cards still. */
export const keyRoles = ['current', 'next', 'previous'] as const

/** The names of the hybrids, which are in no dialect: one document that readers of several dialects accept. */
export type HybridName = Exclude<RepresentationName, DialectName>

/** Matches the id of an agent. */
export const agentIdPattern = /^[a-z0-9][a-z0-9-]{0,62}$/

/** Matches the id of a token. */
export const tokenIdPattern = /^[a-z2-7]{12}$/

/** Returns the URL of an agent's card, at the origin with which the agent is registered. */
export const cardUrl = ({ origin, id }: { origin: string; id: string }): string =>
  `${origin}/agents/${id}/.well-known/agent-card.json`

/** Matches an agent's id against a glob, in which only `*` is special, in linear time, unlike a regular expression. */
export const matchesGlob = (glob: string, id: string): boolean => {
  const [start = '', ...parts] = glob.split('*')
  const end = parts.pop()
  if (end === undefined) return glob === id
  if (!id.startsWith(start)) return false
  let position = start.length
  for (const part of parts) {
    const found = id.indexOf(part, position)
    if (found === -1) return false
    position = found + part.length
  }
  return id.length - end.length >= position && id.endsWith(end)
}

/**
 * Makes an id in kebab-case from a name. Returns `fallback` if the name has no ASCII letter or digit. The time to
 * normalize combining marks grows with the square of their number: only this module normalizes, and a bounded part.
 */
export const toSlug = (name: string, fallback: string): string =>
  name
    .slice(0, MAX_NAME_LENGTH)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, 63)
    .replace(/-$/, '') || fallback

/** Returns a text in lower case, without differences of width (NFKC). Of combining marks, the first few stay. */
export const foldText = (text: string): string =>
  text
    .replace(/(\p{M}{8})\p{M}+/gu, '$1')
    .normalize('NFKC')
    .toLowerCase()
