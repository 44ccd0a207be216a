import * as v from 'valibot'
import { isJsonObject } from '../../json/json.ts'
import { looseObject, stringList } from '../model/schema.ts'
import { type Dialect, inSkills, members } from './dialect.ts'
import { defineV0Dialect } from './v0-base.ts'

const object = v.nullish(looseObject({}))

/** Telex's card, as Etymo writes it: v0.2 with examples as exchanges of messages. */
export const telex: Dialect = {
  ...defineV0Dialect(
    {},
    {
      supportedProtocols: v.nullish(stringList),
      metadata: object,
      capabilities: members({
        contextWindow: v.nullish(v.custom<number>(Number.isFinite, 'must be a number of tokens')),
      }),
      provider: members({ email: v.nullish(v.string()) }),
      skills: inSkills({ parameters: object }),
    },
  ),
  detect: card =>
    'supportedProtocols' in card ||
    (isJsonObject(card.authentication) && ('required' in card.authentication || 'methods' in card.authentication)) ||
    (isJsonObject(card.capabilities) && 'contextWindow' in card.capabilities),
  // Telex documents false for what is not declared.
  capabilities: () => ({ streaming: false, pushNotifications: false }),
}
