import type { JsonObject } from '../json.ts'
import type { Dialect, DialectName } from './dialect.ts'
import { gopherhole } from './gopherhole.ts'
import { shaman } from './shaman.ts'
import { superx } from './superx.ts'
import { telex } from './telex.ts'
import { v0_3 } from './v0-3.ts'
import { v1_0 } from './v1-0.ts'

/** Every dialect, the most telling marks first: the first that knows a card reads it. GopherHole takes what is left. */
export const dialects: Record<DialectName, Dialect> = {
  '1.0': v1_0,
  superx,
  telex,
  shaman,
  '0.3': v0_3,
  gopherhole,
}

/** The names of the dialects, in the order of the table. */
export const dialectNames = Object.keys(dialects) as DialectName[]

/** The dialect that a card is written in. */
export const detectDialect = (card: JsonObject): DialectName =>
  dialectNames.find(name => dialects[name].detect(card)) ?? 'gopherhole'
