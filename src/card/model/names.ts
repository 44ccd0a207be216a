/** The shapes of a card that this host reads and writes, the most telling marks first: so are they looked for. */
export const dialectNames = ['1.0', 'superx', 'telex', 'shaman', '0.3', 'gopherhole'] as const
export type DialectName = (typeof dialectNames)[number]
