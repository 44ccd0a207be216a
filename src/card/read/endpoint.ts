import type { JsonObject } from '../../json/json.ts'

/** The fields by which a card says where its agent is, in either spelling. */
export const endpointFields = [
  'url',
  'supportedInterfaces',
  'supported_interfaces',
  'additionalInterfaces',
  'additional_interfaces',
  'interfaces',
] as const

/** The fields of a card that say where its agent is; none where it does not say. */
export const presentEndpointFields = (card: JsonObject): string[] =>
  endpointFields.filter(name => {
    const value = card[name]
    return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)
  })
