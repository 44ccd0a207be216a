import { isJsonObject, type Json } from '../../json/json.ts'

const isText = (value: Json): boolean => typeof value === 'string'

const isNumber = (value: Json): boolean => typeof value === 'number'

const isListOfTexts = (value: Json): boolean => Array.isArray(value) && value.every(isText)

/** What a member of a schema must be, so that a validator does with it what it is meant to do, at a cost that can be told. */
const kinds: ReadonlyMap<string, (value: Json) => boolean> = new Map([
  ['type', value => isText(value) || isListOfTexts(value)],
  ['enum', Array.isArray],
  ['required', isListOfTexts],
  ['dependentRequired', value => isJsonObject(value) && Object.values(value).every(isListOfTexts)],
  ['pattern', isText],
  ['$ref', isText],
  ...['properties', 'patternProperties', 'dependentSchemas', 'dependencies'].map(name => [name, isJsonObject] as const),
  // Of draft 4, these say of the other bound whether it is one.
  ...['exclusiveMinimum', 'exclusiveMaximum'].map(
    name => [name, (value: Json) => isNumber(value) || typeof value === 'boolean'] as const,
  ),
  ...['minimum', 'maximum', 'multipleOf', 'minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties']
    .concat(['maxProperties', 'minContains', 'maxContains'])
    .map(name => [name, isNumber] as const),
])

/** Whether a member of a schema is of the kind that it must be. */
export const isOfKind = (name: string, value: Json): boolean => kinds.get(name)?.(value) ?? true

/** Members that are one schema, or a list of them. */
export const schemaMembers: ReadonlySet<string> = new Set([
  ...['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'],
  ...['items', 'prefixItems', 'additionalItems', 'unevaluatedItems', 'contains'],
  ...['additionalProperties', 'unevaluatedProperties', 'propertyNames'],
])

/** Members whose members are schemas by name. */
export const schemaMaps: ReadonlySet<string> = new Set([
  ...['properties', 'patternProperties', 'dependentSchemas', 'dependencies', '$defs', 'definitions'],
])

/** Members that are data, whatever it looks like. */
export const dataMembers: ReadonlySet<string> = new Set([
  ...['const', 'enum', 'default', 'examples', 'required', 'dependentRequired'],
])
