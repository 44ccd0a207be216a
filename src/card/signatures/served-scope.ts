import { isJsonObject, type Json, type JsonObject, jsonEntries } from '../../json/index.ts'

/** Which members of a message the rule of A2A 1.0 §8.4.1 leaves out at their default value, and the messages within it. */
type Message = { plain?: readonly string[]; within?: Readonly<Record<string, Message>>; each?: Message }

const requirement: Message = { plain: ['schemes'], within: { schemes: { each: { plain: ['list'] } } } }
const flow: Message = { plain: ['refreshUrl'] }
const flows: Message = {
  within: {
    authorizationCode: { plain: ['refreshUrl', 'pkceRequired'] },
    clientCredentials: flow,
    deviceCode: flow,
    // Deprecated: the proto requires none of their fields.
    implicit: { plain: ['authorizationUrl', 'refreshUrl', 'scopes'] },
    password: { plain: ['tokenUrl', 'refreshUrl', 'scopes'] },
  },
}
const scheme: Message = {
  within: {
    apiKeySecurityScheme: { plain: ['description'] },
    httpAuthSecurityScheme: { plain: ['description', 'bearerFormat'] },
    oauth2SecurityScheme: { plain: ['description', 'oauth2MetadataUrl'], within: { flows } },
    openIdConnectSecurityScheme: { plain: ['description'] },
    mtlsSecurityScheme: { plain: ['description'] },
  },
}

/** a2a.proto: these fields are neither REQUIRED nor `optional`, and have no presence of their own. */
const agentCard: Message = {
  plain: ['securitySchemes', 'securityRequirements'],
  within: {
    supportedInterfaces: { plain: ['tenant'] },
    capabilities: { plain: ['extensions'], within: { extensions: { plain: ['uri', 'description', 'required'] } } },
    securitySchemes: { each: scheme },
    securityRequirements: requirement,
    skills: {
      plain: ['examples', 'inputModes', 'outputModes', 'securityRequirements'],
      within: { securityRequirements: requirement },
    },
  },
}

/**
 * Returns a card without the default values that the specification leaves out of a signature. Unknown fields, required ones, and those
 * that the author left out stay as they are.
 */
export const servedScope = (card: JsonObject): JsonObject => reduce(card, agentCard)

const reduce = (object: JsonObject, { plain = [], within = {}, each }: Message): JsonObject =>
  Object.fromEntries(
    jsonEntries(object)
      .filter(([name, value]) => !(plain.includes(name) && isDefault(value)))
      .map(([name, value]) => {
        const message = each ?? (Object.hasOwn(within, name) ? within[name] : undefined)
        return [name, message === undefined ? value : reduceValue(value, message)]
      }),
  )

/** A list has the message in each of its items. */
const reduceValue = (value: Json, message: Message): Json => {
  if (Array.isArray(value)) return value.map(item => reduceValue(item, message))
  return isJsonObject(value) ? reduce(value, message) : value
}

const isDefault = (value: Json): boolean =>
  value === '' ||
  value === false ||
  (Array.isArray(value) && value.length === 0) ||
  (isJsonObject(value) && Object.keys(value).length === 0)
