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

  it.each([
    ['a url in the card', { card: { url: 'https://own.example.com' } }],
    ['interfaces in the card', { card: { supportedInterfaces: [] } }],
    ['its own upstream', { card: {}, upstream: { mcp: 'https://own.example.com/mcp' } }],
  ])('inherits no upstream and no secret with %s', (_, own) => {
    expect(applyDefaults(defaults, own).upstream).toEqual((own as { upstream?: object }).upstream)
  })

  it('inherits the endpoint of the card only without an own one', () => {
    const placed = { card: { url: 'https://acme.example.com', provider: {} } }
    expect(applyDefaults(placed, { card: { supportedInterfaces: [] } }).card).toEqual({
      supportedInterfaces: [],
      provider: {},
    })
    expect(applyDefaults(placed, { card: {} }).card).toEqual(placed.card)
  })
})
