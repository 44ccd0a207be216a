import { describe, expect, it } from 'vitest'
import { compileCard } from '../../support/cards/compile.ts'
import {
  endpoint,
  findErrors,
  host,
  makeCard,
  makeManifest,
  ownCardUrl,
  ownEndpoint,
  ownUrl,
  serveField,
  source,
} from '../../support/cards/gateway.ts'

describe('a URL of the agent in a fetched card', () => {
  it('is replaced by that of this host', () => {
    const urls = {
      [endpoint]: ownEndpoint,
      [`https://${host}:443/a2a`]: ownEndpoint,
      [`https://${host}./a2a`]: ownEndpoint,
      [`http://${host}/a2a`]: ownEndpoint,
      [`https://${host}/a%32a`]: ownEndpoint,
      [`${endpoint}/v1/tasks?x=1`]: `${ownEndpoint}/v1/tasks?x=1`,
      // In texts.
      [`Ask ${endpoint}, or ${endpoint}/v1.`]: `Ask ${ownEndpoint}, or ${ownEndpoint}/v1.`,
      // Of its card, also at the older path and below the endpoint.
      [source]: ownCardUrl,
      [`https://${host}/.well-known/agent.json`]: ownCardUrl,
      [`${endpoint}/.well-known/agent-card.json`]: ownCardUrl,
    }
    for (const [url, expected] of Object.entries(urls))
      expect(serveField([url, { deep: [{ url }] }])).toStrictEqual([expected, { deep: [{ url: expected }] }])
  })

  it('is rejected where this host has no URL for it', () => {
    const values = [
      `${endpoint}x`,
      `https://${host}:8443/a2a`,
      `wss://${host}/a2a`,
      `https://${host}/agents/other/.well-known/agent-card.json`,
      `https://proxy.example/?u=${endpoint}x`,
      `It runs on ${host.toUpperCase()}:8443`,
    ]
    for (const value of values)
      expect([value, ...findErrors(makeCard({ 'x-field': { deep: [value] } }))]).toEqual([value, '/x-field/deep/0'])
  })

  it('is replaced for each form of an endpoint, the longest of several first', () => {
    const root = 'https://root.example'
    const additionalInterfaces = [{ url: `${root}/a/b`, transport: 'HTTP+JSON' }]
    const rows: [url: string, value: string, expected: string][] = [
      [root, `${root}/`, ownEndpoint],
      [`${root}/`, root, ownEndpoint],
      [`${root}/rpc?agent=1`, `${root}/rpc?agent=1`, ownEndpoint],
      ['http://root.example:8080/a2a', 'http://ROOT.example:8080/a2a/x', `${ownEndpoint}/x`],
      [`${root}/a`, `${root}/a/b/c`, `${ownEndpoint}/c`],
    ]
    for (const [url, value, expected] of rows) expect(serveField(value, { url, additionalInterfaces })).toBe(expected)
    // A path below a root URL, and another query.
    expect(findErrors(makeCard({ url: root, 'x-field': `${root}/docs` }))).toEqual(['/x-field'])
    expect(findErrors(makeCard({ url: `${root}/rpc?agent=1`, 'x-field': `${root}/rpc?agent=2` }))).toEqual(['/x-field'])
  })

  it('is replaced where the query of the card matches, and rejected where it does not', () => {
    const cards = `https://${host}/cards?agent=`
    expect(serveField(`${cards}1`, {}, { card: `${cards}1` })).toBe(ownCardUrl)
    expect(findErrors(makeCard({ 'x-field': `${cards}2` }), { card: `${cards}1` })).toStrictEqual(['/x-field'])
  })

  it('is replaced in every field of every dialect', () => {
    const { documents, profile } = compileCard(makeManifest(), {
      ...makeCard(),
      protocol: 'a2a',
      preferredTransport: 'JSONRPC',
      additionalInterfaces: [{ url: `${endpoint}/rest`, transport: 'HTTP+JSON', note: endpoint }],
      agentCard: { url: source, also: `${endpoint}/v1` },
      capabilities: { extensions: [{ uri: 'urn:x', params: { uri: `${endpoint}/hook` } }] },
      skills: [{ id: 's', name: 'S', description: `See ${endpoint}`, tags: ['t'], examples: [endpoint] }],
      documentationUrl: `https://${host}/docs`,
      iconUrl: `https://${host}/icon.png`,
    })
    expect(JSON.stringify(documents)).not.toContain(host)
    expect(documents.superx).toMatchObject({
      url: ownEndpoint,
      agentCard: { url: ownCardUrl, also: `${ownEndpoint}/v1` },
      capabilities: { extensions: [{ uri: 'urn:x', params: { uri: `${ownEndpoint}/hook` } }] },
      skills: [{ description: `See ${ownEndpoint}`, examples: [ownEndpoint] }],
    })
    expect(profile.targets.map(({ url }) => url)).toStrictEqual([endpoint, `${endpoint}/rest`])
  })

  it('is replaced for upstream.url and for endpoints that the manifest overrides', () => {
    const upstream = { url: 'https://inner.example/rpc' }
    const overrides = { card: { url: 'https://other.example/x' } }
    const fetched = makeCard({
      'x-field': ['https://inner.example/rpc/1', `${endpoint}/2`, 'https://other.example/x/3'],
    })
    expect(compileCard(makeManifest(upstream, overrides), fetched).card['x-field']).toStrictEqual(
      [1, 2, 3].map(n => `${ownEndpoint}/${n}`),
    )
  })
})

describe("a URL of a fetched card that is this host's own URL of the agent", () => {
  it('is unchanged, even if the endpoint of the card is a URL above it', () => {
    expect(
      serveField([ownEndpoint, `${ownEndpoint}/v1`, ownCardUrl], { url: ownUrl }, { url: endpoint }),
    ).toStrictEqual([ownEndpoint, `${ownEndpoint}/v1`, ownCardUrl])
  })
})
