import type { AgentCard } from './agent-card.ts'
import type { DialectName } from './dialects/dialect.ts'
import { writeHybrid } from './dialects/hybrid.ts'
import { dialectNames, dialects } from './dialects/index.ts'
import { type JsonObject, sameJson, without } from './json.ts'
import type { Pointer } from './pointer.ts'

/** The public documents of one agent: the hybrid of either well-known path, and each dialect by its name. */
export const representationNames = ['agent-card.json', 'agent.json', ...dialectNames] as const
export type RepresentationName = 'agent-card.json' | 'agent.json' | DialectName

/** A card as its author wrote it. */
export type Authored = { dialect: DialectName; document: JsonObject }

/** Endpoint fields, which follow the manifest rather than the author where a card is served for a gateway. */
const endpoints = ['url', 'supportedInterfaces', 'additionalInterfaces', 'preferredTransport']

/** Writes every representation of a complete card, and says what each dialect had no place for. */
export const represent = (
  card: AgentCard,
  authored: Authored,
  route: 'direct' | 'gateway' | 'closed',
): { documents: Record<RepresentationName, JsonObject>; dropped: Record<DialectName, Pointer[]> } => {
  const dropped = {} as Record<DialectName, Pointer[]>
  const own = {} as Record<DialectName, JsonObject>
  for (const name of dialectNames) {
    const dialect = dialects[name]
    const written = dialect.write(card)
    const restored = name === authored.dialect && dialect.restore ? dialect.restore(authored.document, card) : undefined
    dropped[name] = restored ? [] : written.dropped
    own[name] = verifiable(
      restored ? reroute(restored, written.document, route) : written.document,
      authored,
      dropped[name],
    )
  }
  return {
    documents: {
      'agent-card.json': without(writeHybrid(card, 'agent-card.json'), 'signatures'),
      'agent.json': without(writeHybrid(card, 'agent.json'), 'signatures'),
      ...own,
    },
    dropped,
  }
}

const reroute = (restored: JsonObject, written: JsonObject, route: string): JsonObject =>
  route === 'gateway'
    ? {
        ...without(restored, ...endpoints),
        ...Object.fromEntries(Object.entries(written).filter(([name]) => endpoints.includes(name))),
      }
    : restored

/** A signature over another document than the one served would only fail: it stays where nothing else changed. */
const verifiable = (document: JsonObject, authored: Authored, dropped: Pointer[]): JsonObject => {
  if (document.signatures === undefined) return document
  if (sameJson(document, authored.document)) return document
  dropped.push('/signatures')
  return without(document, 'signatures')
}
