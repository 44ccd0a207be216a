import { formatPointer, isJsonObject, omit } from '../../json/json.ts'
import { readCard } from '../read/card.ts'
import { pickV0Interface } from '../read/interfaces.ts'
import { checkFields, type Dialect, sharedFields, type Written } from './dialect.ts'
import { writeV0 } from './v0-base.ts'

/** Fields that v0.1, v0.2 and v0.3 cards have and GopherHole's do not. */
const marks = [
  'defaultInputModes',
  'defaultOutputModes',
  'default_input_modes',
  'preferredTransport',
  'additionalInterfaces',
  'supportsAuthenticatedExtendedCard',
  'authentication',
  'interfaces',
]

/** A2A v0.3; v0.2 and v0.1 cards are read as well. */
export const v0_3: Dialect = {
  detect: card =>
    marks.some(name => name in card) ||
    /^0\./.test(String(card.protocolVersion ?? card.protocol_version ?? '')) ||
    (isJsonObject(card.capabilities) && 'stateTransitionHistory' in card.capabilities),
  read: (card, provenance) => {
    checkFields(card, sharedFields, provenance)
    return readCard(card, '0.3', provenance)
  },
  write: card => withoutMisfits(writeV0(card, pickV0Interface(card.supportedInterfaces))),
}

/** v0.3's schema is open, but what it names must be whole: takes out what is not. */
const withoutMisfits = ({ document, dropped }: Written): Written => {
  const { provider, securitySchemes } = document
  const partial = isJsonObject(provider) && (provider.organization === undefined || provider.url === undefined)
  const schemes = isJsonObject(securitySchemes) ? securitySchemes : {}
  const misfits = Object.keys(schemes).filter(name => !isKnownScheme(schemes[name]))
  return {
    document: {
      ...(partial ? omit(document, 'provider') : document),
      ...(misfits.length > 0 && { securitySchemes: omit(schemes, ...misfits) }),
    },
    dropped: [
      ...dropped,
      ...(partial ? ['/provider'] : []),
      ...misfits.map(name => formatPointer('securitySchemes', name)),
    ],
  }
}

const isKnownScheme = (scheme: unknown): boolean =>
  isJsonObject(scheme) && ['apiKey', 'http', 'oauth2', 'openIdConnect', 'mutualTLS'].includes(String(scheme.type))
