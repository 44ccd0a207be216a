import type { JsonObject } from '../../json/index.ts'
import { type DialectName, dialectNames } from '../model/index.ts'
import type { Dialect } from './dialect.ts'
import { gopherhole } from './gopherhole.ts'
import { shaman } from './shaman.ts'
import { superx } from './superx.ts'
import { telex } from './telex.ts'
import { v0_3 } from './v0-3.ts'
import { v1_0 } from './v1-0.ts'

/** Every dialect by name. */
export const dialects: Record<DialectName, Dialect> = {
  '1.0': v1_0,
  superx,
  telex,
  shaman,
  '0.3': v0_3,
  gopherhole,
}

/** Returns the first dialect that recognizes a card; GopherHole recognizes any. */
export const detectDialect = (card: JsonObject): DialectName =>
  dialectNames.find(name => dialects[name].detect(card)) ?? 'gopherhole'
