import { describe, expect, it } from 'vitest'
import { representationNames } from '../../../src/card/model/constants.ts'
import type { JsonObject } from '../../../src/json/json.ts'
import { shortCard } from '../../support/cards/cards.ts'
import { compileCard, expectIssues, getCompileErrors } from '../../support/cards/compile.ts'

const rpc = { url: 'https://a.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }
const { url: _, ...described } = shortCard

/** Returns a card of 1.0 with a gRPC interface beside JSON-RPC. */
const withGrpc = (url: string, fields: JsonObject = {}): JsonObject => ({
  ...described,
  supportedInterfaces: [rpc, { url, protocolBinding: 'GRPC', protocolVersion: '1.0' }],
  ...fields,
})

const addresses = [
  'grpc.example.com:443',
  'agent_1:50051',
  '10.0.0.1:50051',
  '[::1]:443',
  'bücher.example:443',
  'grpcs://grpc.example.com:443/',
  'https://grpc.example.com/a2a',
]

describe('the address of a gRPC interface', () => {
  it('is served as written', () => {
    for (const url of addresses) {
      const { documents, profile } = compileCard(withGrpc(url))
      const listed = [rpc, { url, protocolBinding: 'GRPC', protocolVersion: '1.0' }]
      for (const name of ['agent-card.json', 'agent.json', '1.0'] as const)
        expect(documents[name].supportedInterfaces).toEqual(listed)
      expect(documents['0.3'].additionalInterfaces).toEqual([{ url, transport: 'GRPC' }])
      expect(profile.targets).toEqual([{ binding: 'JSONRPC', version: '1.0', url: rpc.url }])
    }
  })

  it('is read in 0.3, as the preferred transport or another, and in a draft of A2A', () => {
    const jsonrpc = [{ url: shortCard.url, transport: 'JSONRPC' }]
    const v0 = { ...described, preferredTransport: 'GRPC', protocolVersion: '0.3.0', additionalInterfaces: jsonrpc }
    for (const card of [
      { ...shortCard, additionalInterfaces: [{ url: '[::1]:443', transport: 'grpc' }] },
      { ...v0, url: '[::1]:443' },
      { ...shortCard, interfaces: [{ url: '[::1]:443', transport: 'GRPC' }] },
    ]) {
      const { documents, profile, report } = compileCard(card)
      for (const name of representationNames.filter(each => each !== 'gopherhole'))
        expect(JSON.stringify(documents[name])).toContain('"[::1]:443"')
      expect(profile.targets.map(({ url }) => url)).toEqual([shortCard.url])
      expect(report.lossy).toEqual([])
    }
  })

  it('is rejected in any other form', () => {
    const invalid = [
      'grpc.example.com',
      ':443',
      'grpc.example.com:0',
      'grpc.example.com:65536',
      'grpc.example.com:443/a2a',
      'user@grpc.example.com:443',
      '<host>:443',
      '::1:443',
      '[::g]:443',
      '1.2.3.4.5:443',
      'grpc://grpc.example.com:443/a2a',
    ]
    const message = 'must be host:port, such as grpc.example.com:443, or a URL with https'
    for (const url of invalid)
      expect([
        getCompileErrors(withGrpc(url)),
        getCompileErrors({ ...shortCard, additionalInterfaces: [{ url, transport: 'GRPC' }] }),
        getCompileErrors({ ...described, url, preferredTransport: 'GRPC' }),
      ]).toStrictEqual([
        [{ pointer: '/supportedInterfaces/1/url', message }],
        [{ pointer: '/additionalInterfaces/0/url', message }],
        [{ pointer: '/url', message }],
      ])
    for (const url of ['javascript:1', 'data:443', 'https://user:password@grpc.example.com'])
      expect(getCompileErrors(withGrpc(url))).toMatchObject([{ pointer: '/supportedInterfaces/1/url' }])
    expect(getCompileErrors({ ...shortCard, url: 'a.example:443' })).toMatchObject([{ pointer: '/url' }])
  })

  it('is reported where no client can reach it', () => {
    for (const url of ['localhost:50051', '10.0.0.1:50051', '[::1]:443', 'grpc://agent.internal'])
      expectIssues([
        [{ additionalInterfaces: [{ url, transport: 'GRPC' }] }, 'private-url error /additionalInterfaces/0/url'],
      ])
    expectIssues([[{ additionalInterfaces: [{ url: 'grpc.review.example.com:443', transport: 'GRPC' }] }]])
  })
})

describe('an agent with gRPC behind the gateway', () => {
  const source = 'https://a.example/.well-known/agent-card.json'
  const note = (binding: string) =>
    `${binding} is left out of the card: this host forwards calls over JSONRPC or HTTP+JSON of A2A 0.2, 0.3 or 1.0 only`

  it('is listed without it', () => {
    for (const address of addresses)
      for (const { documents, report } of [
        compileCard({ card: withGrpc(address), route: 'gateway' }),
        compileCard({ upstream: { card: source }, route: 'gateway' }, withGrpc(address)),
      ]) {
        expect(JSON.stringify(documents)).not.toMatch(/grpc|50051|bücher|\[::1\]/i)
        expect(report.lossy).toContainEqual({ pointer: '/supportedInterfaces/1', message: note('GRPC 1.0') })
      }
  })

  it('notes each interface that this host does not forward', () => {
    const supportedInterfaces = [rpc, { ...rpc, protocolBinding: 'MCP', protocolVersion: '2025-06-18' }]
    const { report } = compileCard({ card: { ...described, supportedInterfaces }, route: 'gateway', bridge: 'off' })
    expect(report.lossy).toEqual([{ pointer: '/supportedInterfaces/1', message: note('MCP 2025-06-18') }])
  })

  it('must not name its host', () => {
    const card = withGrpc('grpc.example.com:443', { description: 'Ask grpc.example.com.' })
    expect([
      getCompileErrors({ card, route: 'gateway' }),
      getCompileErrors({ upstream: { card: source }, route: 'gateway' }, card),
    ]).toMatchObject([[{ pointer: '/card/description' }], [{ pointer: '/description' }]])
  })

  it('is registered with a note where it has nothing else, and clients call it directly', () => {
    const card = { ...described, url: 'grpc.example.com:443', preferredTransport: 'GRPC' }
    expect([compileCard(card).report.lossy, compileCard({ card, route: 'closed' }).report.lossy]).toEqual([
      [{ pointer: '/url', message: 'this host forwards and checks no calls over gRPC: clients call the agent itself' }],
      [],
    ])
  })
})
