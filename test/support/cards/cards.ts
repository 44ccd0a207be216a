import type { JsonObject } from '../../../src/json/json.ts'

/** A short valid card. */
export const shortCard = { name: 'A', description: 'B', url: 'https://a.example/a2a' }

/** The smallest card that GopherHole accepts. */
export const minimalCard = {
  name: 'My Agent',
  description: 'Does something useful',
  url: 'https://my-agent.example.com',
}

/** A card of an agent that supports v0.3 and v1.0, each at its own URL. */
export const bilingualCard = {
  name: 'Bilingual',
  description: 'Speaks v0.3 and v1.0',
  version: '2.0.0',
  supportedInterfaces: [
    { url: 'https://bilingual.example.com/v1', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url: 'https://bilingual.example.com/v0', protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
  ],
  capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
  securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
  securityRequirements: [{ schemes: { bearer: { list: [] } } }],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'talk', name: 'Talk', description: 'Talks in either version', tags: ['talk'] }],
}

/** Returns the card of an agent that supports both versions over both bindings, each at its own path. */
export const agentCard = (origin: string, more: JsonObject = {}): JsonObject => ({
  name: 'Weather',
  description: 'Tells the weather of any place',
  version: '2.0.0',
  supportedInterfaces: [
    { url: `${origin}/rpc-1`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url: `${origin}/rpc-0`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    { url: `${origin}/rest-1`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    { url: `${origin}/rest-0`, protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
  ],
  capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'now', name: 'Now', description: 'The weather now', tags: ['weather'] }],
  ...more,
})

/** A skill without lint issues. */
export const cleanSkill = {
  id: 'code-review',
  name: 'Code Review',
  description: 'Reviews Python and Go code for security vulnerabilities and style violations',
  tags: ['code', 'review'],
  examples: ['Review this function', 'Check this module for bugs'],
}

/** A card without lint issues. */
export const cleanCard = {
  name: 'Code Review Agent',
  description: 'Analyzes code for bugs, security vulnerabilities and style issues',
  version: '2.1.0',
  url: 'https://review.example.com/a2a',
  protocolVersion: '0.3.0',
  preferredTransport: 'JSONRPC',
  capabilities: { streaming: true, pushNotifications: false },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['application/json'],
  skills: [cleanSkill],
  securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
  security: [{ bearer: [] }],
}
