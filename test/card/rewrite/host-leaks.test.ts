import { describe, expect, it } from 'vitest'
import { representationNames } from '../../../src/card/model/constants.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { compileCard, getCompileErrors } from '../../support/cards/compile.ts'
import { completeCards } from '../../support/cards/complete.ts'
import { getValue } from '../../support/cards/pointers.ts'

const host = 'weather.agents.example'
const endpoint = `https://${host}/a2a`
const source = `https://${host}/.well-known/agent-card.json`
const here = 'https://host.example/agents/weather'
const ours = `${here}/a2a`
const ourCard = `${here}/.well-known/agent-card.json`

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

/** What an unknown field of a card says when it is served for the gateway. */
const served = (value: Json, fetched: JsonObject = {}, upstream: JsonObject = {}): Json | undefined =>
  compileCard(manifest(upstream), card({ ...fetched, 'x-field': value })).documents['agent-card.json']['x-field']

/** The places at which a card is refused for what it tells. */
const told = (fetched: JsonObject, upstream: JsonObject = {}, more: JsonObject = {}): string[] =>
  getCompileErrors(manifest(upstream, more), fetched).map(({ pointer }) => pointer)

describe('a URL of a fetched card that points at its agent', () => {
  it.each<[string, string, string]>([
    ['the endpoint', endpoint, ours],
    ['with a slash at its end', `${endpoint}/`, ours],
    ['with its port', `https://${host}:443/a2a`, ours],
    ['in capitals', `HTTPS://${host.toUpperCase()}/a2a`, ours],
    ['with a point after the host', `https://${host}./a2a`, ours],
    ['by http', `http://${host}/a2a`, ours],
    ['with escapes that say nothing', `https://${host}/a%32a`, ours],
    ['with a query', `${endpoint}?x=1#y`, `${ours}?x=1#y`],
    ['below the endpoint', `${endpoint}/v1/tasks?x=1`, `${ours}/v1/tasks?x=1`],
    ['by way of a folder above', `https://${host}/x/../a2a/tasks`, `${ours}/tasks`],
    ['in a text', `Ask ${endpoint}, or ${endpoint}/v1.`, `Ask ${ours}, or ${ours}/v1.`],
    ['in a text, twice and in brackets', `(${endpoint}) <${endpoint}/x>`, `(${ours}) <${ours}/x>`],
    ['where its card is', source, ourCard],
    ['where its card is by the older name', `https://${host}/.well-known/agent.json`, ourCard],
    ['where its card is below the endpoint', `${endpoint}/.well-known/agent-card.json`, ourCard],
  ])('leads here: %s', (_, url, expected) => {
    expect(served(url)).toBe(expected)
    expect(served({ deep: [{ url }] })).toStrictEqual({ deep: [{ url: expected }] })
  })

  it.each<[string, string]>([
    ['a path that only begins like it', `${endpoint}x`],
    ['a path beside it', `https://${host}/docs`],
    ['the host alone', `https://${host}`],
    ['another port', `https://${host}:8443/a2a`],
    ['another protocol', `wss://${host}/a2a`],
    ['the card of another agent', `https://${host}/agents/other/.well-known/agent-card.json`],
    ['a query of another URL', `https://proxy.example/?u=${encodeURIComponent(endpoint)}`],
    ['a query that is escaped twice', `https://proxy.example/?u=${encodeURIComponent(encodeURIComponent(endpoint))}`],
    ['the name in a text', `It runs on ${host}`],
    ['the name in a text, in capitals', `It runs on ${host.toUpperCase()}:8443`],
  ])('leads nowhere here, and the card is refused: %s', (_, value) => {
    expect(told(card({ 'x-field': { deep: [value] } }))).toStrictEqual(['/x-field/deep/0'])
  })

  it.each<[string, string, string, string]>([
    ['a root', 'https://root.example', 'https://root.example/', ours],
    ['a root without its slash', 'https://root.example/', 'https://root.example', ours],
    ['a path with a slash', 'https://root.example/a2a/', 'https://root.example/a2a', ours],
    ['a query of its own', 'https://root.example/rpc?agent=1', 'https://root.example/rpc?agent=1', ours],
    ['a port', 'http://root.example:8080/a2a', 'http://ROOT.example:8080/a2a/x', `${ours}/x`],
    ['the longer of two', 'https://root.example/a', 'https://root.example/a/b/c', `${ours}/c`],
  ])('leads here where the endpoint is %s', (_, url, value, expected) => {
    const additionalInterfaces = [{ url: 'https://root.example/a/b', transport: 'HTTP+JSON' }]
    expect(served(value, { url, additionalInterfaces })).toBe(expected)
  })

  it.each<[string, string, string]>([
    ['what is below a root', 'https://root.example', 'https://root.example/docs'],
    ['another query', 'https://root.example/rpc?agent=1', 'https://root.example/rpc?agent=2'],
  ])('leads nowhere here: %s', (_, url, value) => {
    expect(told(card({ url, 'x-field': value }))).toStrictEqual(['/x-field'])
  })

  it('leads here where its card is told from others by a query, and nowhere where another is', () => {
    const cards = `https://${host}/cards?agent=`
    expect(served(`${cards}1`, {}, { card: `${cards}1` })).toBe(ourCard)
    expect(told(card({ 'x-field': `${cards}2` }), { card: `${cards}1` })).toStrictEqual(['/x-field'])
  })

  it('leads here from every place that any dialect knows', () => {
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
      url: ours,
      agentCard: { url: ourCard, also: `${ours}/v1` },
      capabilities: { extensions: [{ uri: 'urn:x', params: { uri: `${ours}/hook` } }] },
      skills: [{ description: `See ${ours}`, examples: [ours] }],
    })
    expect(profile.targets.map(({ url }) => url)).toStrictEqual([endpoint, `${endpoint}/rest`])
  })

  it('leads here wherever it is: upstream.url, and endpoints that the owner has replaced', () => {
    const upstream = { url: 'https://inner.example/rpc' }
    const more = { card: { url: 'https://other.example/x' } }
    const fetched = card({ 'x-field': ['https://inner.example/rpc/1', `${endpoint}/2`, 'https://other.example/x/3'] })
    expect(compileCard(manifest(upstream, more), fetched).card['x-field']).toStrictEqual(
      [1, 2, 3].map(n => `${ours}/${n}`),
    )
  })
})

describe("a URL of a fetched card that is this host's own URL of the agent", () => {
  it('stays as it is, also if the card lists the URL above it as its endpoint', () => {
    expect(served([ours, `${ours}/v1`, ourCard], { url: here }, { url: endpoint })).toStrictEqual([
      ours,
      `${ours}/v1`,
      ourCard,
    ])
  })
})

describe('links for people on the host of the agent', () => {
  it.each<[string, JsonObject, string]>([
    ['0.3', { documentationUrl: `https://${host}/docs`, iconUrl: `https://${host}/i.png` }, 'iconUrl'],
    ['snake_case', { documentation_url: `https://${host}/docs`, icon_url: `https://${host}/i.png` }, 'icon_url'],
    ["Shaman's word", { icon: `https://${host}/i.png`, supportUrl: 'https://help.example' }, 'icon'],
  ])('are left out: %s', (_, fields, name) => {
    const { documents, report } = compileCard(manifest(), card(fields))
    expect(documents['1.0']).not.toHaveProperty('iconUrl')
    expect(documents['1.0']).not.toHaveProperty('documentationUrl')
    if (report.dialect === 'shaman') expect(documents.shaman).not.toHaveProperty(name)
  })

  it('stay as they are on any other host', () => {
    const links = { documentationUrl: 'https://docs.example/x', iconUrl: 'https://cdn.example/i.png' }
    expect(compileCard(manifest(), card(links)).documents['0.3']).toMatchObject(links)
  })

  it('are those of the public card alone: an extended card with another on that host is refused', () => {
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
  ])('are not served in the place of %s: that is refused, unless the manifest allows it', (_, fields, place) => {
    expect(told(card(fields))).toStrictEqual([place])
    const { documents } = compileCard(manifest({ mayShow: [host] }), card(fields))
    expect(JSON.stringify(documents['agent-card.json'])).toContain(String(getValue(card(fields), place)))
  })
})

describe('what is left over', () => {
  it('is told with the host and where it is: in what was fetched, or in what the owner says', () => {
    const says = (pointer: string) => ({
      pointer,
      message: `names the agent's host ${host}, which \`route: gateway\` hides: override the field under \`card\`, or list the host in \`upstream.mayShow\``,
    })
    const more = { card: { 'x-owner': host }, tiers: { gold: { 'x-gold': host } } }
    expect(getCompileErrors(manifest({}, more), card({ 'x-fetched': host }))).toStrictEqual([
      says('/x-fetched'),
      says('/card/x-owner'),
    ])
    expect(getCompileErrors(manifest({}, { tiers: more.tiers }), card())).toStrictEqual([says('/tiers/gold/x-gold')])
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
    ['a word of Shaman', { supportUrl: `https://${host}/help` }, '/supportUrl'],
    [
      "a field that SuperX's card alone knows",
      { protocol: 'a2a', icon_url: host, iconUrl: 'https://c.example' },
      '/icon_url',
    ],
  ])('is found in %s', (_, fields, place) => {
    expect(told(card(fields))).toStrictEqual([place])
  })

  it.each([
    'https://agents.example',
    'https://my-weather.agents.example',
    'https://weather.agents.example.org',
    'http://db.internal, 10.0.0.5',
  ])('is not %j', value => {
    expect(served(value)).toBe(value)
  })

  it.each([
    ['in a URL', `https://cdn.${host}/x`, `cdn.${host}`],
    ['in a text', `See a.b.${host}.`, `a.b.${host}`],
  ])('is a subdomain of it, too: %s', (_, value, name) => {
    const [error] = getCompileErrors(manifest(), card({ 'x-field': value }))
    expect([error?.pointer, error?.message]).toStrictEqual(['/x-field', expect.stringContaining(`host ${name}, `)])
    expect(compileCard(manifest({ mayShow: [name] }), card({ 'x-field': value }))).toHaveProperty('documents')
  })

  it('is not this host, though it is below that of the agent', () => {
    const local = { id: 'weather', requestOrigin: `https://cards.${host}` }
    const said = `https://cards.${host}/agents/other`
    expect(compileCard(manifest(), card({ 'x-field': said }), local).card['x-field']).toBe(said)
  })

  it('is none of what upstream.mayShow lists; the endpoint is rewritten all the same', () => {
    const docs = `https://${host}/docs`
    const upstream = { mayShow: [host] }
    expect(served([docs, endpoint, host], { documentationUrl: docs }, upstream)).toStrictEqual([docs, ours, host])
    const { documents } = compileCard(manifest(upstream), card({ documentationUrl: docs }))
    expect([documents['0.3'].documentationUrl, documents['0.3'].url]).toStrictEqual([docs, ours])
    expect(served(`https://cdn.${host}/x`, {}, { mayShow: ['*'] })).toBe(`https://cdn.${host}/x`)
  })

  it('is not the name of this host, where the agent is at another port of it', () => {
    const local = { id: 'weather', requestOrigin: 'http://localhost:8787' }
    const fetched = card({ url: 'http://localhost:9999/', 'x-field': 'http://localhost:9999' })
    const upstream = { card: 'http://localhost:9999/.well-known/agent-card.json' }
    const { documents } = compileCard(manifest(upstream), fetched, local)
    expect(documents['0.3']['x-field']).toBe('http://localhost:8787/agents/weather/a2a')
  })
})

describe('a whole card in each dialect, with the host of its agent in every link', () => {
  const forPeople = ['termsOfServiceUrl', 'privacyPolicyUrl', 'supportUrl', 'provider']
  const others = /^https:\/\/(?:id|e)\.example$/

  it.each(Object.entries(completeCards))(
    '%s: is served without it, the owner saying the links that lead nowhere here',
    (_, whole) => {
      const text = JSON.stringify(whole).replaceAll(/https?:\/\/[^"/ ]+/g, url =>
        others.test(url) ? url : `https://${host}`,
      )
      const fetched: JsonObject = JSON.parse(text)
      const said = forPeople
        .filter(name => name in fetched)
        .map(name => [name, getValue(JSON.parse(text.replaceAll(host, 'w.example')), `/${name}`)])
      const { documents } = compileCard(
        manifest({ url: `https://${host}` }, { card: Object.fromEntries(said) }),
        fetched,
      )
      expect(Object.keys(documents)).toStrictEqual([...representationNames])
      expect(JSON.stringify(documents)).not.toContain(host)
    },
  )
})

describe('links on the host of an agent behind the gateway', () => {
  it('are left out, where the agent is at another port of the name of this host', () => {
    const agent = 'https://host.example:8443'
    const { documents } = compileCard(
      manifest({ card: `${agent}/card.json` }),
      card({ url: `${agent}/a2a`, documentationUrl: `${agent}/docs` }),
    )
    expect([documents['0.3'].documentationUrl, documents['0.3'].url]).toEqual([undefined, ours])
  })

  it('are left out where the agent is behind a service binding, and only those on its host', () => {
    const links = { documentationUrl: `https://${host}/docs`, iconUrl: 'https://cdn.example/icon.png' }
    const { documents } = compileCard(manifest({ service: 'WEATHER' }), card(links))
    expect([documents['0.3'].documentationUrl, documents['0.3'].iconUrl]).toEqual([undefined, links.iconUrl])
  })
})
