/** What one card or manifest may hold (design §9). Sizes in bytes or UTF-16 units, depth in levels. */
export const limits = {
  bodyBytes: 256 * 1024,
  depth: 64,
  string: 16 * 1024,
  /** Members of one object, or items of one list. */
  members: 1000,
  skills: 500,
  interfaces: 100,
  hosts: 20,
  page: 100,
} as const

/** The form of an agent's id. */
export const agentId = /^[a-z0-9][a-z0-9-]{0,62}$/

/** In characters: a random ADMIN_TOKEN of so many is not guessed, though nobody counts what may be the agents' own credentials. */
export const minAdminTokenLength = 16
