import { describe, expect, it } from 'vitest'
import { inherit } from '../../cli/files/inherit.ts'

const defaults = {
  visibility: 'internal',
  upstream: { url: 'https://acme.example.com/a2a', secret: 'ACME_TOKEN' },
  card: { provider: { organization: 'ACME', url: 'https://acme.example.com' }, securitySchemes: { bearer: {} } },
}

describe('what a file inherits from its folder', () => {
  it('merges objects member by member, and the file’s own values win', () => {
    const own = { visibility: 'public', card: { name: 'A', provider: { organization: 'Own' } } }
    expect(inherit(defaults, own)).toEqual({
      visibility: 'public',
      upstream: { url: 'https://acme.example.com/a2a', secret: 'ACME_TOKEN' },
      card: {
        name: 'A',
        provider: { organization: 'Own', url: 'https://acme.example.com' },
        securitySchemes: { bearer: {} },
      },
    })
  })

  it('replaces lists, takes away what the file says is null, and keeps a null that overrides nothing', () => {
    expect(
      inherit({ card: { tags: ['a'], provider: {} } }, { card: { tags: ['b'], provider: null, resources: null } }),
    ).toEqual({ card: { tags: ['b'], resources: null } })
  })

  it.each([
    ['the card’s url', { card: { url: 'https://own.example.com' } }],
    ['the card’s interfaces', { card: { supportedInterfaces: [] } }],
    ['an upstream of its own', { card: {}, upstream: { mcp: 'https://own.example.com/mcp' } }],
  ])('inherits no upstream, and not its secret, with %s', (_, own) => {
    expect(inherit(defaults, own).upstream).toEqual((own as { upstream?: object }).upstream)
  })

  it('inherits the card’s endpoint only where it has none', () => {
    const placed = { card: { url: 'https://acme.example.com', provider: {} } }
    expect(inherit(placed, { card: { supportedInterfaces: [] } }).card).toEqual({
      supportedInterfaces: [],
      provider: {},
    })
    expect(inherit(placed, { card: {} }).card).toEqual(placed.card)
  })
})
