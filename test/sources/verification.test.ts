import { beforeEach, describe, expect, it } from 'vitest'
import { compileDocument } from '../../src/card/compile/index.ts'
import type { TrustedKeys } from '../../src/card/manifest/upstream.ts'
import { writePayload } from '../../src/card/signatures/index.ts'
import { type Json, type JsonObject, omit } from '../../src/json/json.ts'
import type { CardVerification } from '../../src/registry/source-record.ts'
import { acceptVerification, evaluateCard, readCovered, verifyFetched } from '../../src/sources/verification.ts'
import { makeKey, signAs } from '../support/cards/signed.ts'

const origin = 'https://a.example.com'
const card: JsonObject = {
  name: 'Agent',
  description: 'Does things',
  version: '1.2.0',
  supportedInterfaces: [{ url: `${origin}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: false },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  securitySchemes: {
    bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } },
    key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } },
  },
  securityRequirements: [{ schemes: { bearer: { list: ['call'] } } }],
  skills: [{ id: 's', name: 'S', description: 'D', tags: ['t'] }],
}
const author = await makeKey('author')
const attacker = await makeKey('attacker')

/** The documents of the network, by URL. */
let documents: Record<string, Json>
let fetched: string[]
beforeEach(() => {
  documents = {}
  fetched = []
})
const fetchJson = async (url: string) => {
  fetched.push(url)
  const document = documents[url]
  return document === undefined ? { error: 'cannot be reached' } : { document }
}

type Terms = { keys?: TrustedKeys; policy?: 'warn' | 'require'; pinned?: string[] }
const verify = (document: JsonObject, { keys = [author.publicJwk], policy = 'require', pinned }: Terms = {}) =>
  verifyFetched(document, {
    source: { url: `${origin}/card.json` },
    demanded: { policy, keys },
    pinned,
    fetchJson,
  })
const verificationOf = async (document: JsonObject, terms?: Terms): Promise<CardVerification> => {
  const result = await verify(document, terms)
  if ('failure' in result) throw new Error(result.failure.message)
  return result.verification
}

describe('a fetched card', () => {
  it('is verified with its key', async () => {
    expect(await verificationOf(await signAs(card, author))).toEqual({
      at: expect.any(Number),
      verified: true,
      rule: 'wire',
      key: { kid: 'author', thumbprint: author.publicKey.thumbprint, from: 'manifest' },
    })
  })

  it('is verified by the signature that covers the most, and used as it is if that is the whole card', async () => {
    const once = await signAs({ ...card, 'x-own': 1 }, author, { rule: 'proto' })
    const twice = await signAs(once, author)
    expect(await verify(twice)).toMatchObject({ card: twice, verification: { rule: 'wire' } })
  })

  it('is reduced to what its signature covers, and keeps no other signature', async () => {
    const signed = await signAs(card, author, { rule: 'proto' })
    const forged = { ...(await signAs(signed, attacker)), 'x-own': 1 }
    expect(await verify(forged)).toMatchObject({ card: { ...signed }, notes: [{ pointer: '/x-own' }] })
    expect(await verify(forged, { policy: 'warn' })).toMatchObject({ card: forged, notes: [] })
  })

  it('is verified with the keys of a JWK Set on its origin, and of a DID', async () => {
    documents[`${origin}/keys.json`] = { keys: [author.publicJwk] }
    documents['https://sign.example.com/.well-known/did.json'] = {
      id: 'did:web:sign.example.com',
      verificationMethod: [{ id: '#attacker', publicKeyJwk: attacker.publicJwk }],
    }
    const keys = [`${origin}/keys.json`, 'did:web:sign.example.com']
    expect(await verificationOf(await signAs(card, author), { keys })).toMatchObject({ key: { from: keys[0] } })
    expect(await verificationOf(await signAs(card, attacker), { keys })).toMatchObject({ key: { from: keys[1] } })
  })
})

describe('a card that is not signed with a trusted key', () => {
  const evil = { url: 'https://evil.example.com', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }
  const attacks: Record<string, () => Promise<JsonObject>> = {
    'has no signatures': async () => card,
    'lost its security schemes': async () => omit(await signAs(card, author), 'securitySchemes'),
    'has another endpoint': async () => ({
      ...(await signAs(card, author, { rule: 'proto' })),
      supportedInterfaces: [evil],
    }),
    'is signed with another key': () => signAs(card, attacker),
    'names its own key set': () => signAs(card, attacker, { header: { jku: 'https://evil.example.com/jwks.json' } }),
  }

  it('is not verified', async () => {
    documents['https://evil.example.com/jwks.json'] = { keys: [attacker.publicJwk] }
    const reason = expect.stringMatching(/^(it has no sig|signature 1 )/)
    for (const [title, attack] of Object.entries(attacks))
      expect({ title, ...(await verificationOf(await attack())) }).toMatchObject({ title, verified: false, reason })
    expect(fetched).toEqual([])
  })

  it('names three signatures in the reason, and is short', async () => {
    let signed = card
    for (const _ of Array(6)) signed = await signAs(signed, attacker)
    const { reason = '' } = (await verificationOf(signed)) as { reason?: string }
    expect(reason.match(/signature \d/g)).toHaveLength(3)
    expect(reason.length).toBeLessThan(510)
  })
})

describe('keys that cannot be read', () => {
  const url = `${origin}/keys.json`

  it('are a failure of the source, which may pass', async () => {
    const message = expect.stringContaining('its keys cannot be read')
    for (const set of [undefined, Array.from({ length: 10_000 }, () => author.publicJwk), []]) {
      if (set) documents[url] = { keys: set }
      const result = await verify(await signAs(card, author), { keys: [url] })
      expect(result).toMatchObject({ failure: { status: 502, code: 'unreachable', message } })
    }
  })

  it('leave the card unverified if that is only reported', async () => {
    const signed = await signAs(card, author)
    expect(await verify(signed, { keys: [url], policy: 'warn' })).toMatchObject({
      card: signed,
      verification: { verified: false, reason: `its keys cannot be read: ${url} cannot be reached` },
    })
  })

  it('do not matter if another key has signed the card', async () => {
    const keys = [url, author.publicJwk]
    expect(await verificationOf(await signAs(card, author), { keys })).toMatchObject({ verified: true })
  })
})

describe('first-use', () => {
  const keySet = `${origin}/.well-known/jwks.json`
  const terms = { keys: 'first-use' } as const

  it('pins the keys that signed the first card', async () => {
    documents[keySet] = { keys: [author.publicJwk, attacker.publicJwk] }
    const signed = await signAs(await signAs(card, author), attacker)
    const pinned = [author.publicKey.thumbprint, attacker.publicKey.thumbprint]
    expect(await verificationOf(signed, terms)).toMatchObject({ verified: true, pinned })
  })

  it('follows a jku to the origin of the card only', async () => {
    documents[`${origin}/own.json`] = { keys: [author.publicJwk] }
    documents[keySet] = { keys: [] }
    documents['https://evil.example.com/jwks.json'] = { keys: [attacker.publicJwk] }
    const own = await signAs(card, author, { header: { jku: `${origin}/own.json` } })
    expect(await verificationOf(own, terms)).toMatchObject({ verified: true })
    const foreign = await signAs(card, attacker, { header: { jku: 'https://evil.example.com/jwks.json' } })
    expect(await verify(foreign, terms)).toHaveProperty('failure')
    expect(fetched).toEqual([`${origin}/own.json`, keySet])
  })

  it('holds back another key, although the key set has it, until an owner accepts it', async () => {
    documents[keySet] = { keys: [author.publicJwk, attacker.publicJwk] }
    const pinned = [author.publicKey.thumbprint]
    const verification = await verificationOf(await signAs(card, attacker), { ...terms, pinned })
    expect(verification).toMatchObject({ verified: true, pinned })
    const thumbprint = attacker.publicKey.thumbprint
    expect(evaluateCard({ card, verification }, {}).violations).toEqual([
      { pointer: '/signatures', message: `are by another key than before: ${thumbprint}` },
    ])
    expect(acceptVerification(verification)).toMatchObject({ pinned: [thumbprint] })
  })

  it('prefers the pinned key to one whose signature covers more, and pins no other', async () => {
    documents[keySet] = { keys: [author.publicJwk, attacker.publicJwk] }
    const pinned = [author.publicKey.thumbprint]
    const signed = await signAs({ ...card, 'x-own': 1 }, author, { rule: 'proto' })
    const verification = await verificationOf(await signAs(signed, attacker), { ...terms, pinned })
    expect(verification).toMatchObject({ rule: 'proto', key: { kid: 'author' }, pinned })
    expect(evaluateCard({ card, verification }, {}).violations).toEqual([])
  })
})

describe('evaluateCard', () => {
  const key = { kid: 'a', thumbprint: 't', from: 'manifest' } as const
  const verified = { at: 0, verified: true, rule: 'wire', key } as const
  const unverified = { at: 0, verified: false, reason: 'it has no signatures' } as const
  const text = JSON.stringify(card)

  it('holds back a version that is older than what is served', () => {
    const countViolations = (version: string) =>
      evaluateCard({ card: { ...card, version }, verification: verified }, { card: text }).violations.length
    expect(['1.1.9', '1.2.0', '1.10.0', 'older'].map(countViolations)).toEqual([1, 0, 0, 0])
  })

  it('keeps the acceptance of the same card only', () => {
    const before = { card: text, verification: acceptVerification(unverified) }
    expect(evaluateCard({ card, verification: unverified }, before)).toEqual({
      verification: { ...unverified, accepted: true },
      violations: [],
    })
    expect(evaluateCard({ card: { ...card, name: 'B' }, verification: unverified }, before).violations).toHaveLength(1)
    const wasVerified = { card: text, verification: verified }
    expect(evaluateCard({ card, verification: unverified }, wasVerified).violations).toHaveLength(1)
  })
})

describe('readCovered', () => {
  it('leaves out what anybody could have added to a card that is signed by the rule proto, with a note', () => {
    const added = { ...card, url: 'https://evil.example.com', 'x-own': 1, security: [], iconUrl: '', extra: {} }
    const covered = readCovered(added, 'proto')
    expect(covered.card).toEqual(card)
    expect(covered.notes).toEqual([
      { pointer: '/x-own', message: 'left out, as far as the signature (rule proto) does not cover it' },
    ])
  })

  it('leaves out empty lists that would open a skill, for the rule served', () => {
    const opened = { ...card, skills: [{ ...(card.skills as JsonObject[])[0], securityRequirements: [] }] }
    expect(readCovered(opened, 'served').card).toEqual(card)
  })

  const bearer = (...list: string[]) => ({ schemes: { bearer: { list } } })
  const key = { schemes: { key: { list: [] } } }
  const open = { schemes: {} }
  it('keeps requirements without scopes, which only restrict, and drops alternatives that open the card', () => {
    const both = { schemes: { ...bearer('call').schemes, ...key.schemes } }
    for (const [received, expected] of [
      [[bearer()], [bearer()]],
      [[bearer('call'), key], [bearer('call')]],
      [[bearer('call'), open], [bearer('call')]],
      [[both], [both]],
    ] as const) {
      const covered = readCovered({ ...card, securityRequirements: received as never }, 'proto')
      expect(covered.card.securityRequirements).toEqual(expected)
      // The attacker cannot have changed what the signature covers.
      const payload = writePayload('proto', { ...card, securityRequirements: received as never })
      expect(writePayload('proto', covered.card)).toBe(payload)
    }
  })

  it('keeps requirements of a skill that restrict an open card, and drops those that are weaker than the card', () => {
    for (const [ofCard, ofSkill, expected] of [
      [[], [bearer()], [bearer()]],
      [[bearer('call')], [open], undefined],
      [[bearer('call')], [key], undefined],
    ] as [Json[], Json[], Json[]?][]) {
      const skills = [{ ...(card.skills as JsonObject[])[0], securityRequirements: ofSkill }]
      const covered = readCovered({ ...card, securityRequirements: ofCard, skills }, 'proto')
      expect((covered.card.skills as JsonObject[])[0]?.securityRequirements).toEqual(expected)
    }
  })

  it('compiles, also where the rule leaves out values that A2A requires', () => {
    const empty = { ...card, skills: [{ id: 's', name: 'S', description: '', tags: [] }], capabilities: {} }
    const { card: fetched } = readCovered(empty, 'proto')
    const manifest = { upstream: { card: `${origin}/card.json` } }
    const result = compileDocument(manifest, { id: 'a', requestOrigin: 'https://h.example', fetched })
    expect('errors' in result ? result.errors : []).toEqual([])
  })
})
