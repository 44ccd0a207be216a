import { calculateJwkThumbprint } from 'jose'
import { describe, expect, it } from 'vitest'
import { getSigningKeys, type KeyEnv, listKeys, nameSigners } from '../../src/signing/signing-keys.ts'
import { makeSigningKey } from '../support/signing-key.ts'

const key = makeSigningKey()
const { d, ...publicKey } = key
const other = makeSigningKey()
const now = Date.parse('2026-11-26T12:00:00Z')

const textOf = (secret: unknown): string => (typeof secret === 'string' ? secret : JSON.stringify(secret))
const read = (secret: unknown) => getSigningKeys({ SIGNING_KEY: textOf(secret) })
const kidOf = ({ x, y }: { x: string; y: string }) => calculateJwkThumbprint({ kty: 'EC', crv: 'P-256', x, y })
const published = async ({ x, y }: { x: string; y: string }) => ({
  ...{ kty: 'EC', crv: 'P-256', x, y },
  ...{ kid: await kidOf({ x, y }), alg: 'ES256', use: 'sig' },
})

/** Returns the keys of a host with these secrets, which must be valid. */
const readAll = async (env: KeyEnv, at = now) => {
  const keys = await getSigningKeys(env, at)
  if ('misconfigured' in keys) throw new Error(keys.misconfigured)
  return keys
}

/** Returns a key that signs from a number of seconds after the present on. */
const since = (jwk: object, seconds: number): string => JSON.stringify({ ...jwk, nbf: now / 1000 + seconds })

describe('a signing key', () => {
  it('is one JWK, which is named by its thumbprint, whatever `kid` it has', async () => {
    const { kid } = await published(key)
    for (const secret of [key, { ...key, kid: 'mine', alg: 'ES256', use: 'sig', key_ops: ['sign'] }])
      expect(await read(secret)).toEqual({
        current: {
          ...{ role: 'current', secret: 'SIGNING_KEY', kid, signsFrom: 0 },
          ...{ privateKey: expect.any(CryptoKey), publicKey: await published(key) },
        },
        published: [await published(key)],
      })
  })

  it('is published without its private members', async () => {
    const keys = await readAll({ SIGNING_KEY: textOf({ ...key, oth: 'secret-member' }), SIGNING_KEY_2: textOf(other) })
    const text = JSON.stringify(keys.published)
    expect(text).toContain(key.x)
    for (const secret of [d, other.d, 'secret-member', '"d"', 'nbf']) expect(text).not.toContain(secret)
  })

  it('has one role', async () => {
    const problem = 'The SIGNING_KEY_2 of this Worker is the key of another secret, so it is not used.'
    const twice = await readAll({ SIGNING_KEY: textOf(key), SIGNING_KEY_2: since(key, 60) })
    expect(twice).toMatchObject({ published: [await published(key)], problem })
  })

  it('is imported once for each text of a secret, and named with all others that are invalid', async () => {
    const [first, again] = [await readAll({ SIGNING_KEY: textOf(key) }), await readAll({ SIGNING_KEY: textOf(key) })]
    expect(again.current.privateKey).toBe(first.current.privateKey)
    expect(await getSigningKeys({ SIGNING_KEY: '{', SIGNING_KEY_2: '[' })).toMatchObject({
      misconfigured: expect.stringContaining(
        'The SIGNING_KEY and the SIGNING_KEY_2 of this Worker is not a private key',
      ),
    })
  })

  it('cannot be exported', async () => {
    expect(await read(key)).toMatchObject({ current: { privateKey: { extractable: false, usages: ['sign'] } } })
  })

  it('is nothing else, and the message does not repeat the secret', async () => {
    const problem = (name: string) =>
      `The ${name} of this Worker is not a private key for ES256 (P-256) as a JWK. Create one: npx sync-card keys create`
    // The keys of the other secrets are used all the same.
    const current = { kid: await kidOf(other) }
    for (const [title, secret] of Object.entries({
      'text that is no JSON': `${d} {`,
      'a public key': publicKey,
      'another type': { kty: 'oct', k: 'AAAA' },
      'another curve': { ...key, crv: 'P-384' },
      'another algorithm': { ...key, alg: 'ES384' },
      'a key for encryption': { ...key, use: 'enc' },
      'a private part of another key': { ...key, d: other.d },
      'a point that is not on the curve': { ...key, y: other.y },
      'a time as text': { ...key, nbf: '2026-11-26' },
      'a time with a fraction': { ...key, nbf: 1.5 },
      'a time before 1970': { ...key, nbf: -1 },
      'a time after the year 2188': { ...key, nbf: 6_911_049_600 },
    })) {
      expect({ title, ...(await read(secret)) }).toEqual({ title, misconfigured: problem('SIGNING_KEY') })
      const second = await getSigningKeys({ SIGNING_KEY: textOf(other), SIGNING_KEY_2: textOf(secret) })
      expect({ title, ...second }).toMatchObject({ title, current, problem: problem('SIGNING_KEY_2') })
      const first = await getSigningKeys({ SIGNING_KEY: textOf(secret), SIGNING_KEY_2: textOf(other) })
      expect({ title, ...first }).toMatchObject({ title, current })
    }
  })

  it('may be missing', async () => {
    const misconfigured = 'This Worker has no SIGNING_KEY. Create one: npx sync-card keys create'
    for (const env of [{}, { SIGNING_KEY: '' }]) expect(await getSigningKeys(env)).toEqual({ misconfigured })
  })
})

describe('the roles of keys', () => {
  it('are those of a key whose time has come and of the ones before and after it, in any secret', async () => {
    const names = new Map<string, string>()
    for (const [name, jwk] of Object.entries({ key, other })) names.set(await kidOf(jwk), name)
    for (const [env, ...expected] of [
      [{ SIGNING_KEY: textOf(key) }, 'current key'],
      [{ SIGNING_KEY_2: textOf(key) }, 'current key'],
      // Its time has not come, but there is no other.
      [{ SIGNING_KEY: since(key, 60) }, 'current key'],
      [{ SIGNING_KEY: textOf(key), SIGNING_KEY_2: since(other, 1) }, 'current key', 'next other'],
      [{ SIGNING_KEY: since(other, 1), SIGNING_KEY_2: textOf(key) }, 'current key', 'next other'],
      [{ SIGNING_KEY: textOf(key), SIGNING_KEY_2: since(other, 0) }, 'current other', 'previous key'],
      [{ SIGNING_KEY: since(key, -9), SIGNING_KEY_2: since(other, -99) }, 'current key', 'previous other'],
      [{ SIGNING_KEY: since(key, 99), SIGNING_KEY_2: since(other, 9) }, 'current other', 'next key'],
    ] as [KeyEnv, ...string[]][]) {
      const keys = await readAll(env)
      expect(listKeys(keys).map(({ role, kid }) => `${role} ${names.get(kid)}`)).toEqual(expected)
      expect(keys.published.map(({ kid }) => kid)).toEqual(listKeys(keys).map(({ kid }) => kid))
    }
  })

  it('change with the time alone', async () => {
    const env = { SIGNING_KEY: since(key, -99), SIGNING_KEY_2: since(other, 10) }
    const rolesAt = async (ms: number) => {
      const { current, next, previous } = await readAll(env, ms)
      return [current.kid, next?.kid, previous?.kid]
    }
    const [first, second] = [await kidOf(key), await kidOf(other)]
    expect(await rolesAt(now + 9999)).toEqual([first, second, undefined])
    expect(await rolesAt(now + 10_000)).toEqual([second, undefined, first])
  })

  it('name what signs cards: the current and the previous key, but not the next one', async () => {
    const [first, second] = await Promise.all([key, other].map(kidOf))
    const env = { SIGNING_KEY: textOf(key), SIGNING_KEY_2: since(other, 10) }
    expect(nameSigners(await readAll(env))).toBe(`${first} `)
    expect(nameSigners(await readAll(env, now + 10_000))).toBe(`${second} ${first}`)
    expect(nameSigners({ misconfigured: 'There is none.' })).toBe('')
  })
})
