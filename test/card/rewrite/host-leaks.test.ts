import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/json/json.ts'
import { compileCard, getCompileErrors } from '../../support/cards/compile.ts'
import { completeCards } from '../../support/cards/complete.ts'
import {
  endpoint,
  findErrors,
  host,
  makeCard,
  makeManifest,
  ownEndpoint,
  serveField,
} from '../../support/cards/gateway.ts'
import { getValue } from '../../support/cards/pointers.ts'

describe('a link to the host of the agent', () => {
  it('is left out, under each name of the field', () => {
    const [docs, icon] = [`https://${host}/docs`, `https://${host}/i.png`]
    for (const fields of [
      { documentationUrl: docs, iconUrl: icon },
      { documentation_url: docs, icon_url: icon },
      { icon, supportUrl: 'https://help.example' },
    ]) {
      const { documents } = compileCard(makeManifest(), makeCard(fields))
      expect(documents['1.0']).not.toHaveProperty('iconUrl')
      expect(documents['1.0']).not.toHaveProperty('documentationUrl')
      expect(documents.shaman).not.toHaveProperty('icon')
    }
  })

  it('is rejected in an extended card, unless the public card has the same', () => {
    const documentationUrl = `https://${host}/docs`
    const makeExtended = (url: string) => makeManifest({}, { extended: { documentationUrl: url } })
    expect(compileCard(makeExtended(documentationUrl), makeCard({ documentationUrl }))).toHaveProperty('documents')
    expect(getCompileErrors(makeExtended(`https://${host}/more`), makeCard({ documentationUrl }))).toMatchObject([
      { pointer: '/extended/documentationUrl' },
    ])
  })

  it('is rejected in a field that has no URL here, unless the manifest allows it', () => {
    const oidc = { type: 'openIdConnect', openIdConnectUrl: `https://${host}/openid` }
    const rows: [fields: JsonObject, pointer: string][] = [
      [{ provider: { organization: 'W', url: `https://${host}` } }, '/provider/url'],
      [{ termsOfServiceUrl: `${endpoint}/terms` }, '/termsOfServiceUrl'],
      [{ privacy_policy_url: `${endpoint}/privacy` }, '/privacy_policy_url'],
      [{ securitySchemes: { o: oidc } }, '/securitySchemes/o/openIdConnectUrl'],
    ]
    for (const [fields, pointer] of rows) {
      expect(findErrors(makeCard(fields))).toStrictEqual([pointer])
      const { documents } = compileCard(makeManifest({ mayShow: [host] }), makeCard(fields))
      expect(JSON.stringify(documents['agent-card.json'])).toContain(String(getValue(fields, pointer)))
    }
  })

  it('is left out where the agent is on another port of this host', () => {
    const agent = 'https://host.example:8443'
    const { documents } = compileCard(
      makeManifest({ card: `${agent}/card.json` }),
      makeCard({ url: `${agent}/a2a`, documentationUrl: `${agent}/docs` }),
    )
    expect([documents['0.3'].documentationUrl, documents['0.3'].url]).toEqual([undefined, ownEndpoint])
  })

  it('is left out where the agent is behind a service binding', () => {
    const links = { documentationUrl: `https://${host}/docs`, iconUrl: 'https://cdn.example/icon.png' }
    const { documents } = compileCard(makeManifest({ service: 'WEATHER' }), makeCard(links))
    expect([documents['0.3'].documentationUrl, documents['0.3'].iconUrl]).toEqual([undefined, links.iconUrl])
  })
})

describe('the host name of the agent', () => {
  it('is reported with its pointer into the fetched card or the manifest', () => {
    const makeHostError = (pointer: string) => ({
      pointer,
      message: `names the agent's host ${host}, which \`route: gateway\` hides: override the field under \`card\`, or list the host in \`upstream.mayShow\``,
    })
    const overrides = { card: { 'x-owner': host }, tiers: { gold: { 'x-gold': host } } }
    expect(getCompileErrors(makeManifest({}, overrides), makeCard({ 'x-fetched': host }))).toStrictEqual([
      makeHostError('/x-fetched'),
      makeHostError('/card/x-owner'),
    ])
    expect(getCompileErrors(makeManifest({}, { tiers: overrides.tiers }), makeCard())).toStrictEqual([
      makeHostError('/tiers/gold/x-gold'),
    ])
  })

  it('is rejected in a name, an id and any other field', () => {
    const rows: [fields: JsonObject, pointer: string][] = [
      [{ routes: { [host]: true } }, `/routes/${host}`],
      [{ capabilities: { extensions: [{ uri: endpoint }] } }, '/capabilities/extensions/0/uri'],
      [{ skills: [{ id: endpoint, name: 'S' }] }, '/skills/0/id'],
      // An alias of SuperX.
      [{ protocol: 'a2a', icon_url: host, iconUrl: 'https://c.example' }, '/icon_url'],
    ]
    expect(rows.map(([fields]) => [fields, ...findErrors(makeCard(fields))])).toEqual(rows)
  })

  it('is not found in another host name', () => {
    for (const value of [
      'https://agents.example',
      'https://my-weather.agents.example',
      'https://weather.agents.example.org',
      `https://cdn.${host}/x`,
      'http://db.internal, 10.0.0.5',
    ])
      expect(serveField(value)).toBe(value)
  })

  it('is allowed where upstream.mayShow lists it, and the endpoint is replaced nevertheless', () => {
    const docs = `https://${host}/docs`
    const upstream = { mayShow: [host] }
    expect(serveField([docs, endpoint, host], { documentationUrl: docs }, upstream)).toStrictEqual([
      docs,
      ownEndpoint,
      host,
    ])
    const { documents } = compileCard(makeManifest(upstream), makeCard({ documentationUrl: docs }))
    expect([documents['0.3'].documentationUrl, documents['0.3'].url]).toStrictEqual([docs, ownEndpoint])
    expect(serveField(host, {}, { mayShow: ['*'] })).toBe(host)
  })

  it('may be that of this host, with another port', () => {
    const local = { id: 'weather', requestOrigin: 'http://localhost:8787' }
    const fetched = makeCard({ url: 'http://localhost:9999/', 'x-field': 'http://localhost:9999' })
    const upstream = { card: 'http://localhost:9999/.well-known/agent-card.json' }
    const { documents } = compileCard(makeManifest(upstream), fetched, local)
    expect(documents['0.3']['x-field']).toBe('http://localhost:8787/agents/weather/a2a')
  })
})

it('a fetched card is served without its signatures, none of which is still valid', () => {
  const fetched = { ...completeCards['1.0'], signatures: [{ protected: host, signature: 's' }] }
  const { documents, extended } = compileCard(makeManifest({}, { extended: {} }), fetched)
  expect(extended).toHaveLength(1)
  expect(JSON.stringify([documents, extended.map(each => each.documents)])).not.toContain('signatures')
})
