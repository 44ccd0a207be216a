import { describe, expect, it } from 'vitest'
import { LIST_FORMATS } from '../../src/api/agent-lists.ts'

const agent = {
  id: 'tool-box',
  origin: 'https://cards.example.com',
  name: 'Tool Box',
  description: 'Has tools',
  version: '1.0.0',
  url: 'https://tools.example.com',
  protocol: 'mcp',
  shaman: { url: 'https://tools.example.com/rest', preferredTransport: 'HTTP+JSON' },
}

describe('an agent', () => {
  it('is in every list as that list has it', () => {
    const page = { agents: [agent], cursor: 'tool-box' }
    const card = 'https://cards.example.com/agents/tool-box/.well-known/agent-card.json'
    const { id, name, description, version, url, protocol, shaman } = agent
    const cursor = id
    expect(Object.values(LIST_FORMATS).map(list => list(page))).toEqual([
      { agents: [{ id, name, description, version, url, card }], cursor },
      { protocolVersion: '0.3.0', agents: [{ name, description, version, ...shaman }], cursor },
      { agents: [{ id, name: id, description, version, url, protocol, agentCard: { url: card } }], cursor },
    ])
  })
})
