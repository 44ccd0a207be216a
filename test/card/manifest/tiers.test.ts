import { describe, expect, it } from 'vitest'
import type { Json } from '../../../src/json/json.ts'
import { shortCard as card } from '../../support/cards/cards.ts'
import { compileCard, getCompileErrors } from '../../support/cards/compile.ts'

describe('`jwt` of a manifest', () => {
  const openIdConnectUrl = 'https://id.example/.well-known/openid-configuration'
  const issued = { ...card, securitySchemes: { oidc: { type: 'openIdConnect', openIdConnectUrl } } }
  const tiers = { silver: {}, gold: {} }
  const compileJwt = (manifest: Json) => compileCard(manifest).profile.jwt

  it.each<[string, Json, Json | undefined]>([
    ['tokens for the URL of this agent by default', undefined as never, undefined],
    ['tokens for one audience', { audience: 'weather' }, { audience: ['weather'] }],
    ['tokens for several audiences', { audience: ['a', 'b'] }, { audience: ['a', 'b'] }],
    ['tokens with a scope', { scope: 'a2a:read' }, { scope: 'a2a:read' }],
    [
      'tokens for each tier by a scope or a claim',
      { tiers: { silver: { scope: 'silver' }, gold: { claim: 'plan', equals: 'gold' } } },
      { tiers: { silver: { scope: 'silver' }, gold: { claim: 'plan', equals: 'gold' } } },
    ],
  ])('accepts %s', (_, jwt, expected) => {
    expect(compileJwt({ card: issued, tiers, ...(jwt && { jwt }) })).toStrictEqual({
      audience: ['https://host.example/agents/weather'],
      tiers: {},
      ...(expected as object),
    })
  })

  it('is rejected where the card has no issuer', () => {
    expect(compileJwt({ card })).toBeUndefined()
    expect(getCompileErrors({ card, jwt: {} })).toStrictEqual([
      { pointer: '/jwt', message: expect.stringContaining('the securitySchemes of the card name none') },
    ])
  })

  const rule = 'must be { scope } or { claim, equals }: which access tokens may read this tier'
  it.each<[string, Json, string, string]>([
    ['a list', [], '', 'must be an object with audience, scope or tiers'],
    ['an unknown field', { issuer: 'x' }, '/issuer', 'is not a known field here. Known fields: audience, scope, tiers'],
    ['a number as the audience', { audience: 5 }, '/audience', 'must be an audience, or a list of them'],
    ['an empty list of audiences', { audience: [] }, '/audience', 'must have 1 to 16 audiences'],
    ['several scopes', { scope: 'a b' }, '/scope', 'must be one scope, without spaces or quotes'],
    [
      'an unknown tier',
      { tiers: { platinum: { scope: 'p' } } },
      '/tiers/platinum',
      'is not a tier of this manifest: use silver, gold, or add it to `tiers`',
    ],
    ['a tier without a rule', { tiers: { gold: {} } }, '/tiers/gold', rule],
    ['a tier with two rules', { tiers: { gold: { scope: 'a', claim: 'b', equals: 'c' } } }, '/tiers/gold', rule],
    ['a claim without its value', { tiers: { gold: { claim: 'plan' } } }, '/tiers/gold/equals', 'is missing'],
    [
      'a claim that equals a list',
      { tiers: { gold: { claim: 'plan', equals: ['gold'] } } },
      '/tiers/gold/equals',
      "must be the claim's value: a string, a number, true or false",
    ],
  ])('is rejected with %s', (_, jwt, pointer, message) => {
    expect(getCompileErrors({ card: issued, tiers, jwt })).toStrictEqual([{ pointer: `/jwt${pointer}`, message }])
  })
})
