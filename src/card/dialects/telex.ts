import * as v from 'valibot'
import { isJsonObject } from '../../json/index.ts'
import { looseObject, stringList } from '../model/index.ts'
import { absentMeansFalse } from '../read/index.ts'
import { anything, type Dialect, defineV0Dialect } from './dialect.ts'

const object = v.nullish(looseObject({}))

/** Telex's card, as Etymo writes it: v0.2 with message exchanges as examples. */
export const telex: Dialect = {
  ...defineV0Dialect({
    card: { supportedProtocols: v.nullish(stringList), metadata: object },
    capabilities: { contextWindow: v.nullish(v.custom<number>(Number.isFinite, 'must be a number of tokens')) },
    provider: { email: v.nullish(v.string()), contactEmail: anything },
    skill: { parameters: object },
  }),
  detect: card =>
    'supportedProtocols' in card ||
    (isJsonObject(card.authentication) && ('required' in card.authentication || 'methods' in card.authentication)) ||
    (isJsonObject(card.capabilities) && 'contextWindow' in card.capabilities),
  capabilityDefaults: () => absentMeansFalse('Telex'),
}
