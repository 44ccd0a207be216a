import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { formatIssues, lintFields } from '../../support/cards/compile.ts'

describe('the linter on endpoints', () => {
  const makeUrlIssues = (rule: string) => [`${rule} /url`]

  it.each<[string, string[]]>([
    ['https://review.example.com/a2a', []],
    ['https://8.8.8.8/a2a', []],
    ['http://review.example.com/a2a', makeUrlIssues('insecure-url warning')],
    ['http://localhost:8000/', makeUrlIssues('private-url error')],
    ['https://10.1.2.3/a2a', makeUrlIssues('private-url error')],
    ['https://[fd00::1]/a2a', makeUrlIssues('private-url error')],
    ['http://internal-agent:8001/a2a', makeUrlIssues('private-url error')],
    ['https://superx.local/agents/x', makeUrlIssues('private-url error')],
    ['https://review.example.com/.well-known/agent.json', makeUrlIssues('endpoint-is-card error')],
    ['https://review.example.com/.well-known/agent-card.json?x=1', makeUrlIssues('endpoint-is-card error')],
    ['https://review.example.com/.well-known/a2a', makeUrlIssues('endpoint-is-card error')],
    ['https://review.example.com/cards/AGENT.JSON', makeUrlIssues('endpoint-is-card error')],
    ['https://review.example.com/json', []],
    ['https://review.example.com/a2a?format=.json', []],
    ['https://your-agent-domain.com/a2a', makeUrlIssues('placeholder-url warning')],
    ['https://yourcompany.com/a2a', makeUrlIssues('placeholder-url warning')],
    ['https://api.your-company.io/a2a', makeUrlIssues('placeholder-url warning')],
    ['https://changeme.dev/a2a', makeUrlIssues('placeholder-url warning')],
    ['https://review.example.com/YOUR_AGENT_ID', makeUrlIssues('placeholder-url warning')],
    ['https://review.example.com/agents/%7Bid%7D', makeUrlIssues('placeholder-url warning')],
    ['https://your-agent.example.com/a2a', []],
    ['https://my-agent.example.com/book-your-table', []],
    ['https://yourmechanic.com/a2a', []],
  ])('checks the URL %s: %j', (url, expected) => {
    expect(formatIssues(lintFields({ url }))).toEqual(expected)
  })

  it('proposes a gateway for a private address, except for gRPC, which it does not forward', () => {
    const fields = { url: '0.0.0.0:50051', preferredTransport: 'GRPC', protocolVersion: '0.3.0' }
    expect(lintFields(fields).find(({ rule }) => rule === 'private-url')?.message).toBe(
      'is a local or private address that no client can reach: use a public one, `visibility: internal` or, unless it is for gRPC, `route: gateway`',
    )
  })

  it.each<[string, JsonObject, string[]]>([
    ['a public card', {}, makeUrlIssues('private-url error')],
    [
      'a closed route',
      { route: 'closed' },
      ['private-url error /url', 'capability-impossible warning /capabilities/streaming'],
    ],
    ['an internal card', { visibility: 'internal' }, []],
    ['the route gateway', { route: 'gateway' }, []],
  ])('checks a private host with %s', (_, manifest, expected) => {
    expect(formatIssues(lintFields({ url: 'http://10.0.0.7/a2a' }, manifest))).toEqual(expected)
  })

  it('accepts an issuer on this machine for an agent on this machine behind the gateway', () => {
    const login = { type: 'openIdConnect', openIdConnectUrl: 'http://localhost:8080/.well-known/openid-configuration' }
    const lint = (url: string) =>
      formatIssues(lintFields({ url, securitySchemes: { login }, security: [{ login: [] }] }, { route: 'gateway' }))
    expect(lint('http://localhost:9000/')).toEqual([])
    expect(lint('https://review.example.com/a2a')).toEqual([
      'private-url error /securitySchemes/login/openIdConnectUrl',
    ])
  })

  const url = 'https://review.example.com/a2a'
  it.each<[string, Record<string, Json | undefined>, string[]]>([
    [
      'an additional interface',
      { additionalInterfaces: [{ url: 'http://review.example.com/rest', transport: 'HTTP+JSON' }] },
      ['insecure-url warning /additionalInterfaces/0/url'],
    ],
    [
      'a supported interface',
      {
        supportedInterfaces: [
          { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
          { url: 'https://192.168.0.9/a2a', protocolBinding: 'GRPC', protocolVersion: '1.0' },
        ],
      },
      ['private-url error /supportedInterfaces/1/url'],
    ],
    [
      'a token endpoint',
      {
        securitySchemes: {
          bearer: {
            type: 'oauth2',
            flows: {
              clientCredentials: {
                tokenUrl: 'http://id.example.com/token',
                refreshUrl: 'https://id.local/r',
                scopes: {},
              },
            },
          },
        },
      },
      [
        'private-url error /securitySchemes/bearer/flows/clientCredentials/refreshUrl',
        'insecure-url warning /securitySchemes/bearer/flows/clientCredentials/tokenUrl',
      ],
    ],
  ])('checks %s', (_, fields, expected) => {
    expect(formatIssues(lintFields(fields))).toEqual(expected)
  })
})

describe('the linter on links', () => {
  const provider = { organization: 'Acme', url: 'https://acme.example' }

  it.each<[string, Record<string, Json | undefined>, string[]]>([
    [
      'absolute links',
      { documentationUrl: 'https://docs.example.com', iconUrl: 'http://cdn.example.com/i.png', provider },
      [],
    ],
    ['a relative link', { documentationUrl: '/docs' }, ['link-url warning /documentationUrl']],
    ['a mailto URL', { termsOfServiceUrl: 'mailto:legal@example.com' }, ['link-url warning /termsOfServiceUrl']],
    ['documentation on FTP', { documentationUrl: 'ftp://docs.example.com' }, ['link-url warning /documentationUrl']],
    ['an icon with an IPFS URL', { icon_url: 'ipfs://cid' }, ['link-url warning /icon_url']],
    [
      'a support address in a card of Shaman',
      { supportUrl: 'mailto:help@example.com' },
      ['link-url warning /supportUrl'],
    ],
    [
      'a mailto URL in a card of GopherHole',
      { protocolVersion: '1.0', preferredTransport: undefined, privacyPolicyUrl: 'mailto:legal@example.com' },
      ['link-url warning /privacyPolicyUrl'],
    ],
    [
      'a provider with a mailto URL',
      { provider: { ...provider, url: 'mailto:a@acme.example' } },
      ['link-url warning /provider/url'],
    ],
    [
      'a provider with an IPFS URL',
      { provider: { ...provider, url: 'ipfs://cid' } },
      ['link-url warning /provider/url'],
    ],
    ['an icon on a private host', { iconUrl: 'http://localhost:3000/icon.png' }, ['link-url warning /iconUrl']],
    [
      'a host name in place of a URL',
      { privacyPolicyUrl: 'example.com/privacy' },
      ['link-url warning /privacyPolicyUrl'],
    ],
    ['a provider without a link', { provider: { organization: 'Acme' } }, ['provider-incomplete warning /provider']],
    [
      'a provider without a name',
      { provider: { url: 'https://acme.example' } },
      ['provider-incomplete warning /provider'],
    ],
    ['a provider that is only a name', { provider: 'Acme' }, ['provider-incomplete warning /provider']],
    [
      'a host name in place of the URL of the provider',
      { provider: { ...provider, url: 'acme.example' } },
      ['link-url warning /provider/url'],
    ],
    ["Shaman's provider", { provider: { name: 'Acme', url: 'https://acme.example' } }, []],
  ])('checks %s: %j', (_, fields, expected) => {
    expect(formatIssues(lintFields(fields))).toEqual(expected)
  })

  it("points at Shaman's own field names", () => {
    expect(
      formatIssues(
        lintFields({
          icon: 'http://localhost/icon.png',
          capabilities: { streaming: true, pushNotifications: false, stateHistory: true },
        }),
      ),
    ).toEqual(['link-url warning /icon'])
  })

  it('allows private hosts in an internal card', () => {
    expect(formatIssues(lintFields({ documentationUrl: 'http://wiki.internal/' }, { visibility: 'internal' }))).toEqual(
      [],
    )
  })
})
