import { asObject, formatPointer, type Json, omit, toText } from '../../json/index.ts'
import { absentMeansFalse, getWrappers, hasField, schemeWrappers } from '../read/index.ts'
import { anything, type Dialect, omitIncompleteProvider, readV0, type Written, writeV0 } from './dialect.ts'

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
    hasWrappedScheme(card.securitySchemes ?? card.security_schemes),
  capabilityDefaults: () => absentMeansFalse('A2A 0.3'),
  ...readV0({ card: { interfaces: anything } }),
  write: card => dropIncomplete(writeV0(card)),
}

/** Returns whether a security scheme is in the form of the proto, which v0.3 has besides its JSON Schema. */
const hasWrappedScheme = (schemes: Json | undefined): boolean =>
  Object.values(asObject(schemes)).some(scheme => getWrappers(asObject(scheme)).length > 0)

/** Drops a provider and security schemes that are incomplete objects, which v0.3's schema does not allow. */
const dropIncomplete = ({ document, dropped }: Written): Written => {
  const kept = omitIncompleteProvider(document)
  const schemes = asObject(document.securitySchemes)
  const unknown = Object.keys(schemes).filter(name => !schemeWrappers.has(toText(asObject(schemes[name]).type)))
  const pointers = unknown.map(name => formatPointer('securitySchemes', name))
  return {
    document: { ...kept, ...(unknown.length > 0 && { securitySchemes: omit(schemes, ...unknown) }) },
    dropped: [...dropped, ...(kept === document ? [] : ['/provider']), ...pointers],
  }
}
