import { describe, expect, it } from 'vitest'
import { representationNames } from '../../../src/card/model/constants.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { compileCard, getCompileErrors } from '../../support/cards/compile.ts'
import { completeCards } from '../../support/cards/complete.ts'
import { getValue } from '../../support/cards/pointers.ts'

const host = 'weather.agents.example'
const endpoint = `https://${host}/a2a`
const source = `https://${host}/.well-known/agent-card.json`
const ownUrl = 'https://host.example/agents/weather'
const ownEndpoint = `${ownUrl}/a2a`
const ownCardUrl = `${ownUrl}/.well-known/agent-card.json`

const manifest = (upstream: JsonObject = {}, more: JsonObject = {}): JsonObject => ({
  upstream: { card: source, ...upstream },
  route: 'gateway',
  ...more,
})
const card = (fields: JsonObject = {}): JsonObject => ({
  name: 'Weather',
  description: 'Tells the weather',
  url: endpoint,
  protocolVersion: '0.3.0',
  ...fields,
})

/** Returns the served value of an unknown field that the agent's card has. */
const serveField = (value: Json, fetched: JsonObject = {}, upstream: JsonObject = {}): Json | undefined =>
  compileCard(manifest(upstream), card({ ...fetched, 'x-field': value })).documents['agent-card.json']['x-field']

/** Returns the pointers of the errors for a fetched card. */
const findErrors = (fetched: JsonObject, upstream: JsonObject = {}, more: JsonObject = {}): string[] =>
  getCompileErrors(manifest(upstream, more), fetched).map(({ pointer }) => pointer)

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
    [
      'the query of another URL, escaped twice',
      `https://proxy.example/?u=${encodeURIComponent(encodeURIComponent(endpoint))}`,
    ],
    ['a text', `It runs on ${host}`],
    ['a text, in capitals', `It runs on ${host.toUpperCase()}:8443`],
  ])('is rejected where this host has no URL for it: %s', (_, value) => {
    expect(findErrors(card({ 'x-field': { deep: [value] } }))).toStrictEqual(['/x-field/deep/0'])
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
    expect(findErrors(card({ url, 'x-field': value }))).toStrictEqual(['/x-field'])
  })

  it('is replaced where the query of the card matches, and rejected where it does not', () => {
    const cards = `https://${host}/cards?agent=`
    expect(serveField(`${cards}1`, {}, { card: `${cards}1` })).toBe(ownCardUrl)
    expect(findErrors(card({ 'x-field': `${cards}2` }), { card: `${cards}1` })).toStrictEqual(['/x-field'])
  })

  it('is replaced in every field of every dialect', () => {
    const { documents, profile } = compileCard(manifest(), {
      ...card(),
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
    const more = { card: { url: 'https://other.example/x' } }
    const fetched = card({ 'x-field': ['https://inner.example/rpc/1', `${endpoint}/2`, 'https://other.example/x/3'] })
    expect(compileCard(manifest(upstream, more), fetched).card['x-field']).toStrictEqual(
      [1, 2, 3].map(n => `${ownEndpoint}/${n}`),
    )
  })
})

describe("a URL of a fetched card that is this host's own URL of the agent", () => {
  it('stays as it is, also if the card lists the URL above it as its endpoint', () => {
    expect(
      serveField([ownEndpoint, `${ownEndpoint}/v1`, ownCardUrl], { url: ownUrl }, { url: endpoint }),
    ).toStrictEqual([ownEndpoint, `${ownEndpoint}/v1`, ownCardUrl])
  })
})

describe('a link to the host of the agent', () => {
  it.each<[string, JsonObject, string]>([
    ['0.3', { documentationUrl: `https://${host}/docs`, iconUrl: `https://${host}/i.png` }, 'iconUrl'],
    ['snake_case', { documentation_url: `https://${host}/docs`, icon_url: `https://${host}/i.png` }, 'icon_url'],
    ["Shaman's fields", { icon: `https://${host}/i.png`, supportUrl: 'https://help.example' }, 'icon'],
  ])('is left out: %s', (_, fields, name) => {
    const { documents, report } = compileCard(manifest(), card(fields))
    expect(documents['1.0']).not.toHaveProperty('iconUrl')
    expect(documents['1.0']).not.toHaveProperty('documentationUrl')
    if (report.dialect === 'shaman') expect(documents.shaman).not.toHaveProperty(name)
  })

  it('is kept for any other host', () => {
    const links = { documentationUrl: 'https://docs.example/x', iconUrl: 'https://cdn.example/i.png' }
    expect(compileCard(manifest(), card(links)).documents['0.3']).toMatchObject(links)
  })

  it('is rejected in an extended card, unless the public card has the same', () => {
    const documentationUrl = `https://${host}/docs`
    const extended = (url: string) => manifest({}, { extended: { documentationUrl: url } })
    expect(compileCard(extended(documentationUrl), card({ documentationUrl }))).toHaveProperty('documents')
    expect(getCompileErrors(extended(`https://${host}/more`), card({ documentationUrl }))).toMatchObject([
      { pointer: '/extended/documentationUrl' },
    ])
  })

  it.each<[string, JsonObject, string]>([
    ['the provider', { provider: { organization: 'W', url: `https://${host}` } }, '/provider/url'],
    ['the provider at the endpoint itself', { provider: { organization: 'W', url: endpoint } }, '/provider/url'],
    ['terms of service', { termsOfServiceUrl: `${endpoint}/terms` }, '/termsOfServiceUrl'],
    ['privacy', { privacy_policy_url: `${endpoint}/privacy` }, '/privacy_policy_url'],
    [
      'a token endpoint',
      {
        securitySchemes: {
          o: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: `${endpoint}/token`, scopes: {} } } },
        },
      },
      '/securitySchemes/o/flows/clientCredentials/tokenUrl',
    ],
    [
      'an issuer',
      { securitySchemes: { o: { type: 'openIdConnect', openIdConnectUrl: `https://${host}/openid` } } },
      '/securitySchemes/o/openIdConnectUrl',
    ],
  ])('is rejected for %s, unless the manifest allows it', (_, fields, pointer) => {
    expect(findErrors(card(fields))).toStrictEqual([pointer])
    const { documents } = compileCard(manifest({ mayShow: [host] }), card(fields))
    expect(JSON.stringify(documents['agent-card.json'])).toContain(String(getValue(card(fields), pointer)))
  })
})

describe('the host name of the agent', () => {
  it('is reported with its pointer into the fetched card or the manifest', () => {
    const hostError = (pointer: string) => ({
      pointer,
      message: `names the agent's host ${host}, which \`route: gateway\` hides: override the field under \`card\`, or list the host in \`upstream.mayShow\``,
    })
    const more = { card: { 'x-owner': host }, tiers: { gold: { 'x-gold': host } } }
    expect(getCompileErrors(manifest({}, more), card({ 'x-fetched': host }))).toStrictEqual([
      hostError('/x-fetched'),
      hostError('/card/x-owner'),
    ])
    expect(getCompileErrors(manifest({}, { tiers: more.tiers }), card())).toStrictEqual([
      hostError('/tiers/gold/x-gold'),
    ])
  })

  it.each<[string, JsonObject, string]>([
    ['the name of a member', { routes: { [host]: true } }, `/routes/${host}`],
    ['the name of a skill', { skills: [{ name: host }] }, '/skills/0/name'],
    [
      'the name of an extension',
      { capabilities: { extensions: [{ uri: endpoint }] } },
      '/capabilities/extensions/0/uri',
    ],
    ['the id of a skill', { skills: [{ id: endpoint, name: 'S' }] }, '/skills/0/id'],
    ["Shaman's supportUrl", { supportUrl: `https://${host}/help` }, '/supportUrl'],
    ['an alias of SuperX', { protocol: 'a2a', icon_url: host, iconUrl: 'https://c.example' }, '/icon_url'],
  ])('is rejected in %s', (_, fields, pointer) => {
    expect(findErrors(card(fields))).toStrictEqual([pointer])
  })

  it.each([
    'https://agents.example',
    'https://my-weather.agents.example',
    'https://weather.agents.example.org',
    'http://db.internal, 10.0.0.5',
  ])('is not found in %j', value => {
    expect(serveField(value)).toBe(value)
  })

  it.each([
    ['in a URL', `https://cdn.${host}/x`, `cdn.${host}`],
    ['in a text', `See a.b.${host}.`, `a.b.${host}`],
  ])('is found in a subdomain too: %s', (_, value, name) => {
    const [error] = getCompileErrors(manifest(), card({ 'x-field': value }))
    expect([error?.pointer, error?.message]).toStrictEqual(['/x-field', expect.stringContaining(`host ${name}, `)])
    expect(compileCard(manifest({ mayShow: [name] }), card({ 'x-field': value }))).toHaveProperty('documents')
  })

  it('is not found in the name of this host, though it is a subdomain', () => {
    const local = { id: 'weather', requestOrigin: `https://cards.${host}` }
    const url = `https://cards.${host}/agents/other`
    expect(compileCard(manifest(), card({ 'x-field': url }), local).card['x-field']).toBe(url)
  })

  it('is allowed where upstream.mayShow lists it, and the endpoint is replaced nevertheless', () => {
    const docs = `https://${host}/docs`
    const upstream = { mayShow: [host] }
    expect(serveField([docs, endpoint, host], { documentationUrl: docs }, upstream)).toStrictEqual([
      docs,
      ownEndpoint,
      host,
    ])
    const { documents } = compileCard(manifest(upstream), card({ documentationUrl: docs }))
    expect([documents['0.3'].documentationUrl, documents['0.3'].url]).toStrictEqual([docs, ownEndpoint])
    expect(serveField(`https://cdn.${host}/x`, {}, { mayShow: ['*'] })).toBe(`https://cdn.${host}/x`)
  })

  it('may be that of this host, with another port', () => {
    const local = { id: 'weather', requestOrigin: 'http://localhost:8787' }
    const fetched = card({ url: 'http://localhost:9999/', 'x-field': 'http://localhost:9999' })
    const upstream = { card: 'http://localhost:9999/.well-known/agent-card.json' }
    const { documents } = compileCard(manifest(upstream), fetched, local)
    expect(documents['0.3']['x-field']).toBe('http://localhost:8787/agents/weather/a2a')
  })
})

describe('a complete card with the host of the agent in every link', () => {
  const overridden = ['termsOfServiceUrl', 'privacyPolicyUrl', 'supportUrl', 'provider']
  const others = /^https:\/\/(?:id|e)\.example$/

  it.each(Object.entries(completeCards))(
    'is served without the host name, where the manifest overrides the links that have no URL here: %s',
    (_, whole) => {
      const text = JSON.stringify(whole).replaceAll(/https?:\/\/[^"/ ]+/g, url =>
        others.test(url) ? url : `https://${host}`,
      )
      const fetched: JsonObject = JSON.parse(text)
      const overrides = overridden
        .filter(name => name in fetched)
        .map(name => [name, getValue(JSON.parse(text.replaceAll(host, 'w.example')), `/${name}`)])
      const { documents } = compileCard(
        manifest({ url: `https://${host}` }, { card: Object.fromEntries(overrides) }),
        fetched,
      )
      expect(Object.keys(documents)).toStrictEqual([...representationNames])
      expect(JSON.stringify(documents)).not.toContain(host)
    },
  )
})

describe('a link to the host of an agent behind the gateway', () => {
  it('is left out where the agent is on another port of this host', () => {
    const agent = 'https://host.example:8443'
    const { documents } = compileCard(
      manifest({ card: `${agent}/card.json` }),
      card({ url: `${agent}/a2a`, documentationUrl: `${agent}/docs` }),
    )
    expect([documents['0.3'].documentationUrl, documents['0.3'].url]).toEqual([undefined, ownEndpoint])
  })

  it('is left out where the agent is behind a service binding', () => {
    const links = { documentationUrl: `https://${host}/docs`, iconUrl: 'https://cdn.example/icon.png' }
    const { documents } = compileCard(manifest({ service: 'WEATHER' }), card(links))
    expect([documents['0.3'].documentationUrl, documents['0.3'].iconUrl]).toEqual([undefined, links.iconUrl])
  })
})
