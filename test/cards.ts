/** The least that GopherHole asks for. */
export const minimalCard = {
  name: 'My Agent',
  description: 'Does something useful',
  url: 'https://my-agent.example.com',
}

/** An agent that speaks v0.3 and v1.0, each at an address of its own. */
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
