import { readdirSync } from 'node:fs'
import { DefaultAgentCardResolver } from '@a2a-js/sdk/client'
import { DefaultAgentCardResolver as V03Resolver } from 'a2a-sdk-v0.3/client'
import { beforeAll, describe, expect, it } from 'vitest'
import { findSamples } from '../../cli/dev/welcome.ts'
import { loadManifests } from '../../cli/manifests/load.ts'
import { sharedHost } from '../support/host.ts'

const { drafts, invalid } = loadManifests(findSamples(), 'https://cards.example.com')
/** The ids of the public samples that contain their cards. */
const samples = drafts
  .filter(({ manifest, compiled }) => manifest.visibility !== 'internal' && compiled !== undefined)
  .map(({ id }) => id)

const host = sharedHost('public')
beforeAll(async () => {
  for (const { id, manifest } of drafts) await host.put(id, manifest)
})

/** The fields on which every client must agree. */
type CardFields = {
  name: string
  version: string
  endpoint: string
  protocolVersion: string
  skills: string[]
  schemes: Record<string, string>
}

/** Returns the fields of the canonical card, with the first interface of the generation, else the preferred one. */
const expectedFields = (id: string, generation: '0' | '1'): CardFields => {
  const card = drafts.find(draft => draft.id === id)?.compiled?.card
  if (!card) throw new Error(`${id} was not compiled`)
  const endpoint =
    card.supportedInterfaces.find(({ protocolVersion }) => protocolVersion.startsWith(generation)) ??
    card.supportedInterfaces[0]
  return {
    name: card.name,
    version: card.version,
    endpoint: endpoint?.url ?? '',
    protocolVersion: endpoint?.protocolVersion ?? '',
    skills: card.skills.map(skill => skill.id),
    schemes: Object.fromEntries(
      Object.entries(card.securitySchemes ?? {}).map(([name, scheme]) => [name, Object.keys(scheme)[0] ?? '']),
    ),
  }
}

/** Sends requests to the host under test. */
const fetchImpl = (async (input: string | URL, init?: RequestInit) => {
  const { pathname, search } = new URL(input)
  return host.fetch(pathname + search, init)
}) as typeof fetch
const base = (id: string) => new URL(`/agents/${id}/`, host.url).href

describe('the samples in examples/cards/', () => {
  it('are all valid', () => {
    const files = new Set(drafts.map(({ file }) => file.replace(/#.*$/, '')))
    expect({ invalid, files: files.size }).toEqual({
      invalid: [],
      files: readdirSync('examples/cards').filter(
        name => /\.(json|ya?ml|md)$/.test(name) && !name.startsWith('defaults'),
      ).length,
    })
  })
})

describe.each(samples)('%s in the official JavaScript SDK', id => {
  const fieldsOf = (card: Awaited<ReturnType<DefaultAgentCardResolver['resolve']>>): CardFields => {
    const preferred =
      card.supportedInterfaces.find(({ protocolVersion }) => protocolVersion.startsWith('1')) ??
      card.supportedInterfaces[0]
    return {
      name: card.name,
      version: card.version,
      endpoint: preferred?.url ?? '',
      protocolVersion: preferred?.protocolVersion ?? '',
      skills: card.skills.map(skill => skill.id),
      schemes: Object.fromEntries(
        Object.entries(card.securitySchemes ?? {}).map(([name, { scheme }]) => [name, scheme?.$case ?? '']),
      ),
    }
  }

  it('is read by 1.x, with its v0.3 compatibility and at the path of A2A 0.2, too', async () => {
    for (const [enabled, path] of [[false], [true], [false, '.well-known/agent.json']] as const) {
      const resolver = new DefaultAgentCardResolver({ fetchImpl, legacyCompat: { enabled } })
      expect(fieldsOf(await resolver.resolve(base(id), path)), path).toEqual(expectedFields(id, '1'))
    }
  })

  const types: Record<string, string> = {
    http: 'httpAuthSecurityScheme',
    apiKey: 'apiKeySecurityScheme',
    oauth2: 'oauth2SecurityScheme',
    openIdConnect: 'openIdConnectSecurityScheme',
    mutualTLS: 'mtlsSecurityScheme',
  }
  it('is read by 0.3.x, at the path of A2A 0.2, too', async () => {
    for (const path of [undefined, '.well-known/agent.json']) {
      const card = await new V03Resolver({ fetchImpl }).resolve(base(id), path)
      const { protocolVersion, ...expected } = expectedFields(id, '0')
      expect({
        name: card.name,
        version: card.version,
        endpoint: card.url,
        skills: card.skills.map(skill => skill.id),
        schemes: Object.fromEntries(
          Object.entries(card.securitySchemes ?? {}).map(([name, scheme]) => [name, types[scheme.type]]),
        ),
      }).toEqual(expected)
      // In agent.json, the version is the one that readers of GopherHole expect from an agent that speaks both.
      if (path === undefined)
        expect(card.protocolVersion).toMatch(new RegExp(`^${protocolVersion.replace('.', '\\.')}`))
    }
  })
})
