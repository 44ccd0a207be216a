import { describe, expect, it } from 'vitest'
import { LIST_FORMATS } from '../../src/api/agent-lists.ts'

const old = {
  id: 'old',
  origin: 'https://cards.example.com',
  name: 'Old',
  description: 'Registered by an older host',
  version: '1.0.0',
  url: 'https://old.example.com',
}

describe('an agent that an older host registered', () => {
  it('is in every list, with what was usual then', () => {
    const page = { agents: [old], cursor: 'old' }
    const card = 'https://cards.example.com/agents/old/.well-known/agent-card.json'
    const { id, origin: _, name, ...rest } = old
    expect(Object.values(LIST_FORMATS).map(list => list(page))).toEqual([
      { agents: [{ id, name, ...rest, card }], cursor: 'old' },
      { protocolVersion: '0.3.0', agents: [{ name, ...rest, preferredTransport: 'JSONRPC' }], cursor: 'old' },
      { agents: [{ id, name: id, ...rest, protocol: 'a2a', agentCard: { url: card } }], cursor: 'old' },
    ])
  })
})
