import { calculateJwkThumbprint } from 'jose'
import { describe, expect, it } from 'vitest'
import { getSigningKeys } from '../../src/signing/keys.ts'
import { makeSigningKey } from '../support/signing-key.ts'

const key = makeSigningKey()
const { d, ...publicKey } = key
const other = makeSigningKey()
const read = (secret: unknown) =>
  getSigningKeys({ SIGNING_KEY: typeof secret === 'string' ? secret : JSON.stringify(secret) })
const published = async ({ x, y }: { x: string; y: string }) => ({
  kty: 'EC',
  crv: 'P-256',
  x,
  y,
  kid: await calculateJwkThumbprint({ kty: 'EC', crv: 'P-256', x, y }),
  alg: 'ES256',
  use: 'sig',
})

describe('getSigningKeys', () => {
  it('reads one JWK, and names it by its thumbprint, whatever `kid` it has', async () => {
    const expected = await published(key)
    for (const secret of [key, { ...key, kid: 'mine', alg: 'ES256', use: 'sig', key_ops: ['sign'] }])
      expect(await read(secret)).toEqual({
        privateKey: expect.any(CryptoKey),
        kid: expected.kid,
        published: [expected],
      })
  })

  it('signs with the first key of a JWK Set, and publishes all, each once', async () => {
    const { d: _, ...otherPublic } = other
    for (const secret of [
      { keys: [key, other] },
      { keys: [key, otherPublic] },
      { keys: [key, otherPublic, publicKey, other] },
    ])
      expect(await read(secret)).toMatchObject({
        kid: (await published(key)).kid,
        published: [await published(key), await published(other)],
      })
  })

  it('publishes no private member', async () => {
    const keys = await read({ keys: [{ ...key, oth: 'secret-member' }, other] })
    const text = JSON.stringify('published' in keys && keys.published)
    expect(text).toContain(key.x)
    for (const secret of [d, other.d, 'secret-member', '"d"']) expect(text).not.toContain(secret)
  })

  it('cannot export the private key', async () => {
    expect(await read(key)).toMatchObject({ privateKey: { extractable: false, usages: ['sign'] } })
  })

  it.each<[string, unknown]>([
    ['text that is no JSON', `${d} {`],
    ['null', 'null'],
    ['a PEM', '-----BEGIN PRIVATE KEY-----'],
    ['a public key', publicKey],
    ['an empty set', { keys: [] }],
    ['a set whose first key is public', { keys: [publicKey, other] }],
    ['a set with a key of another type', { keys: [key, { kty: 'oct', k: 'AAAA' }] }],
    ['a set with a point that is not on the curve', { keys: [key, { ...publicKey, y: other.y }] }],
    ['another curve', { ...key, crv: 'P-384' }],
    ['another algorithm', { ...key, alg: 'ES384' }],
    ['a key for encryption', { ...key, use: 'enc' }],
    ['a private part of another key', { ...key, d: other.d }],
    ['a truncated private part', { ...key, d: d.slice(1) }],
    ['a point that is not on the curve', { ...key, y: other.y }],
  ])('rejects %s, without repeating the secret', async (_, secret) => {
    const result = await read(secret)
    expect(result).toEqual({
      misconfigured:
        'The SIGNING_KEY of this Worker is not a private key for ES256 (P-256) as a JWK, or a JWK Set that begins with one. Create one: npx sync-card keys create',
    })
  })

  it.each([{}, { SIGNING_KEY: '' }])('says how to create a missing key: %j', async env => {
    expect(await getSigningKeys(env)).toEqual({
      misconfigured: 'This Worker has no SIGNING_KEY. Create one: npx sync-card keys create',
    })
  })
})
