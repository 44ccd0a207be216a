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
  it.each<[string, string, string]>([
    ['the endpoint', endpoint, ownEndpoint],
    ['with a trailing slash', `${endpoint}/`, ownEndpoint],
    ['with its port', `https://${host}:443/a2a`, ownEndpoint],
    ['in capitals', `HTTPS://${host.toUpperCase()}/a2a`, ownEndpoint],
    ['with a trailing dot of the host', `https://${host}./a2a`, ownEndpoint],
    ['with http', `http://${host}/a2a`, ownEndpoint],
    ['with needless escapes', `https://${host}/a%32a`, ownEndpoint],
    ['with a query', `${endpoint}?x=1#y`, `${ownEndpoint}?x=1#y`],
    ['below the endpoint', `${endpoint}/v1/tasks?x=1`, `${ownEndpoint}/v1/tasks?x=1`],
    ['with a dot segment', `https://${host}/x/../a2a/tasks`, `${ownEndpoint}/tasks`],
    ['in a text', `Ask ${endpoint}, or ${endpoint}/v1.`, `Ask ${ownEndpoint}, or ${ownEndpoint}/v1.`],
    ['in a text, twice and in brackets', `(${endpoint}) <${endpoint}/x>`, `(${ownEndpoint}) <${ownEndpoint}/x>`],
    ['of its card', source, ownCardUrl],
    ['of its card at the older path', `https://${host}/.well-known/agent.json`, ownCardUrl],
    ['of its card below the endpoint', `${endpoint}/.well-known/agent-card.json`, ownCardUrl],
  ])('is replaced by that of this host: %s', (_, url, expected) => {
    expect(serveField(url)).toBe(expected)
    expect(serveField({ deep: [{ url }] })).toStrictEqual({ deep: [{ url: expected }] })
  })

  it.each<[string, string]>([
    ['a path with the same beginning', `${endpoint}x`],
    ['another path', `https://${host}/docs`],
    ['the host alone', `https://${host}`],
    ['another port', `https://${host}:8443/a2a`],
    ['another protocol', `wss://${host}/a2a`],
    ['the card of another agent', `https://${host}/agents/other/.well-known/agent-card.json`],
    ['the query of another URL', `https://proxy.example/?u=${encodeURIComponent(endpoint)}`],
    ['a text', `It runs on ${host}`],
    ['a text, in capitals', `It runs on ${host.toUpperCase()}:8443`],
  ])('is rejected where this host has no URL for it: %s', (_, value) => {
    expect(findErrors(makeCard({ 'x-field': { deep: [value] } }))).toStrictEqual(['/x-field/deep/0'])
  })

  it.each<[string, string, string, string]>([
    ['a root URL', 'https://root.example', 'https://root.example/', ownEndpoint],
    ['a root URL without a slash', 'https://root.example/', 'https://root.example', ownEndpoint],
    ['a path with a slash', 'https://root.example/a2a/', 'https://root.example/a2a', ownEndpoint],
    ['a query of its own', 'https://root.example/rpc?agent=1', 'https://root.example/rpc?agent=1', ownEndpoint],
    ['a port', 'http://root.example:8080/a2a', 'http://ROOT.example:8080/a2a/x', `${ownEndpoint}/x`],
    ['the longest of several', 'https://root.example/a', 'https://root.example/a/b/c', `${ownEndpoint}/c`],
  ])('is replaced where the endpoint is %s', (_, url, value, expected) => {
    const additionalInterfaces = [{ url: 'https://root.example/a/b', transport: 'HTTP+JSON' }]
    expect(serveField(value, { url, additionalInterfaces })).toBe(expected)
  })

  it.each<[string, string, string]>([
    ['a path below a root URL', 'https://root.example', 'https://root.example/docs'],
    ['another query', 'https://root.example/rpc?agent=1', 'https://root.example/rpc?agent=2'],
  ])('is rejected where the endpoint does not match: %s', (_, url, value) => {
    expect(findErrors(makeCard({ url, 'x-field': value }))).toStrictEqual(['/x-field'])
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
