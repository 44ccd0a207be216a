import { formatPointer, isJsonObject, type Json, type JsonObject, mapMembers } from '../../json/index.ts'
import type { CapabilityDefaults } from '../model/index.ts'
import type { Provenance } from './provenance.ts'

/** The defaults of A2A, where an absent capability means false, for a card in the named format. */
export const absentMeansFalse = (format: string): CapabilityDefaults => ({
  flags: { streaming: false, pushNotifications: false, extendedAgentCard: false },
  reason: `an absent capability means false in ${format}`,
})

/** GopherHole's default media types for input and output. */
export const modeDefaults = ['text/plain', 'application/json'] as const

/** Adds capabilities by the defaults of the dialect, then what A2A requires. Authored values of any type stay. */
export const fillDefaults = (card: JsonObject, capabilityDefaults: CapabilityDefaults, provenance: Provenance) => {
  const { name, description, capabilities, securitySchemes } = card
  const filled: JsonObject = {
    ...card,
    ...(isJsonObject(capabilities) && {
      capabilities: fillCapabilities(capabilities, capabilityDefaults, provenance),
    }),
    ...(isJsonObject(securitySchemes) && {
      securitySchemes: mapMembers(securitySchemes, (scheme, name) => fillScheme(scheme, name, provenance)),
    }),
  }
  const defaults: Record<string, Json> = {
    version: '1.0.0',
    defaultInputModes: [...modeDefaults],
    defaultOutputModes: [...modeDefaults],
    skills: [mapMembers({ id: 'main', name, description, tags: ['general'] }, value => value)],
  }
  for (const [field, value] of Object.entries(defaults)) {
    const authored = card[field]
    if (authored !== undefined && !(Array.isArray(authored) && authored.length === 0)) continue
    provenance.noteDefault(formatPointer(field), `set to ${JSON.stringify(value)}`)
    filled[field] = value
  }
  return filled
}

const fillCapabilities = (
  declared: JsonObject,
  { flags, reason, isAssumed }: CapabilityDefaults,
  provenance: Provenance,
): JsonObject => {
  const missing = Object.entries(flags).filter(([name]) => !(name in declared))
  for (const [name, value] of missing) {
    const assumed = `will be advertised as supported; set it to true or false (${reason})`
    const message = value && isAssumed ? assumed : `set to ${value}: ${reason}`
    provenance.noteDefault(formatPointer('capabilities', name), message)
  }
  return { ...declared, ...Object.fromEntries(missing) }
}

/** Describes mutual TLS, which has no other members: most SDKs' signatures cover no scheme that is empty. */
const fillScheme = (scheme: Json, name: string, provenance: Provenance): Json => {
  const { mtlsSecurityScheme: mtls } = isJsonObject(scheme) ? scheme : {}
  if (!isJsonObject(scheme) || !isJsonObject(mtls) || (mtls.description ?? '') !== '') return scheme
  provenance.noteDefault(
    formatPointer('securitySchemes', name, 'mtlsSecurityScheme', 'description'),
    `set to "${MTLS_DESCRIPTION}": most verifiers of signatures leave out a scheme that is empty`,
  )
  return { ...scheme, mtlsSecurityScheme: { ...mtls, description: MTLS_DESCRIPTION } }
}

const MTLS_DESCRIPTION = 'Mutual TLS'
