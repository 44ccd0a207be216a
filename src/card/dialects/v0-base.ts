import type * as v from 'valibot'
import { formatPointer, type JsonObject, omit, type Pointer } from '../../json/json.ts'
import type { AgentCard, AgentSkill } from '../model/agent-card.ts'
import { readCard } from '../read/card.ts'
import { applyAliases, type DialectAliases } from '../read/field-names.ts'
import { pickV0Interface, writeV0Interfaces } from '../read/interfaces.ts'
import { writeV0Requirements } from '../read/security-requirements.ts'
import { writeV0Scheme } from '../read/security-schemes.ts'
import { checkFields, type Dialect, sharedFields, type Written } from './dialect.ts'

/** Writes the fields of v0.3 with the endpoint at `main` on top; unknown fields stay. The base of every dialect but 1.0. */
export const writeV0 = (card: AgentCard, main: number): Written => {
  const {
    name,
    description,
    supportedInterfaces,
    capabilities,
    securitySchemes,
    securityRequirements,
    skills,
    ...others
  } = card
  const { fields, dropped } = writeV0Interfaces(supportedInterfaces, main)
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

const writeSchemes = (schemes: Record<string, JsonObject>): JsonObject =>
  Object.fromEntries(Object.entries(schemes).map(([name, scheme]) => [name, writeV0Scheme(scheme)]))

const writeSkill = ({ securityRequirements, ...rest }: AgentSkill, at: Pointer, dropped: Pointer[]): JsonObject => ({
  ...rest,
  ...(securityRequirements && { security: writeV0Requirements(securityRequirements, at, dropped) }),
})

/** A dialect that is v0.3 in other words and with fields of its own; what its author wrote comes back as it was. */
export const defineV0Dialect = (
  vocabulary: DialectAliases,
  fields: v.ObjectEntries,
): Required<Pick<Dialect, 'read' | 'write' | 'writeAuthored'>> => ({
  read: (card, provenance) => {
    checkFields(card, { ...sharedFields, ...fields }, provenance)
    return readCard(card, '0.3', provenance)
  },
  write: card => {
    const { document, dropped } = writeV0(card, pickV0Interface(card.supportedInterfaces))
    return { document: applyAliases(document, vocabulary), dropped }
  },
  writeAuthored: authored => authored,
})
