import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadManifests } from '../../cli/manifests/load.ts'
import { card, Workspace } from './workspace.ts'

/** The example of Shaman's documentation. */
const partner = {
  url: 'https://partner.com/a2a/v1',
  agentName: 'DataProcessor',
  agentCard: {
    protocolVersion: '0.3.0',
    name: 'DataProcessor',
    description: 'External data processing service',
    capabilities: { streaming: false, pushNotifications: true },
  },
}

const loaded = (files: Record<string, unknown>) => {
  const { folder } = new Workspace(files)
  const { drafts, invalid } = loadManifests(
    Object.keys(files).map(name => join(folder, name)),
    'https://cards.example.com',
  )
  const relative = (text: string) => text.replaceAll(`${folder}/`, '')
  return {
    drafts: drafts.map(draft => ({ ...draft, file: relative(draft.file) })),
    invalid: invalid.map(({ file, problems, ...rest }) => {
      const relativeProblems = problems.map(({ message, ...at }) => ({ ...at, message: relative(message) }))
      return { ...rest, file: relative(file), problems: relativeProblems }
    }),
  }
}
const manifestOf = (entry: object) => loaded({ 'agents.json': { PartnerAgent: entry } }).drafts[0]?.manifest

describe('an entry of agents.json', () => {
  it("becomes an agent with route gateway and the agent's name for each call", () => {
    const { drafts, invalid } = loaded({ 'agents.json': { PartnerAgent: partner } })
    expect(invalid).toEqual([])
    expect(drafts).toMatchObject([{ file: 'agents.json#/PartnerAgent', id: 'partner-agent' }])
    expect(drafts[0]?.manifest).toEqual({
      route: 'gateway',
      card: { ...partner.agentCard, url: partner.url },
      upstream: { mayShow: ['partner.com'], agentName: 'DataProcessor' },
    })
    expect(drafts[0]?.compiled?.profile.targets).toEqual([
      { binding: 'JSONRPC', version: '0.3', url: partner.url, agentName: 'DataProcessor' },
    ])
    expect(drafts[0]?.compiled?.documents.shaman).toMatchObject({
      ...partner.agentCard,
      url: 'https://cards.example.com/agents/partner-agent/a2a',
    })
  })

  it('has a complete card, whatever it has', () => {
    const unnamed = { name: 'PartnerAgent', description: 'The external agent PartnerAgent' }
    const rows: [entry: object, known: object][] = [
      [{ url: partner.url }, unnamed],
      [
        { ...partner, sla: 'gold', version: '1', agentCard: { version: '2', url: 'https://old.partner.com' } },
        { name: 'PartnerAgent', sla: 'gold', version: '2' },
      ],
    ]
    for (const [entry, known] of rows)
      expect(manifestOf(entry)?.card).toMatchObject({ protocolVersion: '0.3.0', url: partner.url, ...known })
  })

  it('can have fields of a manifest', () => {
    const entry = { ...partner, id: 'data', visibility: 'internal', upstream: { secret: 'PARTNER_TOKEN' } }
    const { drafts } = loaded({ 'agents.json': { PartnerAgent: entry } })
    const upstream = { mayShow: ['partner.com'], secret: 'PARTNER_TOKEN', agentName: 'DataProcessor' }
    expect(drafts).toMatchObject([{ id: 'data', manifest: { visibility: 'internal' } }])
    expect(drafts[0]?.manifest.upstream).toEqual(upstream)
  })
})

describe('agents.json', () => {
  it('reports each invalid entry at its position, and reads the others', () => {
    const { drafts, invalid } = loaded({
      'agents.json': {
        Good: partner,
        $schema: 'https://shaman.ai/agents.json',
        NoUrl: { agentName: 'A' },
        NoObject: ['https://partner.com'],
        NoName: { ...partner, agentName: 7 },
        BadCard: { ...partner, agentCard: { ...partner.agentCard, capabilities: 7 } },
        NoCard: { ...partner, agentCard: 'DataProcessor' },
        日本: partner,
      },
    })
    expect(drafts.map(({ id }) => id)).toEqual(['good'])
    expect(invalid.map(({ file, problems }) => [file, problems.map(({ pointer, line }) => [pointer, line])])).toEqual([
      ['agents.json#/$schema', [['/$schema', 15]]],
      ['agents.json#/NoUrl', [['/NoUrl/url', 16]]],
      ['agents.json#/NoObject', [['/NoObject', 19]]],
      ['agents.json#/NoName', [['/NoName/agentName', 24]]],
      ['agents.json#/BadCard', [['/BadCard/agentCard/capabilities', 42]]],
      ['agents.json#/NoCard', [['/NoCard/agentCard', 48]]],
      ['agents.json#/日本', [['/日本', 50]]],
    ])
  })

  it('rejects entries that share an id, in one file or in two', () => {
    const { drafts, invalid } = loaded({
      'agents.json': { PartnerAgent: partner, 'partner agent': partner, Other: partner },
      'other.json': card('other'),
    })
    expect(drafts).toEqual([])
    expect(invalid.map(({ file, problems }) => [file, problems[0]?.message])).toEqual([
      ['other.json', '"other" is also the id of agents.json#/Other: change one of them'],
      ['agents.json#/PartnerAgent', '"partner-agent" is also the id of agents.json#/partner agent: change one of them'],
      ['agents.json#/partner agent', '"partner-agent" is also the id of agents.json#/PartnerAgent: change one of them'],
      ['agents.json#/Other', '"other" is also the id of other.json: change one of them'],
    ])
  })

  it('is read as a card or a manifest if it is one', () => {
    for (const document of [card('a'), { upstream: { card: 'https://a.example.com/card.json' } }])
      expect(loaded({ 'agents.json': document }).drafts.map(({ id }) => id)).toEqual(['agents'])
  })

  it('is a map of agents only under this name', () => {
    const { invalid } = loaded({ 'partners.json': { PartnerAgent: partner } })
    expect(invalid.map(({ file }) => file)).toEqual(['partners.json'])
  })

  it('comes after all other files, the first of which becomes the root agent', () => {
    const { drafts } = loaded({ 'agents.json': { A: partner }, 'b.json': card('b'), 'c.json': card('c') })
    expect(drafts.map(({ id }) => id)).toEqual(['b', 'c', 'a'])
  })
})
