import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { sharedHost } from '../support/host.ts'

const refused = 'is not an address that this host calls: it calls public host names over https.'
const toFile = (origin: string) =>
  `${refused} If the agent is on your machine, write ALLOWED_ORIGINS=${origin} into .dev.vars, or add the origin to that line after a space, and restart \`npm start\`.`
const toConfiguration = (origin: string) =>
  `${refused} To allow it, add ${origin} to ALLOWED_ORIGINS in wrangler.toml, and deploy.`
const unreachable = `${refused} No deployed host reaches this one: give the agent a public https address, such as that of a tunnel.`

const issuesOf = async (response: Response): Promise<JsonObject[]> => {
  const { report } = (await response.json()) as { report?: { issues: JsonObject[] } }
  return (report?.issues ?? []).filter(({ rule }) => rule === 'blocked-upstream')
}

describe('an agent behind the gateway whose address this host does not call', () => {
  it('is registered with a warning, which names what allows it', async () => {
    for (const [name, url, message] of [
      ['local', 'http://localhost:9000/a2a', toFile('http://localhost:9000')],
      ['standard', 'http://10.0.0.1/', unreachable],
      ['standard', 'https://agent.example.com:8443/', toConfiguration('https://agent.example.com:8443')],
    ] as const) {
      const host = sharedHost(name)
      const warning = { rule: 'blocked-upstream', severity: 'warning', message }
      const own = await host.put('blocked-own', { card: { ...minimalCard, url }, route: 'gateway' })
      expect(await issuesOf(own)).toEqual([{ ...warning, pointer: '/url' }])
      const named = await host.put('blocked-named', { card: minimalCard, route: 'gateway', upstream: { url } })
      expect(await issuesOf(named)).toEqual([{ ...warning, pointer: '/upstream/url' }])
      const remote = await host.put('blocked-remote', { upstream: { card: url } })
      const errors = [{ pointer: '/upstream/card', message }]
      expect([remote.status, await remote.json()]).toMatchObject([422, { errors }])
    }
  })

  it('is none at a public address, with a service binding, and where only clients call it', async () => {
    const cardAt = (url: string) => ({ card: { ...minimalCard, url } })
    for (const manifest of [
      { ...cardAt('https://agent.example.com/'), route: 'gateway' },
      { ...cardAt('http://a/'), route: 'gateway', upstream: { service: 'A' } },
      { ...cardAt('http://localhost:1/'), visibility: 'internal' },
    ])
      expect(await issuesOf(await sharedHost().put('blocked-not', manifest))).toEqual([])
  })
})
