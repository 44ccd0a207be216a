import { describe, expect, it } from 'vitest'
import { compile } from '../../../src/card/compile/index.ts'
import { findWidenings } from '../../../src/card/diff/widening.ts'
import { representationNames } from '../../../src/card/model/constants.ts'
import type { JsonObject } from '../../../src/json/json.ts'
import { cleanCard, shortCard } from '../../support/cards/cards.ts'
import { compileCard, formatIssues, getCompileErrors, lintCard, registration } from '../../support/cards/compile.ts'

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
  'GRPC.example.com:8443',
  'agent_1:50051',
  'localhost:50051',
  '10.0.0.1:50051',
  '[::1]:443',
  'bücher.example:443',
  'grpc://grpc.example.com',
  'grpcs://grpc.example.com:443/',
  'https://grpc.example.com/a2a',
]

describe('the address of a gRPC interface', () => {
  it.each(addresses)('is served as written: %s', address => {
    const { documents, profile } = compileCard(withGrpc(address))
    const listed = [rpc, { url: address, protocolBinding: 'GRPC', protocolVersion: '1.0' }]
    for (const name of ['agent-card.json', 'agent.json', '1.0'] as const)
      expect(documents[name].supportedInterfaces).toEqual(listed)
    expect(documents['0.3'].additionalInterfaces).toEqual([{ url: address, transport: 'GRPC' }])
    expect(profile.targets).toEqual([{ binding: 'JSONRPC', version: '1.0', url: rpc.url }])
  })

  it.each<[string, JsonObject]>([
    ['in 0.3, beside JSON-RPC', { ...shortCard, additionalInterfaces: [{ url: '[::1]:443', transport: 'grpc' }] }],
    [
      'in 0.3, as the preferred transport',
      {
        ...described,
        url: '[::1]:443',
        preferredTransport: 'GRPC',
        protocolVersion: '0.3.0',
        additionalInterfaces: [{ url: shortCard.url, transport: 'JSONRPC' }],
      },
    ],
    ['in a draft of A2A', { ...shortCard, interfaces: [{ url: '[::1]:443', transport: 'GRPC' }] }],
  ])('is read %s', (_, card) => {
    const { documents, profile, report } = compileCard(card)
    for (const name of representationNames.filter(each => each !== 'gopherhole'))
      expect(JSON.stringify(documents[name])).toContain('"[::1]:443"')
    expect(profile.targets.map(({ url }) => url)).toEqual([shortCard.url])
    expect(report.lossy).toEqual([])
  })

  it.each([
    'grpc.example.com',
    'grpc.example.com:',
    ':443',
    'grpc.example.com:0',
    'grpc.example.com:65536',
    'grpc.example.com:443/a2a',
    'grpc.example.com:443?x',
    'user@grpc.example.com:443',
    'user:password@grpc.example.com:443',
    'grpc.example .com:443',
    '<host>:443',
    '::1:443',
    '[::1',
    '[::g]:443',
    '1.2.3.4.5:443',
    'grpc://grpc.example.com:443/a2a',
    'dns:///grpc.example.com:443',
    '/a2a',
    'ftp://a.example',
  ])('is rejected where it is %s', address => {
    const message = 'must be host:port, such as grpc.example.com:443, or a URL with https'
    expect([
      getCompileErrors(withGrpc(address)),
      getCompileErrors({ ...shortCard, additionalInterfaces: [{ url: address, transport: 'GRPC' }] }),
      getCompileErrors({ ...described, url: address, preferredTransport: 'GRPC' }),
    ]).toStrictEqual([
      [{ pointer: '/supportedInterfaces/1/url', message }],
      [{ pointer: '/additionalInterfaces/0/url', message }],
      [{ pointer: '/url', message }],
    ])
  })

  it.each(['javascript:1', 'data:443', 'https://user:password@grpc.example.com'])('is rejected as a link: %s', url => {
    expect(getCompileErrors(withGrpc(url))).toMatchObject([{ pointer: '/supportedInterfaces/1/url' }])
  })

  it('is not one of another binding', () => {
    expect(getCompileErrors({ ...shortCard, url: 'a.example:443' })).toMatchObject([{ pointer: '/url' }])
  })

  it.each(['localhost:50051', '10.0.0.1:50051', '[::1]:443', 'grpc://agent.internal'])(
    'is reported where no client can reach it: %s',
    url => {
      const issues = lintCard({ ...cleanCard, additionalInterfaces: [{ url, transport: 'GRPC' }] })
      expect(formatIssues(issues)).toEqual(['private-url error /additionalInterfaces/0/url'])
    },
  )

  it('is no issue where it is public', () => {
    const additionalInterfaces = [{ url: 'grpc.review.example.com:443', transport: 'GRPC' }]
    expect(lintCard({ ...cleanCard, additionalInterfaces })).toEqual([])
  })

  it.each(addresses.slice(0, -1))('is a new destination where a fetched card adds it: %s', address => {
    const [before, after] = [compileCard(withGrpc('first.example:443')), compileCard(withGrpc(address))]
    expect(findWidenings(before.direct, after.direct)).toEqual([
      { pointer: '/supportedInterfaces/1/url', message: `sends calls to a new address: ${address}` },
    ])
    expect(findWidenings(after.direct, after.direct)).toEqual([])
  })
})

describe('an agent with gRPC behind the gateway', () => {
  const source = 'https://a.example/.well-known/agent-card.json'
  const note = (binding: string) =>
    `${binding} is left out of the card: this host forwards calls over JSONRPC or HTTP+JSON of A2A 0.2, 0.3 or 1.0 only`

  it.each(addresses)('is listed without it: %s', address => {
    for (const [manifest, fetched] of [
      [{ card: withGrpc(address), route: 'gateway' }, undefined],
      [{ upstream: { card: source }, route: 'gateway' }, withGrpc(address)],
    ] as const) {
      const { documents, report } = compileCard(manifest, fetched)
      expect(JSON.stringify(documents)).not.toMatch(/grpc|50051|bücher|\[::1\]/i)
      expect(report.lossy).toContainEqual({ pointer: '/supportedInterfaces/1', message: note('GRPC 1.0') })
    }
  })

  it('notes each interface that this host does not forward', () => {
    const supportedInterfaces = [rpc, { ...rpc, protocolBinding: 'MCP', protocolVersion: '2025-06-18' }]
    const { report } = compileCard({ card: { ...described, supportedInterfaces }, route: 'gateway', bridge: 'off' })
    expect(report.lossy).toEqual([{ pointer: '/supportedInterfaces/1', message: note('MCP 2025-06-18') }])
  })

  it.each<[address: string, text: string]>([
    ['grpc.example.com:443', 'Ask grpc.example.com.'],
    ['grpc://GRPC.example.com', 'Ask https://grpc.example.com/docs.'],
    ['10.0.0.1:50051', 'Ask 10.0.0.1:50051.'],
    ['[::1]:443', 'Ask [::1]:443.'],
  ])('must not name its host: %s in "%s"', (address, text) => {
    const card = withGrpc(address, { description: text })
    expect([
      getCompileErrors({ card, route: 'gateway' }),
      getCompileErrors({ upstream: { card: source }, route: 'gateway' }, card),
    ]).toMatchObject([[{ pointer: '/card/description' }], [{ pointer: '/description' }]])
  })

  it('is rejected, with what to do, where it has nothing else', () => {
    const card = { ...described, url: 'grpc.example.com:443', preferredTransport: 'GRPC' }
    expect(compile({ card, route: 'gateway' }, registration)).toEqual({
      errors: [
        {
          pointer: '/route',
          message:
            'needs an interface that this host can forward to, JSONRPC or HTTP+JSON of A2A 0.2, 0.3 or 1.0: add one, or use `route: direct`',
        },
      ],
    })
  })

  it('is registered with a note where it has nothing else, and clients call it directly', () => {
    const card = { ...described, url: 'grpc.example.com:443', preferredTransport: 'GRPC' }
    expect([compileCard(card).report.lossy, compileCard({ card, route: 'closed' }).report.lossy]).toEqual([
      [{ pointer: '/url', message: 'this host forwards and checks no calls over gRPC: clients call the agent itself' }],
      [],
    ])
  })
})
