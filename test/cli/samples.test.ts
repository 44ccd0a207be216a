import { describe, expect, it } from 'vitest'
import { loadManifests } from '../../cli/manifests/load.ts'

const { drafts, invalid } = loadManifests(['examples/cards'], 'https://cards.example.com')
/** Only the host can fetch the other cards. */
const written = drafts.filter(draft => draft.compiled !== undefined)
const sample = (id: string) => drafts.find(draft => draft.id === id)

describe('examples/cards/', () => {
  it('has no invalid file', () => {
    expect(invalid).toEqual([])
    expect(drafts.length).toBeGreaterThanOrEqual(6)
  })

  it('has no lint errors', () => {
    const issues = written.flatMap(({ compiled }) => compiled?.report.issues ?? [])
    expect(issues.filter(({ severity }) => severity === 'error')).toEqual([])
  })

  it('has a card in every dialect', () => {
    const dialects = new Set(written.map(draft => draft.compiled?.report.dialect))
    expect([...dialects].sort()).toEqual(['0.3', '1.0', 'gopherhole', 'shaman', 'superx', 'telex'])
  })

  it('writes the GopherHole sample as GopherHole documents it', () => {
    expect(sample('smallest')?.compiled?.documents.gopherhole).toEqual({
      name: 'My Agent',
      description: 'Does something useful',
      url: 'https://my-agent.example.com',
      protocolVersion: '1.0',
      capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: false, multiTurn: true },
      supportedInputModes: ['text/plain', 'application/json'],
      supportedOutputModes: ['text/plain', 'application/json'],
    })
  })

  it('has an external agent that is called by its own name', () => {
    const { manifest, compiled } = sample('partner-agent') ?? {}
    expect([manifest?.route, compiled?.card.name]).toEqual(['gateway', 'DataProcessor'])
    expect(compiled?.profile.targets).toEqual([
      { binding: 'JSONRPC', version: '0.3', url: 'https://partner.example.com/a2a/v1', agentName: 'DataProcessor' },
    ])
  })

  it('does not send the prompt, model, temperature and tools of Shaman’s files', () => {
    const sent = JSON.stringify(sample('customer-support')?.manifest)
    expect(sent).not.toMatch(/gpt-4|temperature|run_data|helpful/)
    expect(sample('customer-support')?.compiled?.card.supportedInterfaces[0]?.url).toBe(
      'https://acme.example.com/a2a/v1',
    )
    expect(sample('order-processor')?.manifest.visibility).toBe('internal')
  })
})
