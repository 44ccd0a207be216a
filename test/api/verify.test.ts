import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { MAX_BODY_BYTES, MAX_SIGNER_KEY_SETS } from '../../src/limits.ts'
import { bilingualCard } from '../support/cards/cards.ts'
import { makeKey, signAtHost, type TestKey } from '../support/cards/signed.ts'
import { type NodeHost, startNodeHost } from '../support/node-host.ts'
import { makeSigningKey } from '../support/signing-key.ts'

const origin = 'https://agent.example'
const cardUrl = `${origin}/.well-known/agent-card.json`
const keySetUrl = `${origin}/.well-known/jwks.json`
const otherKeySetUrl = 'https://other.example/keys.json'

let host: NodeHost
let author: TestKey
let other: TestKey
let signed: JsonObject
beforeAll(async () => {
  vi.spyOn(console, 'info').mockImplementation(() => undefined)
  host = await startNodeHost({
    vars: { SIGNING_KEY: JSON.stringify(makeSigningKey()), PUBLIC_URL: 'https://host.example' },
  })
  await host.put('verify-own', { card: bilingualCard })
  author = await makeKey()
  other = await makeKey()
  signed = await signAtHost(bilingualCard, author, keySetUrl)
})

/** What other servers respond with, by URL, and the requests that they got. */
let served: Record<string, Json | Response>
let requested: { url: string; version: string | null }[]
beforeEach(() => {
  served = { [cardUrl]: signed, [keySetUrl]: { keys: [author.publicJwk] } }
  requested = []
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const url = String(input)
    requested.push({ url, version: new Headers(init?.headers).get('A2A-Version') })
    const found = served[url]
    if (found instanceof Response) return found.clone()
    return found === undefined ? Response.json({}, { status: 404 }) : Response.json(found)
  })
})

const verify = async (body: Json) => {
  const headers = { 'Content-Type': 'application/json' }
  const response = await host.fetch('/verify', { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: response.status, result: (await response.json()) as JsonObject }
}

/** Replaces the limit of outgoing requests. Returns what restores it. */
const limitFetches = (limit: Env['FETCH_LIMIT']['limit']): (() => void) => {
  const { FETCH_LIMIT } = host.env
  Object.assign(host.env, { FETCH_LIMIT: { limit } })
  return () => Object.assign(host.env, { FETCH_LIMIT })
}

const validities = ({ signatures }: JsonObject) => (signatures as JsonObject[]).map(({ valid }) => valid)

const acceptedBy = ({ sdks }: JsonObject) =>
  (sdks as { sdk: string; accepted: boolean }[]).filter(({ accepted }) => accepted).map(({ sdk }) => sdk)

describe('POST /verify with a URL', () => {
  it('verifies the card with the keys of its origin', async () => {
    const { status, result } = await verify({ url: cardUrl })
    expect([status, result]).toEqual([
      200,
      {
        verified: true,
        trust: { basis: 'origin', meaning: expect.stringContaining('is from that server') },
        signatures: expect.any(Array),
        sdks: expect.any(Array),
        keys: { sources: [keySetUrl], errors: [] },
      },
    ])
    expect(result.signatures).toContainEqual({
      ...{ kid: author.kid, alg: 'ES256', typ: 'JOSE', jku: keySetUrl },
      ...{ valid: true, rule: 'wire' },
      key: { kid: author.kid, thumbprint: author.kid, from: keySetUrl },
    })
    expect(result.signatures).toContainEqual(
      expect.objectContaining({ rule: 'proto', omits: 'empty values and fields that A2A 1.0 does not define' }),
    )
    expect(result.sdks).toContainEqual({
      sdk: 'a2a-js 1.3, through its resolver',
      accepted: false,
      reason: expect.stringContaining('loses the security schemes'),
    })
    expect(acceptedBy(result)).toEqual([
      'a2a-js 1.3, on the JSON of the card',
      'a2a-python 1.2 and later',
      'a2a-python up to 1.1',
      'the rule of A2A 1.0 §8.4.1',
      'a JWS library, on the served JSON',
    ])
    expect(requested).toEqual([
      { url: cardUrl, version: null },
      { url: cardUrl, version: '1.0' },
      { url: keySetUrl, version: null },
    ])
  })

  it('verifies the document for A2A 1.0 by itself where it is another', async () => {
    vi.mocked(fetch).mockImplementation(async (input, init) => {
      if (String(input) === keySetUrl) return Response.json({ keys: [author.publicJwk] })
      return Response.json(new Headers(init?.headers).has('A2A-Version') ? { ...signed, version: '9.9.9' } : signed)
    })
    const { result } = await verify({ url: cardUrl })
    expect(result).toMatchObject({ verified: false, reason: 'The document for A2A 1.0 has no valid signature.' })
    expect(result.signatures).toContainEqual(expect.objectContaining({ version: '1.0', valid: false }))
  })

  it('reports that there is no document for A2A 1.0', async () => {
    vi.mocked(fetch).mockImplementation(async (input, init) => {
      if (String(input) === keySetUrl) return Response.json({ keys: [author.publicJwk] })
      const isVersioned = new Headers(init?.headers).has('A2A-Version')
      return isVersioned ? Response.json({}, { status: 406 }) : Response.json(signed)
    })
    const { result } = await verify({ url: cardUrl })
    expect(result).toMatchObject({ verified: true, missing: 'For A2A 1.0, the address responded with HTTP 406.' })
    expect(result.sdks).toContainEqual({
      sdk: 'a2a-js 1.3, through its resolver',
      accepted: false,
      reason: 'gets no card where it requests one for A2A 1.0',
    })
  })

  it('does not follow a jku to another origin, and follows one on the own origin', async () => {
    const rotatedUrl = `${origin}/keys/2027.json`
    served[cardUrl] = await signAtHost(bilingualCard, other, otherKeySetUrl)
    served[otherKeySetUrl] = { keys: [other.publicJwk] }
    expect((await verify({ url: cardUrl })).result).toMatchObject({
      verified: false,
      keys: {
        sources: [keySetUrl],
        errors: ['https://other.example/keys.json is not read: it is not on the origin of the card'],
      },
    })
    served[cardUrl] = await signAtHost(bilingualCard, other, rotatedUrl)
    served[rotatedUrl] = { keys: [other.publicJwk] }
    expect((await verify({ url: cardUrl })).result).toMatchObject({ verified: true })
    expect(requested.map(({ url }) => url)).not.toContain(otherKeySetUrl)
  })

  it('rejects what is no card, and addresses that it does not call', async () => {
    const rows: [response: Response, detail: string][] = [
      [Response.json({}, { status: 404 }), 'responded with HTTP 404'],
      [Response.json([]), 'JSON that is not an Agent Card'],
      [Response.json({ name: 'a'.repeat(MAX_BODY_BYTES) }), 'is larger than 256 KiB'],
    ]
    const unavailable = (detail: string) => ({
      ...{ status: 502, result: { code: 'card-unavailable', detail: expect.stringContaining(detail) } },
    })
    for (const [response, detail] of rows) {
      served[cardUrl] = response
      expect(await verify({ url: cardUrl })).toMatchObject(unavailable(detail))
    }
    requested = []
    for (const url of ['https://10.0.0.1/card.json', 'http://agent.example/card.json'])
      expect(await verify({ url })).toMatchObject(unavailable('cannot be reached'))
    expect(requested).toEqual([])
  })

  it('verifies no document that has a name twice, of which readers see different values', async () => {
    const text = `{"name":"Another",${JSON.stringify(signed).slice(1)}`
    served[cardUrl] = new Response(text, { headers: { 'Content-Type': 'application/json' } })
    const { status, result } = await verify({ url: cardUrl })
    expect([status, result.detail]).toEqual([
      502,
      `${cardUrl} responded with JSON in which /name is in its object twice, for the second time in line 1.`,
    ])
  })

  it('verifies cards of this host without a request to itself', async () => {
    const keys = { sources: ['https://host.example/.well-known/jwks.json'], errors: [] }
    for (const path of ['', '/.well-known/agent-card.json', '/.well-known/agent.json']) {
      const { result } = await verify({ url: `https://host.example/agents/verify-own${path}` })
      expect(result, path).toMatchObject({ verified: true, keys })
      expect((result.signatures as JsonObject[]).map(({ version }) => version)).toContain('1.0')
    }
    expect(requested).toEqual([])
  })

  it('reads the keys of this host without a request to itself', async () => {
    const card = (await (await host.fetch('/agents/verify-own')).json()) as JsonObject
    const { result } = await verify({ card, keys: ['did:web:host.example'] })
    expect(result).toMatchObject({ verified: true, keys: { sources: ['did:web:host.example'], errors: [] } })
    expect(requested).toEqual([])
  })

  it('reads no DID of a name under which this host publishes none', async () => {
    const body = JSON.stringify({ card: signed, keys: ['did:web:attacker.example'] })
    const headers = { 'Content-Type': 'application/json' }
    const response = await host.fetch('https://attacker.example/verify', { method: 'POST', headers, body })
    expect(await response.json()).toMatchObject({
      keys: { errors: ['did:web:attacker.example responded with HTTP 404'] },
    })
  })

  it('rejects addresses of this host that have no card', async () => {
    for (const [path, detail] of [
      ['/agents/none', 'responded with HTTP 404'],
      ['/health', 'is an address of this host that has no card'],
    ]) {
      const { status, result } = await verify({ url: `https://host.example${path}` })
      expect([status, result.detail]).toEqual([502, expect.stringContaining(`${detail}`)])
    }
  })
})

describe('POST /verify with keys', () => {
  it('reports keys that cannot be read, and a blocked address as an unreachable one', async () => {
    const keys = ['https://10.0.0.1/jwks.json', 'https://gone.example/jwks.json', 'did:web:', { kty: 'oct', k: 'AAAA' }]
    expect((await verify({ card: signed, keys })).result).toMatchObject({
      verified: false,
      keys: {
        errors: [
          'https://10.0.0.1/jwks.json cannot be reached',
          'https://gone.example/jwks.json responded with HTTP 404',
          'did:web: cannot be reached',
          'request has no public key for signatures',
        ],
      },
    })
  })
})

describe('POST /verify with a card alone', () => {
  it('follows the signatures to their keys, but trusts none of them', async () => {
    served[otherKeySetUrl] = { keys: [other.publicJwk] }
    const { result } = await verify({ card: await signAtHost(bilingualCard, other, otherKeySetUrl) })
    expect(result).toMatchObject({
      verified: false,
      reason: expect.stringContaining('The signer of the card chose where its keys are'),
      trust: { basis: 'signer' },
    })
    expect(new Set(validities(result))).toEqual(new Set([true]))
  })

  it('follows at most a few, https only and each once', async () => {
    const jkus = ['http://a.example/jwks', ...Array.from({ length: 5 }, (_, index) => `https://${index}.example/jwks`)]
    const cards = await Promise.all(jkus.map(async jku => signAtHost(bilingualCard, await makeKey(), jku)))
    const { result } = await verify({
      card: { ...bilingualCard, signatures: cards.flatMap(card => card.signatures as Json[]) },
    })
    expect(requested.map(({ url }) => url)).toEqual(jkus.slice(1, 1 + MAX_SIGNER_KEY_SETS))
    expect((result.keys as JsonObject).errors).toEqual([
      ...[0, 1, 2].map(index => `https://${index}.example/jwks responded with HTTP 404`),
      ...[3, 4].map(index => `https://${index}.example/jwks is not read: signatures point to too many key sets`),
      'http://a.example/jwks is not read: it is not https',
    ])
  })
})

describe('the requests that POST /verify sends', () => {
  const urls = Array.from({ length: 5 }, (_, index) => `https://${index}.example/jwks.json`)
  const redirectTo = (Location: string) => new Response(null, { status: 302, headers: { Location } })

  it('are at most 4, and the response names the keys that were not fetched', async () => {
    const { result } = await verify({ card: signed, keys: urls })
    expect(requested.map(({ url }) => url)).toEqual(urls.slice(0, 4))
    expect((result.keys as JsonObject).errors).toEqual([
      ...[0, 1, 2, 3].map(index => `https://${index}.example/jwks.json responded with HTTP 404`),
      'https://4.example/jwks.json was not fetched: this host sends at most 4 requests, redirects included. Send the keys themselves as JWKs, fewer addresses of keys, or the address that the card is redirected to',
    ])
  })

  it('leave one for the keys of a card that is redirected once: the redirect is not requested for A2A 1.0', async () => {
    const movedUrl = `${origin}/moved.json`
    served = { ...served, [cardUrl]: redirectTo(movedUrl), [movedUrl]: signed }
    const { result } = await verify({ url: cardUrl })
    expect(requested).toEqual([
      { url: cardUrl, version: null },
      { url: movedUrl, version: null },
      { url: movedUrl, version: '1.0' },
      { url: keySetUrl, version: null },
    ])
    expect(result).toMatchObject({ verified: true, keys: { sources: [keySetUrl], errors: [] } })
    served[movedUrl] = redirectTo(`${origin}/further.json`)
    expect((await verify({ url: cardUrl })).result.detail).toBe(`${cardUrl} redirects more than 1 times.`)
  })

  it('are not sent to the origin that a card is redirected to, which proves nothing for the named one', async () => {
    const movedOrigin = 'https://www.agent.example'
    const movedKeys = `${movedOrigin}/.well-known/jwks.json`
    const moved = await signAtHost(bilingualCard, other, movedKeys)
    served = { ...served, [cardUrl]: redirectTo(`${movedOrigin}/card.json`), [`${movedOrigin}/card.json`]: moved }
    served[movedKeys] = { keys: [other.publicJwk] }
    served[keySetUrl] = Response.json({}, { status: 404 })
    expect((await verify({ url: cardUrl })).result).toMatchObject({
      verified: false,
      keys: {
        errors: [
          `${keySetUrl} responded with HTTP 404`,
          `${movedKeys} is not read: the card is redirected to this origin. To trust its keys, name the address there`,
        ],
      },
    })
    expect((await verify({ url: `${movedOrigin}/card.json` })).result).toMatchObject({ verified: true })
  })

  it('count each against the limit of the client address, but not what is read of this host', async () => {
    const keys: string[] = []
    const restore = limitFetches(async ({ key }) => ({ success: keys.push(key) > 0 }))
    await verify({ url: cardUrl })
    await verify({ url: 'https://host.example/agents/verify-own', keys: ['did:web:host.example'] })
    restore()
    expect(keys).toEqual(Array(3).fill('verify:unknown'))
  })

  it('are refused past that limit, for the card and for the keys', async () => {
    for (const passing of [0, 2]) {
      let count = 0
      requested = []
      const restore = limitFetches(async () => ({ success: count++ < passing }))
      const { status, result } = await verify({ url: cardUrl })
      restore()
      expect([status, result.code, requested.length]).toEqual([429, 'too-many-requests', passing])
    }
  })
})

it('rejects an invalid body of POST /verify', async () => {
  const rows: [body: Json, detail: string][] = [
    [{}, 'The body must have either `card` or `url`.'],
    [{ card: {}, url: cardUrl }, 'The body must have either `card` or `url`.'],
    [bilingualCard, '/name is not a known field here. Known fields: card, url, keys.'],
    [[], 'The body must be an object with card or url, and optionally keys.'],
    [{ url: 'file:///etc/passwd' }, '/url must be the URL of a card'],
    [{ card: {}, keys: [] }, '/keys must name at least one key'],
    [{ card: {}, keys: Array(6).fill({}) }, '/keys must have at most 5 entries'],
    [{ card: {}, keys: ['key'] }, '/keys/0 must be a JWK'],
  ]
  for (const [body, detail] of rows)
    expect(await verify(body)).toMatchObject({
      ...{ status: 422, result: { code: 'invalid-verify-request', detail: expect.stringContaining(detail) } },
    })
})
