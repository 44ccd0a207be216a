import { describe, expect, it } from 'vitest'
import { representationNames } from '../../src/card/model/constants.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { compiled, refusal } from '../support/cards/compile.ts'
import { at } from '../support/cards/places.ts'
import { wholeCards } from '../support/cards/whole.ts'

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
  compiled(manifest(upstream), card({ ...fetched, 'x-field': value })).documents['agent-card.json']['x-field']

/** The places at which a card is refused for what it tells. */
const told = (fetched: JsonObject, upstream: JsonObject = {}, more: JsonObject = {}): string[] =>
  refusal(manifest(upstream, more), fetched).map(({ pointer }) => pointer)

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
    ['the name with an escape in it', `https://${host.replace('.', '%2E')}/x`],
    ['the name in wide letters', 'It runs on ｗeather．agents。example'],
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
    const { documents, profile } = compiled(manifest(), {
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
    expect(compiled(manifest(upstream, more), fetched).card['x-field']).toStrictEqual(
      [1, 2, 3].map(n => `${ours}/${n}`),
    )
  })
})

describe('links for people on the host of the agent', () => {
  it.each<[string, JsonObject, string]>([
    ['0.3', { documentationUrl: `https://${host}/docs`, iconUrl: `https://${host}/i.png` }, 'iconUrl'],
    ['snake_case', { documentation_url: `https://${host}/docs`, icon_url: `https://${host}/i.png` }, 'icon_url'],
    ["Shaman's word", { icon: `https://${host}/i.png`, supportUrl: 'https://help.example' }, 'icon'],
  ])('are left out: %s', (_, fields, name) => {
    const { documents, report } = compiled(manifest(), card(fields))
    expect(documents['1.0']).not.toHaveProperty('iconUrl')
    expect(documents['1.0']).not.toHaveProperty('documentationUrl')
    if (report.dialect === 'shaman') expect(documents.shaman).not.toHaveProperty(name)
  })

  it('stay as they are on any other host', () => {
    const links = { documentationUrl: 'https://docs.example/x', iconUrl: 'https://cdn.example/i.png' }
    expect(compiled(manifest(), card(links)).documents['0.3']).toMatchObject(links)
  })

  it('are those of the public card alone: an extended card with another on that host is refused', () => {
    const documentationUrl = `https://${host}/docs`
    const extended = (url: string) => manifest({}, { extended: { documentationUrl: url } })
    expect(compiled(extended(documentationUrl), card({ documentationUrl }))).toHaveProperty('documents')
    expect(refusal(extended(`https://${host}/more`), card({ documentationUrl }))).toMatchObject([
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
    const { documents } = compiled(manifest({ mayShow: [host] }), card(fields))
    expect(JSON.stringify(documents['agent-card.json'])).toContain(String(at(card(fields), place)))
  })
})

describe('what is left over', () => {
  it('is told with the host and where it is: in what was fetched, or in what the owner says', () => {
    const says = (pointer: string) => ({
      pointer,
      message: `names ${host}, where the agent is, and \`route: gateway\` is to hide that: say something else under \`card\`, or list the host in \`upstream.mayShow\``,
    })
    const more = { card: { 'x-owner': host }, tiers: { gold: { 'x-gold': host } } }
    expect(refusal(manifest({}, more), card({ 'x-fetched': host }))).toStrictEqual([
      says('/x-fetched'),
      says('/card/x-owner'),
    ])
    expect(refusal(manifest({}, { tiers: more.tiers }), card())).toStrictEqual([says('/tiers/gold/x-gold')])
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

  it('is found in the header of a signature that still holds', () => {
    const jwsHeader = (jku: string) => Buffer.from(JSON.stringify({ alg: 'ES256', jku })).toString('base64url')
    const signed = (jku: string): JsonObject => ({
      name: 'W',
      description: 'Tells',
      version: '1',
      supportedInterfaces: [{ url: ours, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      capabilities: { streaming: false, pushNotifications: false, extendedAgentCard: false },
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
      skills: [{ id: 's', name: 'S', description: 'D', tags: ['t'] }],
      signatures: [{ protected: jwsHeader(jku), signature: 'c2ln' }],
    })
    const knows = manifest({ url: endpoint })
    const elsewhere = signed('https://keys.example/jwks.json')
    expect(compiled(knows, elsewhere).documents['1.0'].signatures).toStrictEqual(elsewhere.signatures)
    expect(refusal(knows, signed(`https://${host}/jwks.json`))).toMatchObject([{ pointer: '/signatures/0/protected' }])
  })

  it.each<[string, string, string]>([
    ['an address', 'https://10.1.2.3/x', '10.1.2.3'],
    ['an address in a text', 'Debug at http://192.168.0.7:9000/.', '192.168.0.7'],
    ['an address in one number', 'http://167772161/', '10.0.0.1'],
    ['an address in octal', 'http://0177.0.0.1/', '127.0.0.1'],
    ['an address of IPv6', 'https://[fd00::1]/', '[fd00::1]'],
    ['a mapped address', 'https://[::ffff:127.0.0.1]/', '[::ffff:7f00:1]'],
    ['a name of an inner network', 'see https://wiki.corp/x', 'wiki.corp'],
    ['a name without a point', 'http://db/x', 'db'],
    ['this machine', 'ws://localhost:8787', 'localhost'],
    ['behind a user name', 'see http://me@db.internal/', 'db.internal'],
    ['within a query', 'https://p.example/?u=http%3A%2F%2F10.0.0.1', '10.0.0.1'],
    ['with backslashes', 'http:\\\\10.0.0.1\\x', '10.0.0.1'],
    ['by another protocol', 'postgres://u:p@10.0.0.5/db', '10.0.0.5'],
    ['without a protocol', '//10.0.0.5/x', '10.0.0.5'],
    ['an address alone', '10.0.0.5', '10.0.0.5'],
    ['an address alone in a text', 'Runs at 172.16.3.4:8443.', '172.16.3.4'],
    ['a name alone', 'internal box db01.corp', 'db01.corp'],
    ['a name alone, at the end of a sentence', 'Mail me@build.lan.', 'build.lan'],
    ['a name alone, in capitals', 'DB01.EU.CORP', 'db01.eu.corp'],
    ['a name with what nobody sees in it', 'db01.c\u00adorp', 'db01.corp'],
  ])('is any host of a private network, too: %s', (_, value, name) => {
    const [error, ...others] = refusal(manifest(), card({ 'x-field': value }))
    expect([error?.pointer, others]).toStrictEqual(['/x-field', []])
    expect(error?.message).toContain(`names ${name}, which is of a private network`)
    if (/^[a-z\d]/.test(name))
      expect(compiled(manifest({ mayShow: [name] }), card({ 'x-field': value }))).toHaveProperty('documents')
  })

  it.each([
    'test://static/resource/1',
    'note://internal/summary',
    'file:///home/me/x.txt',
    'either//or',
    '// a comment',
    'https://',
    'https://www.example/a//b',
    'urn:x:localhost',
    'localhost',
    'C:\\\\Users\\me',
    'https://agents.example',
    'Needs version 10.0.0, or 10.0.0.x',
    'Version 1.2.3.4',
    'v10.0.0.5',
    '8.8.8.8',
    'Built on Node.js, for Acme Corp. Home of internal.tools; see .env.local and app.test.ts',
    'a local test of internal things',
    'mail.local.example',
    'https://my-weather.agents.example',
    'https://weather.agents.example.org',
  ])('is not %j', value => {
    expect(served(value)).toBe(value)
  })

  it.each([
    ['in a URL', `https://cdn.${host}/x`, `cdn.${host}`],
    ['in a text', `See a.b.${host}.`, `a.b.${host}`],
    ['with a soft hyphen', `we\u00adather.agents.example`, host],
    ['with a space that has no width', `weather\u200b.agents.example`, host],
    ['with what picks the look of a letter', `weather\ufe0f.agents.example`, host],
    ['behind what nobody sees', `x\u200b${host}`, host],
  ])('is a host below it, and it with what nobody sees in it: %s', (_, value, name) => {
    const [error] = refusal(manifest(), card({ 'x-field': value }))
    expect([error?.pointer, error?.message]).toStrictEqual(['/x-field', expect.stringContaining(`names ${name}, `)])
    expect(compiled(manifest({ mayShow: [name] }), card({ 'x-field': value }))).toHaveProperty('documents')
  })

  it('is not what tells one version from another, or one skill', () => {
    const fields = { version: '10.1.2.3', skills: [{ id: 'search.local', name: 'Search' }] }
    expect(compiled(manifest(), card(fields)).card).toMatchObject(fields)
  })

  it('is not this host, though it is below that of the agent', () => {
    const local = { id: 'weather', requestOrigin: `https://cards.${host}` }
    const said = `https://cards.${host}/agents/other`
    expect(compiled(manifest(), card({ 'x-field': said }), local).card['x-field']).toBe(said)
  })

  it('is none of what upstream.mayShow lists; the endpoint is rewritten all the same', () => {
    const docs = `https://${host}/docs`
    const upstream = { mayShow: [host, 'localhost'] }
    expect(served([docs, endpoint, 'http://localhost:1', host], { documentationUrl: docs }, upstream)).toStrictEqual([
      docs,
      ours,
      'http://localhost:1',
      host,
    ])
    const { documents } = compiled(manifest(upstream), card({ documentationUrl: docs }))
    expect([documents['0.3'].documentationUrl, documents['0.3'].url]).toStrictEqual([docs, ours])
    expect(served('http://db/x', {}, { mayShow: ['*'] })).toBe('http://db/x')
  })

  it('is what this host is called itself, neither private nor not', () => {
    const local = { id: 'weather', requestOrigin: 'http://localhost:8787' }
    const fetched = card({ url: 'http://localhost:9999/', 'x-field': 'http://localhost:9999' })
    const upstream = { card: 'http://localhost:9999/.well-known/agent-card.json' }
    const { documents } = compiled(manifest(upstream), fetched, local)
    expect(documents['0.3']['x-field']).toBe('http://localhost:8787/agents/weather/a2a')
  })
})

describe('a whole card in each dialect, with the host of its agent in every link', () => {
  const forPeople = ['termsOfServiceUrl', 'privacyPolicyUrl', 'supportUrl', 'provider']
  const others = /^https:\/\/(?:id|e)\.example$/

  it.each(Object.entries(wholeCards))(
    '%s: is served without it, the owner saying the links that lead nowhere here',
    (_, whole) => {
      const text = JSON.stringify(whole).replaceAll(/https?:\/\/[^"/ ]+/g, url =>
        others.test(url) ? url : `https://${host}`,
      )
      const fetched: JsonObject = JSON.parse(text)
      const said = forPeople
        .filter(name => name in fetched)
        .map(name => [name, at(JSON.parse(text.replaceAll(host, 'w.example')), `/${name}`)])
      const { documents } = compiled(manifest({ url: `https://${host}` }, { card: Object.fromEntries(said) }), fetched)
      expect(Object.keys(documents)).toStrictEqual([...representationNames])
      expect(JSON.stringify(documents)).not.toContain(host)
    },
  )
})

describe('links on the host of an agent behind the gateway', () => {
  it('are left out, where the agent is at another port of the name of this host', () => {
    const agent = 'https://host.example:8443'
    const { documents } = compiled(
      manifest({ card: `${agent}/card.json` }),
      card({ url: `${agent}/a2a`, documentationUrl: `${agent}/docs` }),
    )
    expect([documents['0.3'].documentationUrl, documents['0.3'].url]).toEqual([undefined, ours])
  })

  it('are left out where the agent is behind a service binding, and only those on its host', () => {
    const links = { documentationUrl: `https://${host}/docs`, iconUrl: 'https://cdn.example/icon.png' }
    const { documents } = compiled(manifest({ service: 'WEATHER' }), card(links))
    expect([documents['0.3'].documentationUrl, documents['0.3'].iconUrl]).toEqual([undefined, links.iconUrl])
  })
})
