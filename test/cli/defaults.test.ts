import { describe, expect, it } from 'vitest'
import { applyDefaults } from '../../cli/manifests/folder-defaults.ts'

const defaults = {
  visibility: 'internal',
  upstream: { url: 'https://acme.example.com/a2a', secret: 'ACME_TOKEN' },
  card: { provider: { organization: 'ACME', url: 'https://acme.example.com' }, securitySchemes: { bearer: {} } },
}

describe('applyDefaults', () => {
  it('merges objects member by member; own values win', () => {
    const own = { visibility: 'public', card: { name: 'A', provider: { organization: 'Own' } } }
    expect(applyDefaults(defaults, own)).toEqual({
      visibility: 'public',
      upstream: { url: 'https://acme.example.com/a2a', secret: 'ACME_TOKEN' },
      card: {
        name: 'A',
        provider: { organization: 'Own', url: 'https://acme.example.com' },
        securitySchemes: { bearer: {} },
      },
    })
  })

  it('replaces lists, removes an inherited member for null, and keeps a null that overrides nothing', () => {
    expect(
      applyDefaults(
        { card: { tags: ['a'], provider: {} } },
        { card: { tags: ['b'], provider: null, resources: null } },
      ),
    ).toEqual({ card: { tags: ['b'], resources: null } })
  })

  it('inherits no upstream and no secret with an endpoint of its own', () => {
    const upstream = { mcp: 'https://own.example.com/mcp' }
    for (const endpoint of [{ url: 'https://a.test' }, { supportedInterfaces: [] }, { additionalInterfaces: [] }])
      expect(applyDefaults(defaults, { card: endpoint }).upstream, JSON.stringify(endpoint)).toBeUndefined()
    expect(applyDefaults(defaults, { card: { preferredTransport: 'GRPC' } }).upstream).toBeUndefined()
    expect(applyDefaults(defaults, { card: {}, upstream }).upstream).toEqual(upstream)
  })

  it('inherits the endpoint of the card only without an own one', () => {
    const endpoint = { additionalInterfaces: [], preferredTransport: 'GRPC', supportedInterfaces: [] }
    const placed = { card: { url: 'https://acme.example.com', ...endpoint, provider: {} } }
    for (const own of [
      { url: 'https://a.test' },
      ...Object.entries(endpoint).map(([name, value]) => ({ [name]: value })),
    ])
      expect(applyDefaults(placed, { card: own }).card).toEqual({ ...own, provider: {} })
    expect(applyDefaults(placed, { card: {} }).card).toEqual(placed.card)
  })
})
