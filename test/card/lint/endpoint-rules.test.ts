import { describe, it } from 'vitest'
import type { Json } from '../../../src/json/json.ts'
import { expectIssues } from '../../support/cards/compile.ts'

describe('the linter on endpoints', () => {
  const url = 'https://review.example.com/a2a'

  it('checks the URL of an agent', () => {
    const urls: Record<string, string[]> = {
      'insecure-url warning': ['http://review.example.com/a2a'],
      'private-url error': ['http://localhost:8000/', 'https://superx.local/agents/x'],
      'endpoint-is-card error': [
        'https://review.example.com/.well-known/agent.json',
        'https://review.example.com/.well-known/agent-card.json?x=1',
        'https://review.example.com/.well-known/a2a',
        'https://review.example.com/cards/AGENT.JSON',
      ],
      'placeholder-url warning': [
        'https://your-agent-domain.com/a2a',
        'https://changeme.dev/a2a',
        'https://review.example.com/YOUR_AGENT_ID',
        'https://review.example.com/agents/%7Bid%7D',
      ],
    }
    for (const [issue, list] of Object.entries(urls)) for (const url of list) expectIssues([[{ url }, `${issue} /url`]])
    expectIssues([
      [{ url: 'https://review.example.com/json' }],
      [{ url: 'https://review.example.com/a2a?format=.json' }],
      [{ url: 'https://my-agent.example.com/book-your-table' }],
      [{ url: 'https://yourmechanic.com/a2a' }],
    ])
  })

  it('allows a private host in an internal card and behind the gateway', () => {
    const fields = { url: 'http://10.0.0.7/a2a' }
    const closed = ['private-url error /url', 'capability-impossible warning /capabilities/streaming']
    expectIssues([[fields, 'private-url error /url']])
    expectIssues([[fields, ...closed]], { route: 'closed' })
    expectIssues([[fields]], { visibility: 'internal' })
    expectIssues([[fields]], { route: 'gateway' })
    expectIssues([[{ documentationUrl: 'http://wiki.internal/' }]], { visibility: 'internal' })
  })

  it('accepts an issuer on this machine for an agent on this machine behind the gateway', () => {
    const login = { type: 'openIdConnect', openIdConnectUrl: 'http://localhost:8080/.well-known/openid-configuration' }
    const fields = { securitySchemes: { login }, security: [{ login: [] }] }
    expectIssues(
      [
        [{ ...fields, url: 'http://localhost:9000/' }],
        [{ ...fields, url }, 'private-url error /securitySchemes/login/openIdConnectUrl'],
      ],
      { route: 'gateway' },
    )
  })

  it('checks each interface and each address of a security scheme', () => {
    const clientCredentials = { tokenUrl: 'http://id.example.com/token', refreshUrl: 'https://id.local/r', scopes: {} }
    expectIssues([
      [
        { additionalInterfaces: [{ url: 'http://review.example.com/rest', transport: 'HTTP+JSON' }] },
        'insecure-url warning /additionalInterfaces/0/url',
      ],
      [
        {
          supportedInterfaces: [
            { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
            { url: 'https://192.168.0.9/a2a', protocolBinding: 'GRPC', protocolVersion: '1.0' },
          ],
        },
        'private-url error /supportedInterfaces/1/url',
      ],
      [
        { securitySchemes: { bearer: { type: 'oauth2', flows: { clientCredentials } } } },
        'private-url error /securitySchemes/bearer/flows/clientCredentials/refreshUrl',
        'insecure-url warning /securitySchemes/bearer/flows/clientCredentials/tokenUrl',
      ],
    ])
  })
})

describe('the linter on links', () => {
  const provider = { organization: 'Acme', url: 'https://acme.example' }

  it('reports a link that a browser cannot open', () => {
    const links: Record<string, Json>[] = [
      { documentationUrl: '/docs' },
      { termsOfServiceUrl: 'mailto:legal@example.com' },
      { icon_url: 'ipfs://cid' },
      // In a card of Shaman.
      { supportUrl: 'mailto:help@example.com' },
      { privacyPolicyUrl: 'example.com/privacy' },
    ]
    expectIssues(links.map(fields => [fields, `link-url warning /${Object.keys(fields)[0]}`]))
    for (const url of ['ipfs://cid', 'acme.example'])
      expectIssues([[{ provider: { ...provider, url } }, 'link-url warning /provider/url']])
    const gopherhole = { protocolVersion: '1.0', preferredTransport: undefined }
    const shaman = { streaming: true, pushNotifications: false, stateHistory: true }
    expectIssues([
      [{ ...gopherhole, privacyPolicyUrl: 'mailto:legal@example.com' }, 'link-url warning /privacyPolicyUrl'],
      [{ icon: 'http://localhost/icon.png', capabilities: shaman }, 'link-url warning /icon'],
      [{ documentationUrl: 'https://docs.example.com', iconUrl: 'http://cdn.example.com/i.png', provider }],
    ])
  })

  it('reports a provider without a name or a link', () => {
    expectIssues([
      [{ provider: { organization: 'Acme' } }, 'provider-incomplete warning /provider'],
      [{ provider: { url: 'https://acme.example' } }, 'provider-incomplete warning /provider'],
      [{ provider: 'Acme' }, 'provider-incomplete warning /provider'],
      [{ provider: { name: 'Acme', url: 'https://acme.example' } }],
    ])
  })
})
