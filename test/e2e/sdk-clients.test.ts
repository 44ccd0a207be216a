import { readdirSync } from 'node:fs'
import { DefaultAgentCardResolver } from '@a2a-js/sdk/client'
import { DefaultAgentCardResolver as V0Resolver } from 'a2a-sdk-v0.3/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findCardFiles, loadManifests } from '../../cli/manifests/load.ts'
import { type OwnHost, startHost } from '../support/host.ts'

const { drafts, invalid } = loadManifests(findCardFiles([]), 'https://cards.example.com')
/** Those that anybody may read, but for those whose cards only a host can fetch. */
const samples = drafts
  .filter(({ manifest, compiled }) => manifest.visibility !== 'internal' && compiled !== undefined)
  .map(({ id }) => id)

let host: OwnHost
beforeAll(async () => {
  host = await startHost({ PUBLIC_URL: 'https://cards.example.com' })
  for (const { id, manifest } of drafts) await host.put(id, manifest)
})
afterAll(() => host.close())

/** What every client must agree on: where the agent is for it, and what it is. */
type Facts = {
  name: string
  version: string
  endpoint: string
  protocolVersion: string
  skills: string[]
  schemes: Record<string, string>
}

/** What the author wrote, as the canonical card has it: the first interface of the generation, else the preferred one. */
const facts = (id: string, generation: '0' | '1'): Facts => {
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

/** A fetch that reaches the host under test, its requests marked or unmarked as the test says. */
const fetchVia = (alter: (headers: Headers) => void = () => undefined) =>
  (async (input: string | URL, init?: RequestInit) => {
    const headers = new Headers(init?.headers)
    alter(headers)
    const { pathname, search } = new URL(input)
    return host.fetch(pathname + search, { ...init, headers })
  }) as typeof fetch
const base = (id: string) => new URL(`/agents/${id}/`, host.url).href

describe('the samples of cards/', () => {
  it('are all good', () => {
    const files = new Set(drafts.map(({ file }) => file.replace(/#.*$/, '')))
    expect({ invalid, files: files.size }).toEqual({
      invalid: [],
      files: readdirSync('cards').filter(name => /\.(json|ya?ml|md)$/.test(name) && !name.startsWith('defaults'))
        .length,
    })
  })
})

describe.each(samples)('%s, resolved by the official JavaScript SDK', id => {
  const v1Facts = (card: Awaited<ReturnType<DefaultAgentCardResolver['resolve']>>): Facts => {
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

  it.each([
    ['1.x', new DefaultAgentCardResolver({ fetchImpl: fetchVia() }), undefined],
    [
      '1.x with its v0.3 compatibility',
      new DefaultAgentCardResolver({ fetchImpl: fetchVia(), legacyCompat: { enabled: true } }),
      undefined,
    ],
    ['1.x at the old path', new DefaultAgentCardResolver({ fetchImpl: fetchVia() }), '.well-known/agent.json'],
  ])('%s', async (_, resolver, path) => {
    expect(v1Facts(await resolver.resolve(base(id), path))).toEqual(facts(id, '1'))
  })

  const types: Record<string, string> = {
    http: 'httpAuthSecurityScheme',
    apiKey: 'apiKeySecurityScheme',
    oauth2: 'oauth2SecurityScheme',
    openIdConnect: 'openIdConnectSecurityScheme',
    mutualTLS: 'mtlsSecurityScheme',
  }
  it.each([
    ['0.3.x', fetchVia(), undefined],
    ['0.3.x at the old path', fetchVia(), '.well-known/agent.json'],
    ['0.3.x that says its version', fetchVia(headers => headers.set('A2A-Version', '0.3')), undefined],
  ])('%s', async (_, fetchImpl, path) => {
    const card = await new V0Resolver({ fetchImpl }).resolve(base(id), path)
    const { protocolVersion, ...expected } = facts(id, '0')
    expect({
      name: card.name,
      version: card.version,
      endpoint: card.url,
      skills: card.skills.map(skill => skill.id),
      schemes: Object.fromEntries(
        Object.entries(card.securitySchemes ?? {}).map(([name, scheme]) => [name, types[scheme.type]]),
      ),
    }).toEqual(expected)
    // On agent.json the version is what GopherHole's readers are told, where the agent speaks both.
    if (path === undefined) expect(card.protocolVersion).toMatch(new RegExp(`^${protocolVersion.replace('.', '\\.')}`))
  })

  it('1.x through a proxy that drops A2A-Version, reading the hybrid', async () => {
    const resolver = new DefaultAgentCardResolver({
      fetchImpl: fetchVia(headers => headers.delete('A2A-Version')),
      legacyCompat: { enabled: true },
    })
    const { name, skills } = facts(id, '1')
    const card = await resolver.resolve(base(id))
    expect({ name: card.name, skills: card.skills.map(skill => skill.id) }).toEqual({ name, skills })
  })
})

describe('the traps of clients', () => {
  it('a base URL without its last slash ends in an answer that says so', async () => {
    const resolver = new DefaultAgentCardResolver({ fetchImpl: fetchVia() })
    await expect(resolver.resolve(new URL(`/agents/${samples[0]}`, host.url).href)).rejects.toThrow('404')
  })

  it('the root of the host is the root agent', async () => {
    const resolver = new DefaultAgentCardResolver({ fetchImpl: fetchVia() })
    expect((await resolver.resolve(host.url.href)).name).toBe('Weather Agent')
  })
})
