import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { shortCard as card } from '../../support/cards/cards.ts'
import { compileCard, getCompileErrors } from '../../support/cards/compile.ts'

describe('`jwt` of a manifest', () => {
  const openIdConnectUrl = 'https://id.example/.well-known/openid-configuration'
  const issued = { ...card, securitySchemes: { oidc: { type: 'openIdConnect', openIdConnectUrl } } }
  const tiers = { silver: {}, gold: {} }
  const compileJwt = (manifest: Json) => compileCard(manifest).profile.jwt

  it('accepts tokens by audience, scope and claim: for the URL of this agent by default', () => {
    const byTier = { tiers: { silver: { scope: 'silver' }, gold: { claim: 'plan', equals: 'gold' } } }
    const rows: [jwt: JsonObject, expected: JsonObject][] = [
      [{}, {}],
      [{ audience: 'weather' }, { audience: ['weather'] }],
      [{ scope: 'a2a:read' }, { scope: 'a2a:read' }],
      [byTier, byTier],
    ]
    const byDefault = { audience: ['https://host.example/agents/weather'], tiers: {} }
    for (const [jwt, expected] of rows)
      expect(compileJwt({ card: issued, tiers, jwt })).toStrictEqual({ ...byDefault, ...expected })
    expect(compileJwt({ card: issued, tiers })).toStrictEqual(byDefault)
  })

  it('is rejected where the card has no issuer', () => {
    expect(compileJwt({ card })).toBeUndefined()
    expect(getCompileErrors({ card, jwt: {} })).toStrictEqual([
      { pointer: '/jwt', message: expect.stringContaining('the securitySchemes of the card name none') },
    ])
  })

  const rule = 'must be { scope } or { claim, equals }: which access tokens may read this tier'
  it('is rejected with anything else', () => {
    const rows: [jwt: Json, pointer: string, message: string][] = [
      [[], '', 'must be an object with audience, scope or tiers'],
      [{ issuer: 'x' }, '/issuer', 'is not a known field here. Known fields: audience, scope, tiers'],
      [{ audience: 5 }, '/audience', 'must be an audience, or a list of them'],
      [{ audience: [] }, '/audience', 'must have 1 to 16 audiences'],
      [{ scope: 'a b' }, '/scope', 'must be one scope, without spaces or quotes'],
      [
        { tiers: { platinum: { scope: 'p' } } },
        '/tiers/platinum',
        'is not a tier of this manifest: use silver, gold, or add it to `tiers`',
      ],
      [{ tiers: { gold: {} } }, '/tiers/gold', rule],
      [{ tiers: { gold: { scope: 'a', claim: 'b', equals: 'c' } } }, '/tiers/gold', rule],
      [{ tiers: { gold: { claim: 'plan' } } }, '/tiers/gold/equals', 'is missing'],
      [
        { tiers: { gold: { claim: 'plan', equals: ['gold'] } } },
        '/tiers/gold/equals',
        "must be the claim's value: a string, a number, true or false",
      ],
    ]
    for (const [jwt, pointer, message] of rows)
      expect(getCompileErrors({ card: issued, tiers, jwt })).toStrictEqual([{ pointer: `/jwt${pointer}`, message }])
  })
})
