import * as v from 'valibot'
import { formatPointer, isJsonObject, omit } from '../../json/json.ts'
import type { AgentCard } from '../model/agent-card.ts'
import { toPatchVersion } from '../model/calls.ts'
import { link } from '../model/schema.ts'
import { readCard } from '../read/card.ts'
import { capabilityDefaults, modeDefaults } from '../read/defaults.ts'
import { applyAliases, fieldAliases } from '../read/field-names.ts'
import { pickV1Interface, superxProtocol } from '../read/interfaces.ts'
import { checkFields, type Dialect } from './dialect.ts'
import { writeV0 } from './v0-base.ts'

const fields = { termsOfServiceUrl: v.nullish(link), privacyPolicyUrl: v.nullish(link) }

/** GopherHole's card. It comes last: name, description and url are all that it asks for, so any card may be one. */
export const gopherhole: Dialect = {
  detect: () => true,
  read: (card, provenance) => {
    checkFields(card, fields, provenance)
    return readCard(card, '1.0', provenance)
  },
  write: card => {
    const main = pickV1Interface(card.supportedInterfaces)
    const { document, dropped } = writeV0(card, main)
    const others = card.supportedInterfaces.flatMap((_, index) =>
      index === main ? [] : [formatPointer('supportedInterfaces', index)],
    )
    // A reader takes JSONRPC for granted, unless SuperX's word is there and says otherwise.
    const protocolLost = card.protocol === superxProtocol(card.supportedInterfaces.slice(main, main + 1))
    const implied = document.preferredTransport === 'JSONRPC' && card.protocol === undefined
    const unsaid = [
      'additionalInterfaces',
      'supportsAuthenticatedExtendedCard',
      ...(implied ? ['preferredTransport'] : []),
    ]
    return {
      document: {
        ...applyAliases(omit(document, ...unsaid), fieldAliases.gopherhole),
        capabilities: card.capabilities,
      },
      dropped: [...dropped, ...others, ...(protocolLost ? ['/protocol'] : [])],
    }
  },
  writeAuthored: (authored, card) => {
    const declared = isJsonObject(authored.capabilities) ? authored.capabilities : card.capabilities
    return {
      ...authored,
      protocolVersion: authored.protocolVersion ?? gopherholeVersion(card),
      capabilities: { ...capabilityDefaults, ...declared },
      supportedInputModes: authored.supportedInputModes ?? [...modeDefaults],
      supportedOutputModes: authored.supportedOutputModes ?? [...modeDefaults],
    }
  },
}

/** The protocol version that GopherHole's readers are told. */
export const gopherholeVersion = (card: AgentCard): string =>
  toPatchVersion(card.supportedInterfaces[pickV1Interface(card.supportedInterfaces)]?.protocolVersion ?? '1.0')
