import { createManifestSchema } from '../../src/card/manifest/index.ts'
import { isJsonObject, type Json, type JsonObject } from '../../src/json/index.ts'
import { code, type Page, table, wrap } from './page.ts'

/** The manifest with which the page begins. */
export const MANIFEST_EXAMPLE = `id: weather                    # default: the name of the file
card:                          # the Agent Card, in any dialect
  name: Weather Agent
  description: Current weather and forecasts for any place on Earth
  url: https://weather.example.com/a2a
visibility: public             # internal: only callers with a token see the agent
hosts: [weather.example.com]   # the host names whose /.well-known/agent-card.json is this card
route: gateway                 # the card names this host, which checks each call and forwards it
upstream:
  url: https://internal.example.com/a2a   # where calls are forwarded, if not to the URL of the card
  secret: WEATHER_TOKEN        # the name of the Worker secret that is sent to the agent as a bearer token
callers: tokens                # who may call: anyone, tokens or issuer
extended:                      # what callers with a token also see
  documentationUrl: https://weather.example.com/customers
tiers:                         # more extended cards, for tokens that name the tier
  partner: { documentationUrl: https://weather.example.com/partners }
set: my-cards                  # the agents that you synchronize together
compatibility: enforce         # the version of the card must announce what changes for clients
`

const cardSources = [
  ['your file', '`card: { … }`'],
  [
    'the agent itself',
    '`upstream: { card: https://agent.example.com/.well-known/agent-card.json }`; `card` is merged over it',
  ],
  [
    'an MCP server',
    '`upstream: { mcp: https://mcp.example.com/mcp }`; `card` is merged over what the host makes from it',
  ],
  ['the agent of another owner', 'an entry in `agents.json`'],
]

/** The page of the fields of manifests and cards. */
export const createManifest = (): Page => {
  const { then: manifest, definitions } = createManifestSchema()
  const cardSchema = isJsonObject(definitions) ? definitions.card : undefined
  return {
    name: 'manifest',
    title: 'Manifest',
    contents: 'every field of a manifest, and the fields of a card',
    parts: [
      wrap(
        'A manifest is an Agent Card with the settings by which a host serves it. A bare card is a manifest, too. An ' +
          'unknown field of a manifest is an error; an unknown field of a card is kept. ' +
          '`examples/cards/every-field.yaml` has every field.',
      ),
      `\`\`\`yaml\n${MANIFEST_EXAMPLE}\`\`\``,
      table(['the card comes from', 'manifest'], cardSources),
      '## Fields of a manifest',
      wrap(
        '`*` is any name or index. The JSON Schema at `GET /schema/manifest.json` has the same descriptions. Editors ' +
          'check and complete a file whose first line is `# yaml-language-server: ' +
          '$schema=https://cards.example.com/schema/manifest.json`, or that has `"$schema"` in JSON.',
      ),
      table(['field', 'type', 'meaning'], listFields(manifest).map(toRow)),
      '## Fields of a card',
      'Those of A2A and GopherHole. Every other dialect has some of its own; a host serves all fields.',
      table(
        ['field', 'meaning'],
        [...Map.groupBy(listFields(cardSchema), ([, { description }]) => String(description))].map(([text, fields]) => [
          fields.map(([path]) => code(path)).join(', '),
          text,
        ]),
      ),
    ],
  }
}

const toRow = ([path, schema]: Field): string[] => {
  const { description, default: fallback } = schema
  const isNamed = typeof fallback !== 'string' || /default/i.test(String(description))
  return [code(path), typeOf(schema), `${description}${isNamed ? '' : ` Default: ${code(fallback)}.`}`]
}

type Field = [path: string, schema: JsonObject]

/** Returns the fields of a schema that are described, with the fields in them. */
const listFields = (schema: Json | undefined, path = ''): Field[] => {
  if (!isJsonObject(schema)) return []
  const { properties, additionalProperties, items, anyOf } = schema
  const inner = (name: string) => (path === '' ? name : `${path}.${name}`)
  const found: Field[] = [
    ...(path === '' || path.endsWith('*') || schema.description === undefined ? [] : [[path, schema] as Field]),
    ...Object.entries(isJsonObject(properties) ? properties : {}).flatMap(([name, each]) =>
      listFields(each, inner(name)),
    ),
    ...listFields(additionalProperties, inner('*')),
    ...listFields(items, inner('*')),
    ...(Array.isArray(anyOf) ? anyOf : []).flatMap(choice => listFields(choice, path)),
  ]
  return [...new Map(found.toReversed())].toReversed()
}

/** Describes the values that a schema accepts. */
const typeOf = (schema: Json | undefined): string => {
  if (!isJsonObject(schema)) return ''
  const { type, enum: values, const: value, anyOf, items, minimum, maximum } = schema
  if (Array.isArray(values)) return values.map(each => code(String(each))).join(', ')
  if (value !== undefined) return code(String(value))
  if (Array.isArray(anyOf)) return [...new Set(anyOf.map(typeOf))].filter(Boolean).join(' or ')
  if (type === 'array') return /^\w+$/.test(typeOf(items)) ? `list of ${typeOf(items)}s` : 'list'
  if (type === 'integer') return `integer from ${minimum} to ${maximum}`
  return String(Array.isArray(type) ? type[0] : (type ?? 'any'))
}
