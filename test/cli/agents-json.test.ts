import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { load } from '../../cli/files/load.ts'
import { FakeHost, isPut, type Seen } from './fake-host.ts'
import { card, ended, said, Workspace } from './workspace.ts'

/** As Shaman's documentation shows it. */
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
  const { drafts, bad } = load(
    Object.keys(files)
      .filter(name => !name.includes('defaults'))
      .map(name => join(folder, name)),
    'https://cards.example.com',
  )
  const within = (text: string) => text.replaceAll(`${folder}/`, '')
  return {
    drafts: drafts.map(draft => ({ ...draft, file: within(draft.file) })),
    bad: bad.map(({ file, problems, ...rest }) => ({
      file: within(file),
      ...rest,
      problems: problems.map(problem => ({ ...problem, file: within(problem.file), message: within(problem.message) })),
    })),
  }
}
const manifestOf = (entry: object, more: Record<string, unknown> = {}) =>
  loaded({ 'agents.json': { PartnerAgent: entry }, ...more }).drafts[0]?.manifest

describe('an entry of agents.json', () => {
  it("is an agent behind this host, which says the agent's name with each call", () => {
    const { drafts, bad } = loaded({ 'agents.json': { PartnerAgent: partner } })
    expect(bad).toEqual([])
    expect(drafts.map(({ file, id, manifest }) => ({ file, id, manifest }))).toEqual([
      {
        file: 'agents.json#/PartnerAgent',
        id: 'partner-agent',
        manifest: {
          route: 'gateway',
          card: { ...partner.agentCard, url: partner.url },
          upstream: { mayShow: ['partner.com'], agentName: 'DataProcessor' },
        },
      },
    ])
    expect(drafts[0]?.compiled?.profile.targets).toEqual([
      { binding: 'JSONRPC', version: '0.3', url: partner.url, agentName: 'DataProcessor' },
    ])
    expect(drafts[0]?.compiled?.documents.shaman).toMatchObject({
      ...partner.agentCard,
      url: 'https://cards.example.com/agents/partner-agent/a2a',
    })
  })

  it.each([
    ['no card', { url: partner.url }, { name: 'PartnerAgent', description: 'The external agent PartnerAgent' }],
    ['no name', { ...partner, agentCard: { description: 'D' } }, { name: 'PartnerAgent', description: 'D' }],
    ['fields of its own', { ...partner, sla: 'gold', agentCard: {} }, { name: 'PartnerAgent', sla: 'gold' }],
    ['a field twice', { ...partner, version: '1', agentCard: { version: '2' } }, { version: '2' }],
    ['another url in its card', { ...partner, agentCard: { url: 'https://old.partner.com' } }, { url: partner.url }],
  ])('with %s has a card all the same', (_, entry, known) => {
    expect(manifestOf(entry)?.card).toMatchObject({ protocolVersion: '0.3.0', url: partner.url, ...known })
  })

  it('says in fields of a manifest how it is hosted', () => {
    const entry = { ...partner, id: 'data', visibility: 'internal', upstream: { secret: 'PARTNER_TOKEN' } }
    const { drafts } = loaded({ 'agents.json': { PartnerAgent: entry } })
    expect(drafts.map(({ id, manifest: { visibility, upstream } }) => ({ id, visibility, upstream }))).toEqual([
      {
        id: 'data',
        visibility: 'internal',
        upstream: { mayShow: ['partner.com'], secret: 'PARTNER_TOKEN', agentName: 'DataProcessor' },
      },
    ])
  })

  it('may say in its card where it is, which is no secret', () => {
    const agentCard = {
      ...partner.agentCard,
      description: 'See partner.com',
      documentationUrl: 'https://partner.com/a2a/v1/docs',
    }
    const { drafts, bad } = loaded({ 'agents.json': { PartnerAgent: { ...partner, agentCard } } })
    expect([bad, drafts[0]?.compiled?.card.documentationUrl]).toEqual([[], 'https://partner.com/a2a/v1/docs'])
  })

  it('is internal where its card says that it is not exposed', () => {
    const entry = { ...partner, agentCard: { ...partner.agentCard, exposed: false } }
    expect(loaded({ 'agents.json': { PartnerAgent: entry } }).drafts[0]?.compiled?.profile.visibility).toBe('internal')
  })

  it('inherits what its folder shares, but no upstream and no secret of it: it says where it is', () => {
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
  it('with a bad entry stops no other, and the error stands at what is wrong', () => {
    const { drafts, bad } = loaded({
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
    expect(bad.map(({ file, problems }) => [file, problems.map(({ pointer, line }) => [pointer, line])])).toEqual([
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

  it('names both of two that would be one agent, be they in one file or in two', () => {
    const { drafts, bad } = loaded({
      'agents.json': { PartnerAgent: partner, 'partner agent': partner, Other: partner },
      'other.json': card('other'),
    })
    expect(drafts).toEqual([])
    expect(bad.map(({ file, problems }) => [file, problems[0]?.message])).toEqual([
      ['other.json', '"other" is the id of agents.json#/Other too'],
      ['agents.json#/PartnerAgent', '"partner-agent" is the id of agents.json#/partner agent too'],
      ['agents.json#/partner agent', '"partner-agent" is the id of agents.json#/PartnerAgent too'],
      ['agents.json#/Other', '"other" is the id of other.json too'],
    ])
  })

  it.each([
    ['a card', card('a')],
    ['a manifest', { upstream: { card: 'https://a.example.com/card.json' } }],
  ])('that holds %s is that', (_, document) => {
    expect(loaded({ 'agents.json': document }).drafts.map(({ id }) => id)).toEqual(['agents'])
  })

  it('is read so by this name alone', () => {
    const { bad } = loaded({ 'partners.json': { PartnerAgent: partner } })
    expect(bad.map(({ file }) => file)).toEqual(['partners.json'])
  })

  it('may be empty', () => {
    expect(loaded({ 'agents.json': {} })).toEqual({ drafts: [], bad: [] })
  })

  it('comes after the agents of the house, of which the first becomes the root agent', () => {
    const { drafts } = loaded({ 'agents.json': { A: partner }, 'b.json': card('b'), 'c.json': card('c') })
    expect(drafts.map(({ id }) => id)).toEqual(['b', 'c', 'a'])
  })
})

describe('sync-card with agents.json', () => {
  let host: FakeHost
  let env: Record<string, string>
  beforeEach(async () => {
    host = await new FakeHost().listen()
    env = { SYNC_CARD_URL: host.url, SYNC_CARD_TOKEN: host.token }
  })
  afterEach(() => host.close())

  it('registers each entry, and has nothing to do the next time', async () => {
    const workspace = new Workspace({ 'cards/agents.json': { PartnerAgent: partner, 'Other Partner': partner } })
    const first = await workspace.run([], env)
    expect(first.stdout).toContain('+ created   partner-agent (cards/agents.json#/PartnerAgent)')
    expect([...host.agents.keys()].sort()).toEqual(['other-partner', 'partner-agent'])
    const again = await workspace.run(['--check'], env)
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('2 unchanged')])
  })

  it('--prune deletes the agent of an entry that is gone', async () => {
    for (const id of ['partner-agent', 'former-partner']) host.register(id, { card: card(id) })
    const workspace = new Workspace({ 'cards/agents.json': { PartnerAgent: partner } })
    expect((await workspace.run(['--prune', '--dry-run'], env)).stdout).toContain('- to delete former-partner')
    await workspace.run(['--prune', '--yes'], env)
    expect([...host.agents.keys()]).toEqual(['partner-agent'])
  })

  it('--watch tells the entry that changed, and the one that is gone', async () => {
    const workspace = new Workspace({ 'cards/agents.json': { A: partner, B: partner } })
    const child = workspace.start('sync-card.ts', ['--watch'], env)
    const end = ended(child)
    await said(child.stderr, 'Watching for changes')
    const changed = host.next((seen: Seen) => isPut('a')(seen))
    const gone = said(child.stderr, 'cards/agents.json#/B is gone; b is still registered')
    workspace.write({ 'cards/agents.json': { A: { ...partner, agentName: 'Another' } } })
    expect((await changed).body).toContain('Another')
    await gone
    rmSync(join(workspace.folder, 'cards'), { recursive: true })
    child.kill('SIGINT')
    expect((await end).code).toBe(0)
  })

  it('lint and convert take each entry for a file', async () => {
    const workspace = new Workspace({ 'cards/agents.json': { A: partner, B: { agentName: 'B' } } })
    const { files } = JSON.parse((await workspace.run(['lint', '--format', 'json'])).stdout)
    expect(files.map(({ file, valid }: { file: string; valid: boolean }) => [file, valid])).toEqual([
      ['cards/agents.json#/A', true],
      ['cards/agents.json#/B', false],
    ])
    const { stdout, stderr } = await workspace.run(['convert', 'cards/agents.json', '--to', '0.3'])
    expect([JSON.parse(stdout).name, stderr]).toEqual([
      'DataProcessor',
      'cards/agents.json:15:3 error /B/url must be the URL that the agent is called at\n',
    ])
  })
})
