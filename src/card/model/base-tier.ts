// By itself, so that who asks for it loads no schema.

/** The tier of the first extended card: what every caller reads whose token names no other tier of the agent. */
export const baseTier = 'base'
