const name = 'CallingCard'

/** What this host calls itself where it fetches cards; `origin` tells those who wonder where it is. */
export const userAgent = (origin?: string): string => (origin === undefined ? name : `${name} (+${origin})`)

/**
 * Whether a card host asks for a card of its own: that sets off no refresh here. So hosts that have cards of each other ask
 * each for itself, by their own clocks, and never in a chain or a circle.
 */
export const isCardHost = (headers: Headers): boolean => headers.get('User-Agent')?.startsWith(name) === true
