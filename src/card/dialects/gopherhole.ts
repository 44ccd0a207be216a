import * as v from 'valibot'
import { formatPointer, isJsonObject, omit } from '../../json/index.ts'
import { type AgentCard, link } from '../model/index.ts'
import { applyAliases, modeDefaults, pickV1Interface, superxProtocol, topLevelVersion } from '../read/index.ts'
import { type Dialect, readOwn, writeV0 } from './dialect.ts'

/** The capabilities that GopherHole adds to a card that it serves. */
const defaultFlags = { streaming: true, pushNotifications: true, extendedAgentCard: false, multiTurn: true }

/** GopherHole's card. The last in the table: it requires only name, description and url, so any card may be one. */
export const gopherhole: Dialect = {
  detect: () => true,
  capabilityDefaults: ({ protocolVersion }) => {
    // A card of A2A has `protocolVersion` up to 0.3, and `supportedInterfaces` from 1.0 on.
    const missing = protocolVersion === undefined ? 'protocolVersion' : 'supportedInterfaces'
    return { flags: defaultFlags, reason: `GopherHole's default, as no \`${missing}\` is given`, isAssumed: true }
  },
  ...readOwn({ card: { termsOfServiceUrl: v.nullish(link), privacyPolicyUrl: v.nullish(link) } }, '1.0'),
  write: card => {
    const primary = pickV1Interface(card.supportedInterfaces)
    const { document, dropped } = writeV0(card, primary)
    const otherInterfaces = card.supportedInterfaces.flatMap((_, index) =>
      index === primary ? [] : [formatPointer('supportedInterfaces', index)],
    )
    // JSONRPC is implied, unless the card has another field that may name a transport.
    const isImplied = document.preferredTransport === 'JSONRPC' && (card.protocol ?? card.transport) === undefined
    const omitted = ['additionalInterfaces', 'supportsAuthenticatedExtendedCard']
    if (isImplied) omitted.push('preferredTransport')
    const losesProtocol = card.protocol === superxProtocol(card.supportedInterfaces.slice(primary, primary + 1))
    return {
      document: { ...applyAliases(omit(document, ...omitted), 'gopherhole'), capabilities: card.capabilities },
      dropped: [...dropped, ...otherInterfaces, ...(losesProtocol ? ['/protocol'] : [])],
    }
  },
  writeAuthored: (authored, card) => {
    const declared = isJsonObject(authored.capabilities) ? authored.capabilities : card.capabilities
    return {
      ...authored,
      protocolVersion: authored.protocolVersion ?? gopherholeVersion(card),
      capabilities: { ...defaultFlags, ...declared },
      supportedInputModes: authored.supportedInputModes ?? [...modeDefaults],
      supportedOutputModes: authored.supportedOutputModes ?? [...modeDefaults],
    }
  },
}

/** Returns the top-level `protocolVersion` for GopherHole's readers. */
export const gopherholeVersion = (card: AgentCard): string => {
  const chosen = card.supportedInterfaces[pickV1Interface(card.supportedInterfaces)]
  return chosen === undefined ? '1.0' : topLevelVersion(card, chosen)
}
