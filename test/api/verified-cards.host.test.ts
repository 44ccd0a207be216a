import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { type CalledHost, useSharedHost } from '../support/called-host.ts'
import { agentCard } from '../support/cards/cards.ts'
import { makeKey, signAs } from '../support/cards/signed.ts'
import { token } from '../support/host.ts'
import { makeSigningKey } from '../support/signing-key.ts'
import { json, reply } from '../support/upstream.ts'

const author = await makeKey('author')
const attacker = await makeKey('attacker')
let called: CalledHost
let card: JsonObject
/** What the upstream publishes. */
let published: JsonObject
let keySet: JsonObject | undefined

beforeAll(async () => {
  called = await useSharedHost()
})
afterAll(() => called.close())
beforeEach(() => {
  card = { ...agentCard(called.agent.origin), version: '1.2.0' }
  keySet = { keys: [author.publicJwk] }
  called.agent.respond((response, { url }) => {
    const body = url === '/.well-known/jwks.json' ? keySet : published
    reply(body === undefined ? 503 : 200, json, JSON.stringify(body ?? null))(response)
  })
})

type SourceBody = { state: string; verification?: JsonObject; failure?: JsonObject; pending?: JsonObject }
const put = async (id: string, upstream: JsonObject = { keys: author.publicJwk }, more: JsonObject = {}) => {
  const source = `${called.agent.origin}/card.json`
  const body = { ...more, upstream: { card: source, ...upstream } }
  const response = await called.send(`/agents/${id}`, { method: 'PUT', token, body })
  return { ...response, source: (response.body as { source: SourceBody }).source }
}
const refresh = async (id: string, accept?: string) => {
  const { status, body } = await called.send(`/agents/${id}/refresh`, { token, ...(accept && { body: { accept } }) })
  return { status, ...(body as { outcome?: string; code?: string; pending?: { etag: string; widens: JsonObject[] } }) }
}
const getSource = async (id: string) => {
  const { body } = await called.send(`/agents/${id}/source`, { method: 'GET', token })
  return (body as { source: SourceBody }).source
}
const getCard = async (id: string) => {
  const path = `/agents/${id}/.well-known/agent-card.json?dialect=1.0`
  const { status, body } = await called.send(path, { method: 'GET' })
  return { status, ...(body as { description?: string }) }
}

describe('a remote card whose manifest names keys', () => {
  it('is served if one of them has signed it, and its source shows the rule and the key', async () => {
    published = await signAs(card, author)
    const { status, source } = await put('verified')
    expect([status, source.state]).toEqual([201, 'fresh'])
    const verification = { verified: true, rule: 'wire', key: { kid: 'author', from: 'manifest' } }
    expect(source).toMatchObject({ verify: 'require', verification })
    expect(await getSource('verified')).toMatchObject({ state: 'fresh', verify: 'require', verification })
    expect((await getCard('verified')).status).toBe(200)
  })

  it('is not served if the first one is not verified, until one is', async () => {
    published = card
    const { status, source } = await put('unsigned')
    expect([status, source.state, source.failure?.code]).toEqual([201, 'no-card', 'unverified'])
    expect((await getCard('unsigned')).status).toBe(502)
    expect(await refresh('unsigned')).toMatchObject({ status: 502, code: 'upstream-unverified' })
    published = await signAs(card, author)
    expect((await refresh('unsigned')).outcome).toBe('refreshed')
    expect((await getCard('unsigned')).status).toBe(200)
  })

  it('waits for its owner if it stops being verified, while the one before is served', async () => {
    published = await signAs(card, author)
    await put('stopped')
    published = await signAs({ ...card, description: 'Tells lies' }, attacker)
    const { outcome, pending } = await refresh('stopped')
    const message = expect.stringContaining('do not verify the card: signature 1 names the key "attacker"')
    expect([outcome, pending?.widens]).toEqual(['pending', [{ pointer: '/signatures', message }]])
    expect(await getCard('stopped')).toMatchObject({ description: card.description })
    expect((await refresh('stopped', pending?.etag)).outcome).toBe('refreshed')
    expect(await getCard('stopped')).toMatchObject({ description: 'Tells lies' })
  })

  it('is verified again as if it were the first when the manifest names other keys', async () => {
    published = await signAs(card, author)
    await put('rekeyed')
    const { source } = await put('rekeyed', { keys: attacker.publicJwk })
    expect(source).toMatchObject({ state: 'no-card', failure: { code: 'unverified' } })
    expect((await getCard('rekeyed')).status).toBe(502)
    expect((await put('rekeyed', { keys: [attacker.publicJwk, author.publicJwk] })).source.state).toBe('fresh')
  })

  it('is served without a valid signature if `verify` is warn or off', async () => {
    published = await signAs(card, attacker)
    const { source: warned } = await put('policy-warn', { keys: author.publicJwk, verify: 'warn' })
    const notes = [{ pointer: '/signatures', message: expect.stringContaining('do not verify the card') }]
    expect(warned).toMatchObject({ state: 'fresh', verify: 'warn', notes, verification: { verified: false } })
    const { source: ignored } = await put('policy-off', { keys: author.publicJwk, verify: 'off' })
    expect([ignored.state, 'verify' in ignored, 'notes' in ignored]).toEqual(['fresh', false, false])
    expect([(await getCard('policy-warn')).status, (await getCard('policy-off')).status]).toEqual([200, 200])
  })
})

describe('the keys in a manifest', () => {
  const { d } = makeSigningKey()
  it('are rejected where they verify nothing', async () => {
    const jwk = author.publicJwk
    const rows: [upstream: JsonObject, pointer: string, message: string][] = [
      [{ keys: { ...jwk, d } }, '/upstream/keys/d', 'is private'],
      [{ keys: [{ kty: 'oct' }] }, '/upstream/keys/0', 'EC, OKP or RSA'],
      [{ keys: [{ ...jwk, key_ops: ['encrypt'] }] }, '/upstream/keys/0/key_ops', '`verify`'],
      [{ keys: [{ ...jwk, exp: '1' }] }, '/upstream/keys/0/exp', 'seconds since 1970'],
      [{ keys: [{ ...jwk, crv: 'secp256k1' }] }, '/upstream/keys/0/crv', 'P-256'],
      [{ keys: 'https://evil.example.com/jwks.json' }, '/upstream', 'not on the origin of `card`'],
      [{ keys: 'did:key:z6Mk' }, '/upstream/keys', 'method web'],
      [{ keys: [] }, '/upstream/keys', 'at least one'],
      [{ keys: Array.from({ length: 21 }, () => 'did:web:a.example.com') }, '/upstream/keys', 'at most 20'],
      [{ verify: 'require' }, '/upstream', 'without `keys`'],
      [{ keys: 'first-use', verify: 'strict' }, '/upstream/verify', 'off, warn or require'],
    ]
    for (const [upstream, pointer, message] of rows) {
      const errors = [{ pointer, message: expect.stringContaining(message) }]
      const response = await put('rejected', upstream)
      expect(response, message).toMatchObject({ status: 422, body: { errors } })
      expect(response.text).not.toContain(d)
    }
  })

  it('are rejected without `upstream.card`', async () => {
    const body = { card, upstream: { keys: 'first-use' } }
    const response = await called.send('/agents/rejected', { method: 'PUT', token, body })
    expect([response.status, response.text]).toEqual([422, expect.stringContaining('without `card`')])
  })
})
