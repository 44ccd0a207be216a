import { beforeAll, describe, expect, it } from 'vitest'
import type { PayloadRule } from '../../../src/card/model/registration-report.ts'
import { verifyCard, verifySignatures } from '../../../src/card/signatures/index.ts'
import { type JsonObject, omit } from '../../../src/json/json.ts'
import { cleanCard } from '../../support/cards/cards.ts'
import { compileCard } from '../../support/cards/compile.ts'
import { makeKey, makeSigner, signAs, signDocuments } from '../../support/cards/signed.ts'

const key = await makeKey()

const bearer = { httpAuthSecurityScheme: { scheme: 'bearer' } }

const [current, old, rest] = ['https://agent.example/a2a', 'https://agent.example/v0', 'https://agent.example/rest']
const interfaces = [
  { url: current, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
  { url: old, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
  { url: rest, protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
]

/** Signs the documents of a card that requires a bearer token. */
const signCards = (): Promise<Record<string, JsonObject>> => {
  const securityRequirements = [{ schemes: { guard: { list: ['read'] } } }]
  const card = {
    ...omit(cleanCard as JsonObject, 'url', 'protocolVersion'),
    supportedInterfaces: interfaces,
    securitySchemes: { guard: bearer },
    securityRequirements,
    skills: cleanCard.skills.map(skill => ({ ...skill, securityRequirements })),
  }
  return signDocuments(compileCard(card as unknown as JsonObject), makeSigner(key))
}

const evil = 'https://evil.example/a2a'

type Change = (card: JsonObject) => JsonObject
const evilInterface = { url: evil, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }

/** The names of the rules by which a card has a valid signature. */
const validRules = async (card: JsonObject): Promise<PayloadRule[]> =>
  (await verifySignatures(card, [key.publicKey])).flatMap(result => (result.valid ? [result.rule] : []))

const set =
  (members: JsonObject): Change =>
  card => ({ ...card, ...members })

/** Changes of the hybrid, and the member that then contradicts A2A 1.0. */
const contradictions: [change: Change, pointer: string][] = [
  [set({ url: evil }), '/url'],
  [set({ security: [{}] }), '/security'],
]

describe('a signed hybrid', () => {
  let hybrid: JsonObject = {}
  let agentJson: JsonObject = {}
  beforeAll(async () => {
    const { 'agent-card.json': first = {}, 'agent.json': second = {} } = await signCards()
    hybrid = first
    agentJson = second
  })
  const verify = (plain: JsonObject) => verifyCard({ plain }, [key.publicKey], 'given')

  it('is verified as it is', async () => {
    expect(hybrid).toMatchObject({
      url: old,
      preferredTransport: 'JSONRPC',
      protocolVersion: '0.3.0',
      additionalInterfaces: [{ url: rest, transport: 'HTTP+JSON' }],
      supportsAuthenticatedExtendedCard: false,
      securitySchemes: { guard: { ...bearer, type: 'http', scheme: 'bearer' } },
    })
    expect(await verify(hybrid)).toMatchObject({ verified: true })
  })

  it('has no valid signature if somebody changes what its readers of 1.0 see', async () => {
    const changes: JsonObject[] = [
      { supportedInterfaces: [evilInterface] },
      { supported_interfaces: [evilInterface] },
      { securitySchemes: {} },
      { security_schemes: {} },
      { securityRequirements: [], security: [] },
      { skills: [] },
    ]
    for (const changed of changes) expect([changed, await validRules({ ...hybrid, ...changed })]).toEqual([changed, []])
  })

  it('is not verified if somebody changes what its readers of 0.3 see', async () => {
    for (const [alter, pointer] of contradictions) {
      const { verified, reason, signatures, sdks } = await verify(alter(hybrid))
      expect([verified, reason]).toEqual([false, 'The card has no valid signature.'])
      expect(signatures).toMatchObject([
        { valid: false, reason: `covers the card in the form of A2A 1.0 only, which ${pointer} contradicts` },
        { valid: false, reason: 'is not valid for this card under any rule' },
      ])
      // The signature itself is valid: the SDKs, which do not read the field, accept the card.
      expect(sdks.find(({ sdk }) => sdk === 'a2a-python 1.2 and later')).toMatchObject({ accepted: true })
    }
  })

  it('is verified with the version of agent.json, which differs from it in nothing else', async () => {
    const altered = { ...hybrid, protocolVersion: '1.0' }
    expect(omit(altered, 'signatures')).toEqual(omit(agentJson, 'signatures'))
    expect(await verifySignatures(altered, [key.publicKey])).toMatchObject([
      { valid: true, rule: 'proto' },
      { valid: false, reason: 'is not valid for this card under any rule' },
    ])
  })
})

describe('a signed card of A2A 0.3', () => {
  const legacy: JsonObject = {
    name: 'Agent',
    description: 'Does things',
    url: old,
    preferredTransport: 'JSONRPC',
    protocolVersion: '0.3.0',
    version: '1.0.0',
    capabilities: {},
    securitySchemes: { guard: { type: 'http', scheme: 'bearer' } },
    // A requirement without scopes is in the texts of `wire` and `served` only.
    security: [{ guard: [] }],
    skills: [{ id: 'a', name: 'A', description: 'Does it', tags: ['a'], examples: [] }],
  }

  it('to which somebody adds fields is valid by the rules that read the same card', async () => {
    const rules = ['wire', 'served', 'proto'] as const
    let signed = legacy
    for (const rule of rules) signed = await signAs(signed, key, { rule })
    expect(await validRules(signed)).toEqual(rules)
    const same = [{ url: old, protocolBinding: 'JSONRPC', protocolVersion: '0.3.0' }]
    expect(await validRules({ ...signed, supportedInterfaces: same })).toEqual(['proto'])
    const refused: JsonObject[] = [
      { supportedInterfaces: [evilInterface] },
      { supportedInterfaces: [] },
      { securityRequirements: [{ schemes: {} }] },
      { securityRequirements: [] },
      { capabilities: { extendedAgentCard: true } },
      { security_schemes: {} },
    ]
    for (const added of refused) expect([added, await validRules({ ...signed, ...added })]).toEqual([added, []])
  })

  it('may contradict itself where its author has signed that by the rule `served`', async () => {
    const contrary = { ...legacy, preferredTransport: 'GRPC', supportedInterfaces: [{ url: old, tenant: '' }] }
    const signed = await signAs(contrary, key, { rule: 'served' })
    expect(await validRules(signed)).toEqual(['served'])
    expect(await validRules({ ...signed, securityRequirements: [] })).toEqual([])
  })
})
