import * as v from 'valibot'
import { isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import { anyText, flag, never, open } from '../model/schema.ts'
import type { Provenance } from './provenance.ts'

const name = v.custom<Json>(value => typeof value === 'string' || isJsonObject(value), 'must be the name of a scheme')
const named = v.lazy(value =>
  Array.isArray(value) ? v.array(name) : v.nullish(v.string('must be a list of names, such as ["bearer"]')),
)

/** `authentication` in the forms that it has been seen in: a name, a list of names, an object with them. */
export const Authentication = v.lazy(value =>
  isJsonObject(value)
    ? open({
        schemes: v.optional(named),
        methods: v.optional(named),
        credentials: v.nullish(anyText),
        required: v.nullish(flag),
      })
    : typeof value === 'string' || Array.isArray(value)
      ? named
      : v.nullish(never('must be an object, such as { "schemes": ["bearer"] }')),
)

/**
 * The security that `authentication` stands for: v0.1 and v0.2 cards, SuperX's and Telex's name schemes there. Those that
 * are HTTP's own become real ones; the field itself stays, for there is more to it than that.
 */
export const readAuthentication = (card: JsonObject, reading: Provenance): JsonObject => {
  const { authentication } = card
  const names = [...new Set(schemeNames(authentication))].filter(scheme => scheme === 'bearer' || scheme === 'basic')
  if (names.length === 0) return card
  reading.noteConversion('/authentication', 'read as security schemes')
  reading.mapWhole('/securitySchemes', '/authentication')
  const securitySchemes = Object.fromEntries(names.map(scheme => [scheme, { httpAuthSecurityScheme: { scheme } }]))
  const required = !isJsonObject(authentication) || authentication.required !== false
  if (!required || card.securityRequirements !== undefined) return { ...card, securitySchemes }
  reading.mapWhole('/securityRequirements', '/authentication')
  return {
    ...card,
    securitySchemes,
    securityRequirements: names.map(scheme => ({ schemes: { [scheme]: { list: [] } } })),
  }
}

const schemeNames = (authentication: Json | undefined): string[] => {
  const said = isJsonObject(authentication) ? (authentication.schemes ?? authentication.methods) : authentication
  return (Array.isArray(said) ? said : [said]).flatMap(item => (typeof item === 'string' ? [item.toLowerCase()] : []))
}
