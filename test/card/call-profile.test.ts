import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { compiled, refusal } from '../support/cards/compile.ts'

const openIdConnectUrl = 'https://login.example/.well-known/openid-configuration'
const login = { type: 'openIdConnect', openIdConnectUrl }
const written = { name: 'A', description: 'B', url: 'https://a.example/a2a', securitySchemes: { login } }
const upstream = { card: 'https://a.example/card.json' }

const issuers = (manifest: JsonObject, fetched?: JsonObject) => compiled(manifest, fetched).profile.openIdConnectUrls

describe('the issuers whose tokens count', () => {
  it.each<[string, JsonObject, JsonObject | undefined]>([
    ['a card that is written here', { card: written }, undefined],
    ['a manifest that says again what was fetched', { upstream, card: { securitySchemes: { login } } }, written],
    [
      'no more than the address again',
      { upstream, card: { securitySchemes: { login: { openIdConnectUrl } } } },
      written,
    ],
    [
      'the words of another generation',
      { upstream, card: { securitySchemes: { login: { openIdConnectSecurityScheme: { openIdConnectUrl } } } } },
      written,
    ],
  ])('are those of %s', (_, manifest, fetched) => {
    expect(issuers(manifest, fetched)).toStrictEqual([openIdConnectUrl])
  })

  it.each<[string, JsonObject]>([
    ['alone', {}],
    [
      'though the manifest says other schemes',
      { card: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'K' } } } },
    ],
    [
      'though the manifest says of what kind the scheme is',
      { card: { securitySchemes: { login: { type: 'openIdConnect' } } } },
    ],
    ['though the manifest names the address for something else', { card: { documentationUrl: openIdConnectUrl } }],
  ])('are none that a fetched card names: %s', (_, manifest) => {
    expect(issuers({ upstream, ...manifest }, written)).toStrictEqual([])
  })

  it('are not the one that a source puts in the place of what the manifest says', () => {
    const other = { ...written, securitySchemes: { other: { ...login, openIdConnectUrl: 'https://evil.example/x' } } }
    expect(issuers({ upstream, card: { securitySchemes: { login } } }, other)).toStrictEqual([openIdConnectUrl])
  })

  it('are asked for, where the manifest says which of their tokens may read', () => {
    expect(refusal({ upstream, jwt: { audience: 'a' } }, written)).toStrictEqual([
      {
        pointer: '/jwt',
        message:
          'needs an OpenID Connect issuer that the manifest names: add one to the securitySchemes of `card` (a fetched card cannot)',
      },
    ])
  })
})
