import type * as v from 'valibot'
import { formatPointer, isJsonObject, type JsonObject, omit, type Pointer } from '../../json/index.ts'
import type { AgentCard, AgentSkill } from '../model/index.ts'
import {
  applyAliases,
  type DialectAliases,
  pickV0Interface,
  readCard,
  writeV0Interfaces,
  writeV0Requirements,
  writeV0Scheme,
} from '../read/index.ts'
import { checkFields, type Dialect, sharedV0Fields, type Written } from './dialect.ts'

/** Defines a dialect that is v0.3 with aliases and fields of its own. A card authored in it is served as it was written. */
export const defineV0Dialect = (
  aliases: DialectAliases,
  fields: v.ObjectEntries,
): Required<Pick<Dialect, 'read' | 'write' | 'writeAuthored'>> => ({
  read: (card, provenance) => {
    checkFields(card, { ...sharedV0Fields, ...fields }, provenance)
    return readCard(card, '0.3', provenance)
  },
  write: card => {
    const { document, dropped } = writeV0(card, pickV0Interface(card.supportedInterfaces))
    return { document: applyAliases(document, aliases), dropped }
  },
  writeAuthored: authored => authored,
})

/**
 * Writes a card with the fields of v0.3, the base of every dialect but 1.0. `primary` is the index of the interface at the top
 * level. Keeps unknown fields.
 */
export const writeV0 = (card: AgentCard, primary: number): Written => {
  const {
    name,
    description,
    supportedInterfaces,
    protocolVersion,
    capabilities,
    securitySchemes,
    securityRequirements,
    skills,
    ...others
  } = card
  const { fields, dropped } = writeV0Interfaces({ supportedInterfaces, protocolVersion }, primary)
  return {
    document: {
      name,
      description,
      ...fields,
      ...others,
      capabilities: omit(capabilities, 'extendedAgentCard'),
      supportsAuthenticatedExtendedCard: capabilities.extendedAgentCard ?? false,
      ...(securitySchemes && { securitySchemes: writeSchemes(securitySchemes) }),
      ...(securityRequirements && { security: writeV0Requirements(securityRequirements, '', dropped) }),
      skills: skills.map((skill, index) => writeSkill(skill, formatPointer('skills', index), dropped)),
    },
    dropped,
  }
}

/** Leaves out a provider without an organization or URL: every version of A2A requires both. */
export const omitIncompleteProvider = (document: JsonObject): JsonObject => {
  const { provider } = document
  const isIncomplete = isJsonObject(provider) && (provider.organization === undefined || provider.url === undefined)
  return isIncomplete ? omit(document, 'provider') : document
}

const writeSchemes = (schemes: Record<string, JsonObject>): JsonObject =>
  Object.fromEntries(Object.entries(schemes).map(([name, scheme]) => [name, writeV0Scheme(scheme)]))

const writeSkill = ({ securityRequirements, ...rest }: AgentSkill, at: Pointer, dropped: Pointer[]): JsonObject => ({
  ...rest,
  ...(securityRequirements && { security: writeV0Requirements(securityRequirements, at, dropped) }),
})
