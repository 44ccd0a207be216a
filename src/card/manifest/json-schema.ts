import { type ConversionConfig, toJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { isJsonObject, type JsonObject, mapMembers, omit } from '../../json/index.ts'
import { cardDescriptions, manifestDescriptions } from './field-descriptions.ts'
import { Manifest, manifestFields } from './manifest.ts'
import { privateMembers } from './upstream-keys.ts'

/**
 * Returns the JSON Schema (draft 7) of what `readManifest` accepts: a manifest, or a bare card. It is generated from the
 * valibot schema, for editors. It rejects no valid document; a few rules are beyond it, such as the syntax of host names.
 * It compiles in the strict mode of ajv, which wants a type beside each keyword and each required member among the
 * properties.
 */
export const createManifestSchema = (): JsonObject => ({
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Calling Card manifest',
  description: 'An Agent Card, and how a Calling Card host serves it.',
  type: 'object',
  if: manifestForm,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema, in an object that nobody awaits.
  then: complete(convertManifest(), ''),
  else: {
    allOf: [card],
    // Fields of the manifest would have no effect in a bare card.
    properties: Object.fromEntries(manifestFields.map(name => [name, false])),
  },
  definitions: { card: describeCard() },
})

/** `card` is required, unless it is fetched: `conditions` says so. */
const convertManifest = (): JsonObject => {
  const { required, properties, ...manifest } = convert(Manifest)
  return { ...manifest, properties: { $schema: {}, ...(isJsonObject(properties) && properties) } }
}

const has = (...names: string[]): JsonObject => ({
  required: names,
  properties: Object.fromEntries(names.map(name => [name, {}])),
})

/** Keywords for values of one type, which accept values of every other. */
const ifType = (type: string, keywords: JsonObject): JsonObject => ({
  anyOf: [{ type, ...keywords }, { not: { type } }],
})

const hasCard: JsonObject = { ...has('card'), properties: { card: { type: 'object' } } }

/** What `readManifest` takes for a manifest and not for a bare card. */
const manifestForm: JsonObject = {
  anyOf: [hasCard, { not: has('name'), anyOf: ['card', ...manifestFields].map(name => has(name)) }],
}

/** A card, and what Shaman's front matter has in one. */
const card: JsonObject = {
  allOf: [{ $ref: '#/definitions/card' }, { properties: { exposed: { type: 'boolean' } } }],
}

/** The schema of a value may depend on the value. These values lead to each of them. */
const probes = ['', 'first-use', [], {}, { scope: '' }, { claim: '' }]

/** How the schemas of this host are converted: with what they have besides valibot's own types. */
export const conversionConfig: ConversionConfig = {
  // JSON Schema has no functions: `conditions` has what it can express of the checks.
  ignoreActions: ['check', 'transform'],
  overrideSchema: ({ valibotSchema }) => {
    if (isLazy(valibotSchema)) return anyOf(probes.map(valibotSchema.getter))
    if (valibotSchema.type !== 'custom') return undefined
    return v.is(valibotSchema, []) ? {} : { type: 'object' }
  },
  overrideAction: ({ valibotAction, jsonSchema }) => {
    if (!isRegex(valibotAction)) return undefined
    const { source } = valibotAction.requirement
    const pattern = toPattern(valibotAction.requirement)
    // The converter sets the pattern of the first expression only.
    return jsonSchema.pattern === source && !jsonSchema.allOf
      ? { ...jsonSchema, pattern }
      : { ...jsonSchema, allOf: [...(jsonSchema.allOf ?? []), { pattern }] }
  },
}

type Lazy = v.GenericSchema & { getter: (input: unknown) => v.GenericSchema }

const isLazy = (schema: object): schema is Lazy => 'getter' in schema

/** Other actions with an expression are converted to a format, such as that of times. */
const isRegex = (action: { type: string }): action is { type: 'regex'; requirement: RegExp } => action.type === 'regex'

/** A pattern of JSON Schema has no flags, and is read as Unicode. */
const toPattern = ({ source, ignoreCase }: RegExp): string => (ignoreCase ? source.replaceAll('a-z', 'A-Za-z') : source)

const anyOf = (schemas: readonly v.GenericSchema[]): JsonObject => {
  const possible = schemas.filter(({ type }) => type !== 'never').map(schema => JSON.stringify(convert(schema)))
  const distinct: JsonObject[] = [...new Set(possible)].map(text => JSON.parse(text))
  return distinct.length > 1 ? { anyOf: distinct } : { ...distinct[0] }
}

const convert = (schema: v.GenericSchema): JsonObject => {
  const converted: JsonObject = JSON.parse(JSON.stringify(toJsonSchema(schema, conversionConfig)))
  return omit(converted, '$schema', '$defs')
}

const url: JsonObject = { pattern: '^[Hh][Tt][Tt][Pp][Ss]?://(?![^/?#]*@)[^\\s<>{}\\\\]+$' }

const base64url: JsonObject = { type: 'string', pattern: '^[\\w-]+$' }

/** A public JWK of one type. */
const publicJwk = (kty: string, members: JsonObject): JsonObject => ({
  ...{ type: 'object', required: ['kty', ...Object.keys(members)] },
  properties: {
    ...{ kty: { const: kty }, kid: { type: 'string' }, alg: { type: 'string' }, use: { const: 'sig' }, ...members },
    ...Object.fromEntries(privateMembers.map(name => [name, false])),
  },
})

/** A source of keys. The JSON Schema of the manifest has their types already. */
const keySource: JsonObject = {
  anyOf: [
    { allOf: [{ not: { type: 'object' } }, { not: { type: 'string' } }] },
    publicJwk('EC', { crv: { enum: ['P-256', 'P-384', 'P-521'] }, x: base64url, y: base64url }),
    publicJwk('OKP', { crv: { const: 'Ed25519' }, x: base64url }),
    publicJwk('RSA', { n: base64url, e: base64url }),
    { type: 'string', ...url },
    { type: 'string', pattern: '^did:web:[a-zA-Z0-9.-]+(%3A\\d{1,5})?(:[\\w.~%-]+)*$' },
  ],
}

/** Conditions that valibot checks with functions, by the path of the schema to which they are added. */
const conditions: Readonly<Record<string, JsonObject[]>> = {
  '': [
    {
      anyOf: [
        hasCard,
        { ...has('upstream'), properties: { upstream: { type: 'object', anyOf: [has('card'), has('mcp')] } } },
      ],
    },
  ],
  upstream: [
    { not: has('card', 'mcp') },
    { not: { ...has('identity', 'mcp'), not: has('url') } },
    { anyOf: [{ ...has('mcp'), not: has('url') }, { not: { anyOf: [has('session'), has('defaultTool')] } }] },
    { anyOf: [has('card'), has('mcp'), { not: { anyOf: [has('ttl'), has('staleIfError'), has('pin')] } }] },
    { anyOf: [has('card'), { not: { anyOf: [has('keys'), has('verify')] } }] },
    { anyOf: [has('keys'), { not: has('verify') }, { properties: { verify: { const: 'off' } } }] },
  ],
  'upstream.keys': [{ anyOf: [{ const: 'first-use' }, keySource] }, ifType('array', { items: keySource })],
  'upstream.url': [url],
  'upstream.card': [url],
  'upstream.mcp': [url],
}

/** The parts of a manifest that are cards, or merge patches over one. */
const cards: Readonly<Record<string, JsonObject>> = {
  // With a remote card, it may be empty.
  card: { type: ['object', 'null'], ...card },
  extended: { type: 'object', allOf: [{ $ref: '#/definitions/card' }] },
  'tiers.*': { type: 'object', allOf: [{ $ref: '#/definitions/card' }] },
}

/** Adds descriptions, conditions and the fields of cards to a converted schema and its parts. */
const complete = (converted: JsonObject, path: string, isChoice = false): JsonObject => {
  const description = manifestDescriptions[path]
  const schema: JsonObject = { ...(description !== undefined && { description }), ...(cards[path] ?? converted) }
  const { properties, additionalProperties, anyOf: choices, allOf } = schema
  const conditionsHere = [...(Array.isArray(allOf) ? allOf : []), ...((!isChoice && conditions[path]) || [])]
  const inner = (name: string): string => (path === '' ? name : `${path}.${name}`)
  return {
    ...schema,
    ...(isJsonObject(properties) && {
      properties: mapMembers(properties, (value, name) => (isJsonObject(value) ? complete(value, inner(name)) : value)),
    }),
    ...(isJsonObject(additionalProperties) && { additionalProperties: complete(additionalProperties, inner('*')) }),
    ...(Array.isArray(choices) && {
      anyOf: choices.map(choice => (isJsonObject(choice) ? complete(choice, path, true) : choice)),
    }),
    ...(conditionsHere.length > 0 && { allOf: conditionsHere }),
  }
}

/** Describes a part of a card and rejects nothing: each dialect has its own types, and the linter knows them better. */
const describeCard = (path = ''): JsonObject => {
  const description = cardDescriptions[path]
  const prefix = path && `${path}.`
  const inner = Object.keys(cardDescriptions).filter(each => each.startsWith(prefix))
  const names = new Set(inner.map(each => each.slice(prefix.length).replace(/\..*/, '')))
  const members = Object.fromEntries([...names].map(name => [name, describeCard(prefix + name)]))
  return {
    ...(description !== undefined && { description }),
    ...(names.has('*') ? ifType('array', { items: members['*'] ?? {} }) : {}),
    ...(names.size > 0 && !names.has('*') ? ifType('object', { properties: members }) : {}),
  }
}
