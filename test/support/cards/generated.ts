import fc from 'fast-check'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { isNightly } from '../matrix.ts'

/** The number of cases that fast-check generates for each property. */
export const numRuns = isNightly ? 1000 : 60

/** Any code point, lone surrogates included. fast-check's own unit `binary` takes seconds to initialize. */
const anyCharacter = fc
  .oneof(
    fc.integer({ min: 0, max: 0x10ffff }),
    fc.integer({ min: 0, max: 0xff }),
    fc.integer({ min: 0xd800, max: 0xdfff }),
  )
  .map(code => String.fromCodePoint(code))

const pathCharacter = fc.oneof(
  fc.constantFrom(..."-._~!$&'()*+,;=:@"),
  anyCharacter.map(character => encodeURIComponent(character.toWellFormed())),
)

/** A URL with a path of any characters. fast-check's own `webUrl` takes seconds to initialize. */
export const webUrl = fc
  .tuple(
    fc.constantFrom('http', 'https'),
    fc.webAuthority(),
    fc.array(
      fc.array(pathCharacter, { maxLength: 8 }).map(characters => characters.join('')),
      { maxLength: 3 },
    ),
  )
  .map(([scheme, authority, segments]) => [`${scheme}://${authority}`, ...segments].join('/'))

/** Unknown names, and names with a meaning in a dialect or in JavaScript. */
const awkwardNames = [
  '',
  ...`x-note ünïcode a/b~c 0 toString valueOf hasOwnProperty length name organization icon protocol transport type in
    location scheme schemes list tags flows stateHistory multiModal contextWindow supportUrl agentCard metadata
    supportedInputModes input_modes icon_url protocol_version preferred_transport interfaces push_notifications
    httpAuthSecurityScheme examples id tenant parameters url_ params`.split(/\s+/),
]

const line = fc.oneof(
  fc.constantFrom('Weather', 'Wetter für morgen', '天気予報', '☀️ agent', 'naïve "quoted" \\ text', 'a/b~c'),
  fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
    .filter(value => /\S/.test(value) && !/\p{Cc}/u.test(value)),
)
const lineOrEmpty = fc.oneof(line, fc.constant(''))
const url = fc.constantFrom(
  'https://a.example/a2a',
  'https://b.example:8443/a2a?x=1',
  'http://localhost:4000',
  'https://bücher.example/ö',
)
const mode = fc.constantFrom(
  'text/plain',
  'application/json',
  'text',
  'image/*',
  'text/plain; charset=utf-8',
  'VIDEO/mp4',
)
const modes = fc.uniqueArray(mode, { minLength: 1, maxLength: 3 })
const value = fc.oneof(
  line,
  url,
  fc.boolean(),
  fc.integer(),
  fc.constantFrom<Json>('', null, 0.1, -0.5, 1e-7, 1e-5, 1e16, 2 ** 53, 1e21, -1.5e300, 123456789012345680000),
  fc.constantFrom<Json>([], {}, ['x'], { y: [null, 1] }, 'JSONRPC', 'mcp', 'a2a', 'bearer', [
    { url: 'https://z.example', transport: 'GRPC' },
  ]),
)

/** Generates members outside every schema, which each dialect must preserve. `known` are names to leave out. */
const unknown = (...known: string[]): fc.Arbitrary<JsonObject> =>
  fc.dictionary(fc.constantFrom(...awkwardNames.filter(name => !known.includes(name))), value, { maxKeys: 3 })

const object = (fields: Record<string, fc.Arbitrary<Json>>, required: string[], others: fc.Arbitrary<JsonObject>) =>
  fc
    .tuple(others, fc.record(fields, { requiredKeys: required }))
    .map(([more, known]) => ({ ...more, ...known }) as JsonObject)

const version = fc.constantFrom('1.0', '1.0.1', '0.3', '0.3.0', '0.2.6', '2.0', '2024-11-05')
const binding = fc.constantFrom('JSONRPC', 'jsonrpc', 'HTTP+JSON', 'GRPC', 'MCP', 'https://x.example/bindings/odd')
const interfaces = fc.array(
  object(
    { url, protocolBinding: binding, protocolVersion: version, tenant: lineOrEmpty },
    ['url', 'protocolBinding', 'protocolVersion'],
    unknown('tenant'),
  ),
  { minLength: 1, maxLength: 4 },
)
const additional = fc.array(object({ url, transport: binding }, ['url', 'transport'], unknown('transport', 'tenant')), {
  maxLength: 3,
})

const schemeNames = ['bearer', 'oauth', 'schemes', 'clé/1', 'oauth-clientCredentials'] as const
const scopes = fc.uniqueArray(line, { maxLength: 2 })
const v0Requirements = fc.array(fc.dictionary(fc.constantFrom(...schemeNames), scopes, { maxKeys: 2 }), {
  maxLength: 2,
})
const v1Requirements = fc.array(
  object(
    {
      schemes: fc.dictionary(fc.constantFrom(...schemeNames), object({ list: scopes }, [], unknown('list')), {
        maxKeys: 2,
      }),
    },
    ['schemes'],
    unknown('schemes'),
  ),
  { maxLength: 2 },
)

const flow = object(
  {
    authorizationUrl: url,
    tokenUrl: url,
    deviceAuthorizationUrl: url,
    scopes: fc.dictionary(line, line, { maxKeys: 2 }),
    refreshUrl: url,
    pkceRequired: fc.boolean(),
  },
  ['authorizationUrl', 'tokenUrl', 'deviceAuthorizationUrl', 'scopes'],
  unknown(),
)
const flows = object(
  { authorizationCode: flow, clientCredentials: flow, deviceCode: flow, implicit: flow, password: flow },
  [],
  unknown(),
)
const described = unknown('name', 'location', 'scheme', 'flows', 'in', 'type', 'description')
// A header cannot have any name.
const apiKey = {
  name: fc.stringMatching(/^[\w!#$%&'*+.^`|~-]+$/),
  location: fc.constantFrom('header', 'query', 'cookie'),
}
const wrapped = (wrapper: string, inner: fc.Arbitrary<JsonObject>) =>
  object({ [wrapper]: inner }, [wrapper], unknown('httpAuthSecurityScheme'))
const v1Scheme = fc.oneof(
  wrapped('apiKeySecurityScheme', object(apiKey, ['name', 'location'], unknown('name', 'location'))),
  wrapped('httpAuthSecurityScheme', object({ scheme: line, bearerFormat: line }, ['scheme'], unknown('scheme'))),
  wrapped('oauth2SecurityScheme', object({ flows }, ['flows'], unknown('flows'))),
  wrapped('openIdConnectSecurityScheme', object({ openIdConnectUrl: url }, ['openIdConnectUrl'], unknown())),
  wrapped('mtlsSecurityScheme', described),
  unknown('httpAuthSecurityScheme', 'type', 'scheme'),
)
const typed = (types: string[], fields: Record<string, fc.Arbitrary<Json>>, ...known: string[]) =>
  object(
    { type: fc.constantFrom(...types), ...fields },
    ['type', ...Object.keys(fields)],
    unknown('type', 'httpAuthSecurityScheme', ...known),
  )
const v0Scheme = fc.oneof(
  typed(['apiKey'], { name: apiKey.name, in: apiKey.location }, 'name', 'location', 'in'),
  typed(['http', 'httpAuth'], { scheme: line }, 'scheme'),
  typed(['oauth2'], { flows }, 'flows'),
  typed(['openIdConnect'], { openIdConnectUrl: url }),
  typed(['mutualTLS'], {}, 'name', 'location', 'scheme', 'flows', 'in'),
  typed(['hmac'], {}, 'scheme'),
)
const schemes = fc.dictionary(fc.constantFrom(...schemeNames), fc.oneof(v1Scheme, v0Scheme), { maxKeys: 3 })

const exchange = fc.record({
  input: fc.record({ parts: fc.tuple(fc.record({ kind: fc.constant('text'), text: line })) }),
})
const skill = object(
  {
    id: line,
    name: line,
    description: line,
    tags: fc.array(line, { maxLength: 2 }),
    examples: fc.array(fc.oneof(line, exchange), { maxLength: 2 }),
    inputModes: modes,
    outputModes: fc.oneof(modes, mode),
    security: v0Requirements,
    securityRequirements: v1Requirements,
  },
  ['name'],
  unknown('id', 'name', 'tags', 'examples', 'input_modes'),
)
const capabilities = object(
  {
    streaming: fc.boolean(),
    pushNotifications: fc.boolean(),
    extendedAgentCard: fc.boolean(),
    multiTurn: fc.boolean(),
    stateTransitionHistory: fc.boolean(),
    extensions: fc.array(object({ uri: line, required: fc.boolean(), params: unknown() }, ['uri'], unknown('params')), {
      maxLength: 2,
    }),
  },
  [],
  unknown('stateHistory', 'push_notifications', 'multiModal', 'contextWindow'),
)
const flagNames = fc.array(fc.constantFrom('streaming', 'push_notifications', 'multi-turn', 'stateHistory'), {
  maxLength: 2,
})
const provider = object({ organization: line, url, name: line }, [], unknown('organization', 'name'))

const shared = {
  name: line,
  description: line,
  version: line,
  provider: fc.oneof(provider, line),
  documentationUrl: url,
  iconUrl: fc.oneof(url, line),
  icon: fc.oneof(url, line),
  capabilities: fc.oneof(capabilities, flagNames),
  securitySchemes: schemes,
  security: v0Requirements,
  skills: fc.array(skill, { maxLength: 3 }),
  protocol: fc.constantFrom('a2a', 'mcp', 'grpc'),
  defaultInputModes: modes,
  defaultOutputModes: modes,
  supportedInputModes: modes,
  supportedOutputModes: modes,
  authentication: fc.record({ schemes: fc.array(fc.constantFrom('Bearer', 'basic', 'x402'), { maxLength: 2 }) }),
  signatures: fc.array(object({ protected: line, signature: line }, ['protected', 'signature'], unknown()), {
    maxLength: 1,
  }),
}
const others = unknown(
  ...`name protocol icon tags protocol_version preferred_transport interfaces icon_url supportUrl metadata
    supportedInputModes agentCard`.split(/\s+/),
)

const ofV1 = { ...shared, supportedInterfaces: interfaces }
const ofV0 = {
  url,
  preferredTransport: binding,
  additionalInterfaces: additional,
  protocolVersion: version,
}
const required = ['name', 'description']

/** Generates cards as authors write them: of A2A 1.0, of 0.3 or with fields of both, and with unknown members on every level. */
export const authoredCard: fc.Arbitrary<JsonObject> = fc.oneof(
  object({ ...ofV1, securityRequirements: v1Requirements }, [...required, 'supportedInterfaces'], others),
  object({ ...shared, ...ofV0, supportsAuthenticatedExtendedCard: fc.boolean() }, [...required, 'url'], others),
  object({ ...ofV1, ...ofV0 }, [...required, 'supportedInterfaces', 'url'], others),
)
