import type { CallProfile } from '../../src/card/call-profile.ts'

/** An agent that allows everything in both versions and bindings and constrains nothing, but for `changes`. */
export const profileWith = (changes: Partial<CallProfile> = {}): CallProfile => ({
  visibility: 'public',
  route: 'gateway',
  gate: { capabilities: 'enforce', modes: 'enforce', extensions: 'enforce', version: 'enforce' },
  targets: (['JSONRPC', 'HTTP+JSON'] as const).flatMap(binding =>
    (['1.0', '0.3'] as const).map(version => ({
      binding,
      version,
      url: `https://agent.example/${binding}/${version}`,
    })),
  ),
  streaming: true,
  pushNotifications: true,
  extendedAgentCard: true,
  tiers: ['extended'],
  requiredExtensions: [],
  modes: { defaults: { input: [], output: [] }, union: { input: [], output: [] }, skills: {} },
  apiKeyHeaders: [],
  openIdConnectUrls: [],
  requiresAuthentication: false,
  ...changes,
})
