import type { JsonObject } from '../../../src/json/json.ts'
import { readSeed } from './seeds.ts'

const flow = { scopes: { read: 'Read' }, refreshUrl: 'https://id.example/refresh' }
const token = { tokenUrl: 'https://id.example/token' }
const code = { authorizationUrl: 'https://id.example/authorize', ...token, ...flow }
const shared: JsonObject = {
  name: 'Weather',
  description: 'Forecasts',
  version: '1.2.0',
  provider: { organization: 'Example', url: 'https://example.com' },
  documentationUrl: 'https://example.com/docs',
  iconUrl: 'https://example.com/icon.png',
  capabilities: {
    streaming: true,
    pushNotifications: false,
    extensions: [{ uri: 'https://e.example/1', description: 'One', required: false, params: {} }],
  },
  signatures: [{ protected: 'eyJ', signature: 'abc', header: {} }],
}
const skill: JsonObject = {
  id: 'forecast',
  name: 'Forecast',
  description: 'Weather of tomorrow',
  tags: ['weather'],
  examples: ['Rain in Oslo?'],
  inputModes: ['text/plain'],
  outputModes: ['text/plain'],
}
const modes = { defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'] }
const v0: JsonObject = {
  ...shared,
  url: 'https://a.example/a2a',
  preferredTransport: 'JSONRPC',
  additionalInterfaces: [{ url: 'https://a.example/grpc', transport: 'GRPC' }],
  protocolVersion: '0.3.0',
  supportsAuthenticatedExtendedCard: false,
  ...modes,
  securitySchemes: {
    key: { type: 'apiKey', name: 'X-Key', in: 'header', description: 'A key' },
    bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
    oauth: { type: 'oauth2', oauth2MetadataUrl: 'https://id.example/meta', flows: { authorizationCode: code } },
    implicit: { type: 'oauth2', flows: { implicit: { ...flow, authorizationUrl: 'https://id.example/authorize' } } },
    password: { type: 'oauth2', flows: { password: { ...flow, ...token } } },
    oidc: { type: 'openIdConnect', openIdConnectUrl: 'https://id.example/.well-known/openid-configuration' },
    tls: { type: 'mutualTLS', description: 'A certificate' },
  },
  security: [{ bearer: ['read'] }],
  skills: [{ ...skill, security: [{ key: [] }] }],
}

/** A card in each dialect, with every field that the dialect defines. */
export const completeCards: Record<string, JsonObject> = {
  '1.0': {
    ...shared,
    capabilities: { ...(shared.capabilities as JsonObject), extendedAgentCard: false },
    supportedInterfaces: [
      { url: 'https://a.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: 'north' },
    ],
    ...modes,
    securitySchemes: {
      key: { apiKeySecurityScheme: { name: 'X-Key', location: 'header', description: 'A key' } },
      bearer: { httpAuthSecurityScheme: { scheme: 'bearer', bearerFormat: 'JWT', description: 'A token' } },
      oauth: {
        oauth2SecurityScheme: {
          description: 'OAuth',
          oauth2MetadataUrl: 'https://id.example/meta',
          flows: { authorizationCode: { ...code, pkceRequired: true } },
        },
      },
      client: { oauth2SecurityScheme: { flows: { clientCredentials: { ...flow, ...token } } } },
      device: {
        oauth2SecurityScheme: {
          flows: { deviceCode: { ...flow, ...token, deviceAuthorizationUrl: 'https://id.example/device' } },
        },
      },
      oidc: {
        openIdConnectSecurityScheme: { openIdConnectUrl: 'https://id.example/.well-known/openid-configuration' },
      },
      tls: { mtlsSecurityScheme: { description: 'A certificate' } },
    },
    securityRequirements: [{ schemes: { bearer: { list: ['read'] } } }],
    skills: [{ ...skill, securityRequirements: [{ schemes: { key: { list: [] } } }] }],
  },
  '0.3': { ...v0, capabilities: { ...(v0.capabilities as JsonObject), stateTransitionHistory: false } },
  '0.2': {
    ...readSeed('guide-code-review'),
    provider: { organization: 'DevTools Inc.', url: 'https://devtools.example.com' },
    authentication: { schemes: ['bearer'], credentials: 'none' },
  },
  gopherhole: {
    ...readSeed('gopherhole-complete'),
    securitySchemes: { bearerAuth: { type: 'http', scheme: 'bearer' } },
    security: [{ bearerAuth: [] }],
  },
  superx: { ...readSeed('superx-my-agent'), resources: [], prompts: [] },
  shaman: {
    ...readSeed('shaman-individual'),
    ...readSeed('shaman-extended'),
    provider: { name: 'ACME Corp', url: 'https://acme.com' },
    capabilities: {
      streaming: true,
      stateHistory: true,
      multiModal: false,
      parallelToolCalls: true,
      authentication: true,
      rateLimit: false,
    },
    icon: 'https://acme.com/icon.png',
    supportUrl: 'https://acme.com/help',
    tags: ['support'],
  },
  telex: { ...readSeed('telex-etymo'), authentication: { required: false, methods: ['bearer'] } },
}
