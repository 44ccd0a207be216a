import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadManifests } from '../../cli/manifests/load.ts'
import { isPut } from './fake-host.ts'
import { card, containing, useFakeHost, Workspace, waitForText } from './workspace.ts'

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
  const names = Object.keys(files).filter(name => !name.includes('defaults'))
  const { drafts, invalid } = loadManifests(
    names.map(name => join(folder, name)),
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
const manifestOf = (entry: object, more: Record<string, unknown> = {}) =>
  loaded({ 'agents.json': { PartnerAgent: entry }, ...more }).drafts[0]?.manifest

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
        { ...partner, agentCard: { description: 'D' } },
        { name: 'PartnerAgent', description: 'D' },
      ],
      [
        { ...partner, sla: 'gold', agentCard: {} },
        { name: 'PartnerAgent', sla: 'gold' },
      ],
      [{ ...partner, version: '1', agentCard: { version: '2' } }, { version: '2' }],
      [{ ...partner, agentCard: { url: 'https://old.partner.com' } }, { url: partner.url }],
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

  it('can name the host of the agent in its card', () => {
    const own = { description: 'See partner.com', documentationUrl: 'https://partner.com/a2a/v1/docs' }
    const agentCard = { ...partner.agentCard, ...own }
    const { drafts, invalid } = loaded({ 'agents.json': { PartnerAgent: { ...partner, agentCard } } })
    expect([invalid, drafts[0]?.compiled?.card.documentationUrl]).toEqual([[], 'https://partner.com/a2a/v1/docs'])
  })

  it('is internal if its card has `exposed: false`', () => {
    const entry = { ...partner, agentCard: { ...partner.agentCard, exposed: false } }
    expect(loaded({ 'agents.json': { PartnerAgent: entry } }).drafts[0]?.compiled?.profile.visibility).toBe('internal')
  })

  it('inherits from the defaults, but no upstream and no secret: it has its own endpoint', () => {
    const defaults = {
      upstream: { url: 'https://acme.example.com/a2a', secret: 'ACME_TOKEN' },
      visibility: 'internal',
      card: { url: 'https://acme.example.com', iconUrl: 'https://acme.example.com/icon.png' },
    }
    expect(manifestOf(partner, { 'defaults.json': defaults })).toEqual({
      route: 'gateway',
      visibility: 'internal',
      card: { iconUrl: 'https://acme.example.com/icon.png', ...partner.agentCard, url: partner.url },
      upstream: { mayShow: ['partner.com'], agentName: 'DataProcessor' },
    })
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
        NoHttp: { ...partner, url: 'ftp://partner.com' },
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
      ['agents.json#/NoHttp', [['/NoHttp/url', 23]]],
      ['agents.json#/NoName', [['/NoName/agentName', 37]]],
      ['agents.json#/BadCard', [['/BadCard/agentCard/capabilities', 55]]],
      ['agents.json#/NoCard', [['/NoCard/agentCard', 61]]],
      ['agents.json#/日本', [['/日本', 63]]],
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

  it('can be empty', () => {
    expect(loaded({ 'agents.json': {} })).toEqual({ drafts: [], invalid: [] })
  })

  it('comes after all other files, the first of which becomes the root agent', () => {
    const { drafts } = loaded({ 'agents.json': { A: partner }, 'b.json': card('b'), 'c.json': card('c') })
    expect(drafts.map(({ id }) => id)).toEqual(['b', 'c', 'a'])
  })
})

describe('sync-card with agents.json', () => {
  const { host, env, run } = useFakeHost()

  it('registers each entry, and finds no difference the next time', async () => {
    const workspace = new Workspace({ 'cards/agents.json': { PartnerAgent: partner, 'Other Partner': partner } })
    expect(await run(workspace, '')).toMatchObject({
      stdout: containing('+ created   partner-agent (cards/agents.json#/PartnerAgent)'),
    })
    expect([...host.agents.keys()].sort()).toEqual(['other-partner', 'partner-agent'])
    expect(await run(workspace, '--check')).toMatchObject({ code: 0, stdout: containing('2 unchanged') })
  })

  it('deletes with --prune the agent of a removed entry', async () => {
    for (const id of ['partner-agent', 'former-partner']) host.register(id, { card: card(id), set: 'mine' })
    const files = { 'cards/agents.json': { PartnerAgent: partner }, 'cards/defaults.yaml': 'set: mine' }
    expect((await run(files, '--prune --dry-run')).stdout).toContain('- to delete former-partner')
    expect((await run(files, '--prune --yes')).ids).toEqual(['partner-agent'])
  })

  it('reports with --watch the entry that changed and the one that is gone', async () => {
    const workspace = new Workspace({ 'cards/agents.json': { A: partner, B: partner } })
    const command = workspace.start(['--watch'], env)
    await waitForText(command.stderr, 'Watching for changes')
    const changed = host.next(isPut('a'))
    const gone = waitForText(command.stderr, 'cards/agents.json#/B is gone; b is still registered')
    workspace.write({ 'cards/agents.json': { A: { ...partner, agentName: 'Another' } } })
    expect((await changed).body).toContain('Another')
    await gone
    rmSync(join(workspace.folder, 'cards'), { recursive: true })
    command.interrupt()
    expect((await command.ended).code).toBe(0)
  })

  it('lists each entry as a file in lint and convert', async () => {
    const workspace = new Workspace({ 'cards/agents.json': { A: partner, B: { agentName: 'B' } } })
    const { files } = JSON.parse((await run(workspace, 'lint --format json')).stdout)
    expect(files).toMatchObject([
      { file: 'cards/agents.json#/A', valid: true },
      { file: 'cards/agents.json#/B', valid: false },
    ])
    const { stdout, stderr } = await run(workspace, 'convert cards/agents.json --to 0.3')
    expect(JSON.parse(stdout).name).toBe('DataProcessor')
    expect(stderr).toBe('cards/agents.json:15:3 error /B/url must be the URL where the agent is called\n')
  })
})
