import { type ConversionConfig, toJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { asList, asObject, isJsonObject, type JsonObject, mapMembers, omit } from '../../json/index.ts'
import { cardMembers, type Members } from '../model/index.ts'
import { Manifest, manifestFields } from './manifest.ts'

/**
 * Returns the JSON Schema (draft 7) of what `readManifest` accepts: a manifest, or a bare card. It is generated from
 * the valibot schema, for editors. It rejects no valid document; a few rules are beyond it, such as the syntax of host
 * names. It compiles in the strict mode of ajv, which requires types, and that required members are described.
 */
export const createManifestSchema = (): JsonObject => {
  // Without `required`: `conditions` require `card` unless it is fetched.
  const { required, properties, ...manifest } = convert(Manifest)
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Calling Card manifest',
    description: 'An Agent Card, and how a Calling Card host serves it.',
    type: 'object',
    if: manifestForm,
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema, in an object that nobody awaits.
    then: complete({ ...manifest, properties: { $schema: {}, ...asObject(properties) } }, ''),
    else: { allOf: [card], properties: { card: { not: { type: 'null' } } } },
    definitions: { card: describe(cardMembers.card) },
  }
}

const has = (...required: string[]): JsonObject => {
  return { required, properties: Object.fromEntries(required.map(name => [name, {}])) }
}

/** Returns keywords for values of one type, which accept values of every other. */
const ifType = (type: string, rest: JsonObject): JsonObject => ({ anyOf: [{ type, ...rest }, { not: { type } }] })

const hasCard: JsonObject = { ...has('card'), properties: { card: { type: 'object' } } }

/** Matches what `readManifest` takes for a manifest and not for a bare card. */
const manifestForm: JsonObject = {
  anyOf: [hasCard, { not: has('name'), anyOf: ['card', ...manifestFields].map(name => has(name)) }],
}

/** A card, and what Shaman's front matter has in one. Fields of the manifest would have no effect in it. */
const card: JsonObject = {
  allOf: [
    { $ref: '#/definitions/card' },
    { properties: { exposed: { type: 'boolean' }, ...Object.fromEntries(manifestFields.map(name => [name, false])) } },
  ],
}

/** The schema of a value may depend on the value. These values lead to each of them. */
const probes = [
  ...['', 'first-use', 'did:', 'https:', []],
  ...[{}, { scope: '' }, { claim: '' }, { kty: 'EC' }, { kty: 'OKP' }, { kty: 'RSA' }],
]

/** Converts what the schemas of this host have besides valibot's own types. */
export const conversionConfig: ConversionConfig = {
  // JSON Schema has no functions: `conditions` has what it can express of the checks.
  ignoreActions: ['check', 'transform', 'finite', 'includes'],
  overrideSchema: ({ valibotSchema }) => {
    if (isLazy(valibotSchema)) return anyOf([...new Set(probes.map(valibotSchema.getter))])
    if (valibotSchema.type !== 'custom') return undefined
    return v.is(valibotSchema, []) ? {} : { type: 'object' }
  },
  overrideAction: ({ valibotAction, jsonSchema }) => {
    if (!isRegex(valibotAction)) return undefined
    const pattern = toPattern(valibotAction.requirement)
    // The converter sets the pattern of the first expression only.
    return jsonSchema.pattern === valibotAction.requirement.source && !jsonSchema.allOf
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

const keyText = ifType('string', { anyOf: [url, { pattern: '^did:web:[a-zA-Z0-9.-]+(%3A\\d{1,5})?(:[\\w.~%-]+)*$' }] })

const remote: JsonObject = { type: 'object', anyOf: [has('card'), has('mcp')] }
const hasRemoteCard: JsonObject = { ...has('upstream'), properties: { upstream: remote } }

/** Conditions that valibot checks with functions, by the path of the schema to which they are added. */
const conditions: Readonly<Record<string, JsonObject[]>> = {
  '': [{ anyOf: [hasCard, hasRemoteCard] }],
  upstream: [
    { not: has('card', 'mcp') },
    { not: { ...has('identity', 'mcp'), not: has('url') } },
    { anyOf: [{ ...has('mcp'), not: has('url') }, { not: { anyOf: [has('session'), has('defaultTool')] } }] },
    { anyOf: [has('card'), has('mcp'), { not: { anyOf: [has('ttl'), has('staleIfError'), has('pin')] } }] },
    { anyOf: [has('card'), { not: { anyOf: [has('keys'), has('verify')] } }] },
    { anyOf: [has('keys'), { not: has('verify') }, { properties: { verify: { const: 'off' } } }] },
  ],
  'upstream.keys': [{ anyOf: [{ const: 'first-use' }, keyText] }, ifType('array', { items: keyText })],
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
  const conditionsHere = [...asList(allOf), ...((!isChoice && conditions[path]) || [])]
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

/** Describes an object in a card. Rejects nothing: each dialect has its own types, and the linter knows them better. */
const describe = (members: Members): JsonObject => {
  const properties: JsonObject = {}
  for (const [name, { about, type, inner }] of members) {
    if (about === undefined) continue
    const schema = inner ? describe(inner) : {}
    const isList = type === 'array' && 'anyOf' in schema
    properties[name] = { description: about, ...(isList ? ifType('array', { items: schema }) : schema) }
  }
  return Object.keys(properties).length > 0 ? ifType('object', { properties }) : {}
}

/** The descriptions that editors show for the fields of a manifest, by their paths. `*` is any name or index. */
export const manifestDescriptions: Readonly<Record<string, string>> = {
  $schema: 'The schema by which editors check this file. It is never published.',
  id: 'The id of the agent: lowercase letters, digits and hyphens. By default, the name of the file.',
  card: 'The Agent Card, in any dialect. Merged over the card of `upstream.card` or `upstream.mcp`, if that is set.',
  extended: 'Additions to the card for callers with a token: a merge patch (RFC 7396); skills are merged by `id`.',
  tiers: 'More extended cards, the lowest first, each a merge patch over the one before. Tokens name their tiers.',
  visibility: 'public: the agent is listed. internal: only callers whose token has the scope `read` see it.',
  hosts: 'The host names whose well-known card is that of this agent. "*" is every host name that no other agent has.',
  route:
    'direct: clients call the agent itself (default). gateway: they call this host, which checks and forwards each ' +
    'call (default for an MCP server). closed: nobody calls it.',
  upstream: 'Where the agent is, and where its card is fetched from.',
  'upstream.url': 'The address of calls, if it differs from that in the card.',
  'upstream.card': 'Where the host fetches the card of the agent.',
  'upstream.mcp': 'An MCP server whose tools become the skills of the agent.',
  'upstream.service': 'The service binding of the Worker through which the agent is reached.',
  'upstream.secret': 'The name of the Worker secret that the agent gets as a bearer token. Never the secret itself.',
  'upstream.identity': 'header: the host tells the agent who calls, with a signed assertion in each call.',
  'upstream.agentName': 'The name of the agent at a Shaman host, sent as `params.agentName`.',
  'upstream.ttl': 'Seconds for which a fetched card is fresh. Default: 300.',
  'upstream.staleIfError':
    'Seconds after `ttl` for which the card is still served while it cannot be fetched. Default: 86400.',
  'upstream.pin':
    'true: a fetched card that widens access waits for approval. Default: true with `secret` or `service`, else false.',
  'upstream.keys':
    'The keys that may sign the fetched card: JWKs, the URL of a JWK Set, DIDs (did:web), or first-use: ' +
    'those that signed the first card.',
  'upstream.verify':
    'What happens to a card that none of the keys signed. require: it is not served (default with `keys`). warn: it ' +
    'is served and reported. off: nothing is verified.',
  'upstream.mayShow': 'Host names of the agent that its card may show although calls go through this host.',
  'upstream.session': 'caller (default): each caller has a session with the MCP server. shared: all share one.',
  'upstream.defaultTool': 'The tool of the MCP server, or the id of its skill, for a message that names none.',
  gate: 'How calls are checked. off: not at all. warn: only reported. enforce (default): refused.',
  'gate.capabilities': 'Whether the card declares the capability that a call needs, such as streaming.',
  'gate.modes': 'Whether the agent accepts the media types of a call, and produces one that the caller accepts.',
  'gate.extensions': 'Whether a call names the extensions that the card requires.',
  'gate.version': 'Whether the agent speaks the A2A version and binding of a call, and the message has its form.',
  'gate.responses': "Whether the agent's responses are valid A2A.",
  'gate.tasks':
    'owner: callers reach only their own tasks. shared: all reach all. Default: owner with a secret or service.',
  callers:
    'Who may call the agent through this host. anyone. tokens: callers whose token has the scope `call`. issuer: ' +
    'also callers with a JWT. Default: anyone; with a secret or service: tokens, or issuer if `jwt.audience` is set.',
  mcp: 'How MCP clients use the agent at `/agents/{id}/mcp`. off: not at all.',
  'mcp.tools':
    'skills: each skill is a tool. one: the agent is one tool. off: no tools. Default: skills; one for over 20.',
  bridge: 'The calls of a gateway that are translated for the agent: off, versions, bindings or all (default).',
  compatibility:
    'What happens to a change that the version of the card does not announce. off: nothing. warn: it is reported ' +
    '(default). enforce: it is refused.',
  signatures:
    'keep: signatures of the author stay where they are still valid (default). resign: the host signs. strip: no ' +
    'signatures.',
  jwt: "The access tokens of the card's OpenID Connect issuer that may read an internal agent or extended cards.",
  'jwt.audience': 'The accepted audiences. A token needs one of them. Default: the URL of the agent here.',
  'jwt.scope': 'The scope that every token must have.',
  'jwt.tiers': 'Which tokens may read each tier, by its name: those with a scope, or with a value in a claim.',
  'jwt.tiers.*.scope': 'The scope that a token must have.',
  'jwt.tiers.*.claim': 'The claim that a token must have.',
  'jwt.tiers.*.equals': 'The value of the claim.',
  set: 'The collection of cards that the agent belongs to. `sync-card --prune` deletes agents of this set only.',
  allowSecrets: 'JSON Pointers to values that look like secrets but are not, such as /card/description.',
}
