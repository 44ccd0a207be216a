import { isObject } from '../json.ts'
import type { Dialect } from './dialect.ts'
import { inOtherWords } from './v0-3.ts'

/** Telex's card, as Etymo writes it: v0.2 with examples as exchanges of messages. */
export const telex: Dialect = {
  ...inOtherWords({}, '0.3'),
  detect: card =>
    'supportedProtocols' in card ||
    (isObject(card.authentication) && ('required' in card.authentication || 'methods' in card.authentication)) ||
    (isObject(card.capabilities) && 'contextWindow' in card.capabilities),
  // Telex documents false for what is not declared.
  capabilities: () => ({ streaming: false, pushNotifications: false }),
}
