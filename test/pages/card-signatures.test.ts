import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { AgentCard } from '../../src/card/model/agent-card.ts'
import { type CardSigner, signCard } from '../../src/card/signatures/index.ts'
import type { JsonObject } from '../../src/json/json.ts'
import { Signatures, signingWords } from '../../src/pages/card/index.ts'
import { findSigning } from '../../src/pages/card/signing.ts'
import { getSigningKeys } from '../../src/signing/signing-keys.ts'
import { agentCard } from '../support/cards/cards.ts'
import { compileCard } from '../support/cards/compile.ts'
import { unescapeHtml } from '../support/html.ts'
import { makeSigningKey } from '../support/signing-key.ts'

const origin = 'https://host.example'
const cardUrl = `${origin}/agents/weather/.well-known/agent-card.json`
const env = { SIGNING_KEY: JSON.stringify(makeSigningKey()) } as unknown as Env
const NAMES = ['agent-card.json', '1.0', '0.3'] as const
type Documents = Record<(typeof NAMES)[number], JsonObject>

let signer: CardSigner
beforeAll(async () => {
  const keys = await getSigningKeys(env)
  if ('misconfigured' in keys) throw new Error(keys.misconfigured)
  signer = { keys: [keys.current], jku: `${origin}/.well-known/jwks.json`, known: {} }
})

const documentsOf = (card: JsonObject): Documents => compileCard(card).documents as unknown as Documents

const signAll = async (documents: Documents): Promise<Documents> => {
  const signed = await Promise.all(NAMES.map(async name => [name, (await signCard(documents[name], signer)).document]))
  return Object.fromEntries(signed) as Documents
}

/** Returns what the section of signatures shows, its words, and its HTML. */
const show = async (documents: Documents, from: Env = env) => {
  const signing = await findSigning(documents, [origin], from)
  const facts = { ...{ id: 'weather', signing, cardUrl }, card: documents['1.0'] as unknown as AgentCard }
  const html = String((await Signatures(facts as never)) ?? '')
  const text = unescapeHtml(html.replace(/<\/?(?:bdi|code|a)\b[^>]*>/g, '').replace(/<[^>]*>/g, ' ')).replace(
    /\s+/g,
    ' ',
  )
  return { html, text, words: signingWords(signing) }
}

/** Returns a signature with this protected header, which nobody can verify. */
const unverifiable = (header: object) => ({
  protected: Buffer.from(JSON.stringify(header)).toString('base64url'),
  signature: 'c2ln',
})

const secured = (): JsonObject => ({
  ...agentCard('https://agent.test'),
  securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
})

describe('the signatures of this host', () => {
  it('are shown with their key, their documents and what they cover', async () => {
    const { text, words } = await show(await signAll(documentsOf(agentCard('https://agent.test'))))
    expect(words).toBe('Signed by this host')
    expect(text).toContain(
      `Signed by this host with the key ${signer.keys[0]?.kid} (ES256) from ${origin}/.well-known/jwks.json.`,
    )
    expect(text).toContain('In Hybrid, A2A 1.0 and A2A 0.3')
    expect(text).toContain(
      'Covers the whole card (wire) and all but empty values and fields that A2A 1.0 does not define (proto)',
    )
    expect(text).toContain(`curl ${origin}/verify -H 'Content-Type: application/json' -d '{"url":"${cardUrl}"}'`)
  })

  it('are shown with the SDKs that accept them, and why others do not', async () => {
    const { html } = await show(await signAll(documentsOf(secured())))
    const lines = [...html.matchAll(/<li class="(yes|no)">(.*?)<\/li>/g)].map(([, kind, line = '']) => [
      kind,
      line.replace(/<[^>]*>/g, ''),
    ])
    expect(lines).toEqual([
      ['yes', 'a2a-js 1.3, on the JSON of the card: accepts the card.'],
      [
        'no',
        expect.stringMatching(
          /^a2a-js 1\.3, through its resolver: does not accept the card\. It loses the security schemes/,
        ),
      ],
      ['yes', 'a2a-python 1.2 and later: accepts the card.'],
      ['yes', 'a2a-python up to 1.1: accepts the card.'],
      ['yes', 'the rule of A2A 1.0 §8.4.1: accepts the card.'],
      ['yes', 'a JWS library, on the served JSON: accepts the card.'],
    ])
  })

  it('are not shown as such if the card was changed', async () => {
    const signed = await signAll(documentsOf(agentCard('https://agent.test')))
    const changed = NAMES.map(name => [name, { ...signed[name], description: 'Another' }])
    const { text, words } = await show(Object.fromEntries(changed) as Documents)
    expect(words).toBe('Its signature is not valid')
    expect(text).toContain('Not a valid signature of this host, although it names the key')
    expect(text).toContain('It is not valid for this card under any rule.')
    expect(text).not.toContain('accepts the card')
  })

  it('are not shown as such without the key that made them', async () => {
    for (const [name, SIGNING_KEY] of [
      ['the key is no longer published', JSON.stringify(makeSigningKey())],
      ['there is no key', ''],
    ] as const) {
      const signed = await signAll(documentsOf(agentCard('https://agent.test')))
      const { text } = await show(signed, { SIGNING_KEY } as unknown as Env)
      expect(text, name).toContain('which is not among the trusted keys.')
    }
  })
})

describe('signatures that name a key of this host', () => {
  it('are verified up to the number that it makes', async () => {
    const forge = async (count: number): Promise<number> => {
      const kid = signer.keys[0]?.kid
      const signatures = Array.from({ length: count }, (_, n) => unverifiable({ alg: 'ES256', typ: 'JOSE', kid, n }))
      const documents = documentsOf(agentCard('https://agent.test'))
      const verify = vi.spyOn(crypto.subtle, 'verify').mockClear()
      const forged = NAMES.map(name => [name, { ...documents[name], signatures }])
      const { words } = await show(Object.fromEntries(forged))
      expect(words).toBe('Its signature is not valid')
      return verify.mock.calls.length
    }
    const [one, eight, twenty] = [await forge(1), await forge(8), await forge(20)]
    expect([one > 0, eight, twenty]).toEqual([true, 8 * one, 8 * one])
  })
})

describe('the signatures of an author', () => {
  const withSignatures = (signatures: JsonObject[]): Documents => {
    const documents = documentsOf(agentCard('https://agent.test'))
    return { ...documents, '0.3': { ...documents['0.3'], signatures } }
  }

  it('are shown with their key, as not verified, with the command that verifies them', async () => {
    const signatures = [unverifiable({ alg: 'ES256', kid: 'k1', jku: 'https://keys.example/jwks.json' })]
    const { text, html, words } = await show(withSignatures(signatures))
    expect(words).toBe('Signed by its author (not verified here)')
    expect(text).toContain('A signature of its author names the key k1 (ES256) from https://keys.example/jwks.json.')
    expect(text).toContain('In A2A 0.3')
    expect(text).toContain('This page does not verify the signatures of the author')
    expect(text).toContain(`curl ${origin}/verify -H 'Content-Type: application/json' -d '{"url":"${cardUrl}"}'`)
    expect(html).toContain('<a href="https://keys.example/jwks.json" rel="noopener nofollow ugc"')
    expect(text).not.toContain('Which verifiers')
  })

  it('are shown if they name nothing', async () => {
    const rows: [string, unknown][] = [
      ['no JSON', { protected: '!', signature: 'c2ln' }],
      ['no key', unverifiable({ alg: 'ES256' })],
      ['no text', { protected: 7 }],
      ['no object', 'x'],
    ]
    for (const [name, signature] of rows)
      expect((await show(withSignatures([signature as JsonObject]))).text, name).toContain('a key without a name')
  })

  it('are text: they end no element, run no script, reorder nothing, and are cut', async () => {
    const kid = `"><script>pwned()</script>\u202e${'x'.repeat(9000)}`
    const { html } = await show(withSignatures([unverifiable({ alg: kid, kid, jku: `javascript:${kid}` })]))
    expect(html).not.toContain('<script')
    expect(html).not.toContain('\u202e')
    expect(html).not.toContain('href="javascript')
    expect(html.length).toBeLessThan(3000)
  })

  it('are listed once for each key, at most ten', async () => {
    const signatures = Array.from({ length: 20 }, (_, index) => unverifiable({ alg: 'ES256', kid: `k${index >> 1}` }))
    expect((await show(withSignatures(signatures))).html.match(/<li class="panel">/g)).toHaveLength(10)
    const others = Array.from({ length: 12 }, (_, index) => unverifiable({ alg: 'ES256', kid: `k${index}` }))
    expect((await show(withSignatures(others))).text).toContain('And 2 more.')
  })
})

describe('a card with signatures of both', () => {
  it('names both, and judges SDKs by the keys of this host', async () => {
    const documents = await signAll(documentsOf(agentCard('https://agent.test')))
    const signatures = [unverifiable({ alg: 'ES256', typ: 'JOSE', kid: 'k1' })]
    const { text, words } = await show({ ...documents, '1.0': { ...documents['1.0'], signatures } })
    expect(words).toBe('Signed by this host and its author (not verified here)')
    expect(text).toContain('a JWS library, on the served JSON: accepts the card.')
    expect(text).toContain('through its resolver: does not accept the card. It finds a signature that names the key')
  })
})

describe('a card without signatures', () => {
  it('has no section, and a word', async () => {
    const { html, words } = await show(documentsOf(agentCard('https://agent.test')))
    expect([html, words]).toEqual(['', 'Not signed'])
  })
})
