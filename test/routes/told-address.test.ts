import { expect, it } from 'vitest'
import { toldAddress } from '../../src/api/agent-links.ts'
import type { CallProfile } from '../../src/card/call-profile.ts'

const profile: Pick<CallProfile, 'targets' | 'links' | 'mcp'> = {
  targets: [{ binding: 'JSONRPC', version: '1.0', url: 'https://agent.example.com/a2a' }],
  links: { documentation: 'https://docs.example.com/weather' },
  mcp: { url: 'https://tools.example.net:8443/mcp', tools: [] },
}
const told = (text: string) => toldAddress(text, profile, 'https://cards.example.com/agents/weather')

it.each([
  ['an interface', '<a href="https://agent.example.com/a2a">', 'agent.example.com'],
  ['the link itself', 'See https://docs.example.com.', 'docs.example.com'],
  ['an MCP server, without its port', 'tools.example.net', 'tools.example.net'],
  ['a host in capitals', 'AGENT.Example.com', 'agent.example.com'],
  ['a host in escapes', 'https%3A%2F%2Fagent%2Eexample%2Ecom', 'agent.example.com'],
  ['a host in character references', '&#97;gent&#46;example&#46;com', 'agent.example.com'],
  ['a host in parts', 'agent.<wbr>example.<wbr>com', 'agent.example.com'],
  ['a host below one', 'https://eu.agent.example.com', 'agent.example.com'],
])('names %s', (_, text, host) => {
  expect(told(text)).toBe(host)
})

it.each([
  ['this host', 'https://cards.example.com/agents/weather/a2a'],
  ['a host of the same domain', 'https://www.example.com'],
  ['a longer name', 'my-agent.example.com agent.example.community'],
  ['a private host that is not the agent’s', 'curl http://localhost:8080 http://10.0.0.1'],
])('does not name it with %s', (_, text) => {
  expect(told(text)).toBe(undefined)
})

it('reads a text of 1 MiB in the time that its length bounds', () => {
  const heaps = `a${'\u0301\u0316'.repeat(2000)}`.repeat(130)
  const start = performance.now()
  expect(told(heaps)).toBe(undefined)
  expect(performance.now() - start).toBeLessThan(2000)
})

it('an agent at this host’s own name is found by its path', () => {
  const own = { targets: [{ ...profile.targets[0], url: 'https://cards.example.com/real/a2a' }] } as typeof profile
  const agentUrl = 'https://cards.example.com/agents/weather'
  expect(toldAddress('https://cards.example.com/real/a2a', own, agentUrl)).toBe('cards.example.com/real/a2a')
  expect(toldAddress(`${agentUrl}/a2a at cards.example.com`, own, agentUrl)).toBe(undefined)
})
