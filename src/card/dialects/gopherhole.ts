import type { AgentCard } from '../agent-card.ts'
import { capabilityDefaults, modeDefaults } from '../defaults.ts'
import { v1Interface } from '../interfaces.ts'
import { isObject, type Json, type JsonObject, without } from '../json.ts'
import { withPatch } from '../protocol-version.ts'
import { readCard } from '../read-card.ts'
import type { Dialect } from './dialect.ts'
import { speak, writeV0 } from './v0-3.ts'

const vocabulary = {
  card: [
    ['supportedInputModes', 'defaultInputModes'],
    ['supportedOutputModes', 'defaultOutputModes'],
  ],
} as const

/** GopherHole's card. A card with none of the others' marks is one: name, description and url are all it asks for. */
export const gopherhole: Dialect = {
  detect: card => typeof card.protocol !== 'string',
  read: (card, reading) => readCard(card, vocabulary, '1.0', reading),
  write: card => {
    const main = v1Interface(card.supportedInterfaces)
    const { document, dropped } = writeV0(card, main)
    const additional = card.supportedInterfaces.flatMap((_, index) =>
      index === main ? [] : [`/supportedInterfaces/${index}`],
    )
    const spoken = without(speak(document, vocabulary), 'additionalInterfaces', 'supportsAuthenticatedExtendedCard')
    return {
      document: {
        ...(spoken.preferredTransport === 'JSONRPC' ? without(spoken, 'preferredTransport') : spoken),
        capabilities: card.capabilities as JsonObject,
      },
      dropped: [...dropped.filter(place => !additional.includes(place)), ...additional],
    }
  },
  restore: (authored, card) => {
    const declared = isObject(authored.capabilities) ? authored.capabilities : card.capabilities
    return {
      ...authored,
      protocolVersion: authored.protocolVersion ?? gopherholeVersion(card),
      capabilities: { ...declared, ...missing(declared as JsonObject, capabilityDefaults) } as JsonObject,
      supportedInputModes: authored.supportedInputModes ?? [...modeDefaults],
      supportedOutputModes: authored.supportedOutputModes ?? [...modeDefaults],
    }
  },
}

/** The protocol version that GopherHole's readers are told. */
export const gopherholeVersion = (card: AgentCard): string =>
  withPatch(card.supportedInterfaces[v1Interface(card.supportedInterfaces)]?.protocolVersion ?? '1.0')

const missing = (declared: JsonObject, defaults: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(defaults).filter(([name]) => declared[name] === undefined)) as Record<string, Json>
