import { asObject, formatPointer, omit, toText } from '../../json/index.ts'
import { absentMeansFalse, getWrappers, hasField, schemeWrappers } from '../read/index.ts'
import { anything, type Dialect, omitIncompleteProvider, readV0, writeV0 } from './dialect.ts'

/** Fields of v0.1, v0.2 and v0.3 that GopherHole's card does not have. */
const markerFields = new Set([
  ...['defaultInputModes', 'defaultOutputModes', 'preferredTransport', 'additionalInterfaces', 'authentication'],
  ...['supportsAuthenticatedExtendedCard', 'interfaces', 'signatures'],
])

/** Capabilities of A2A that GopherHole does not have. */
const markerCapabilities = new Set(['stateTransitionHistory', 'extensions'])

/** A2A v0.3. Reads v0.2 and v0.1 as well. */
export const v0_3: Dialect = {
  detect: card =>
    hasField(card, 'card', markerFields) ||
    hasField(card.capabilities, 'capabilities', markerCapabilities) ||
    /^v?0\./i.test(toText(card.protocolVersion ?? card.protocol_version)) ||
    // In the form of the proto, which v0.3 has besides its JSON Schema.
    Object.values(asObject(card.securitySchemes ?? card.security_schemes)).some(
      scheme => getWrappers(asObject(scheme)).length > 0,
    ),
  capabilityDefaults: () => absentMeansFalse('A2A 0.3'),
  ...readV0({ card: { interfaces: anything } }),
  // Its schema allows neither a provider nor security schemes that are incomplete objects.
  write: card => {
    const { document, dropped } = writeV0(card)
    const kept = omitIncompleteProvider(document)
    const schemes = asObject(document.securitySchemes)
    const unknown = Object.keys(schemes).filter(name => !schemeWrappers.has(toText(asObject(schemes[name]).type)))
    const pointers = unknown.map(name => formatPointer('securitySchemes', name))
    return {
      document: { ...kept, ...(unknown.length > 0 && { securitySchemes: omit(schemes, ...unknown) }) },
      dropped: [...dropped, ...(kept === document ? [] : ['/provider']), ...pointers],
    }
  },
}
