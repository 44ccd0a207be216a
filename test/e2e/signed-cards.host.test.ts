import { verifyAgentCardSignature } from '@a2a-js/sdk'
import type { JWK } from 'jose'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { agentCard } from '../support/cards/cards.ts'
import { sharedHost } from '../support/host.ts'

const host = sharedHost('signing')
beforeAll(async () => {
  const card = agentCard('https://agent.example', { description: 'Le temps qu’il fait' })
  const securitySchemes = { bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } } }
  await host.put('sdk-open', card)
  await host.put('sdk-secured', { ...card, securitySchemes })
})
beforeEach(() => {
  // The SDK logs each signature that is not for it.
  vi.spyOn(console, 'debug').mockReturnValue()
})

/** Verifies as the SDK does, with the keys of this host that the signer names. */
const verify = verifyAgentCardSignature(async (kid, jku) => {
  expect(new URL(jku ?? '').pathname).toBe('/.well-known/jwks.json')
  const { keys } = (await (await fetch(jku ?? '')).json()) as { keys: (JWK & { kid: string })[] }
  const key = keys.find(key => key.kid === kid)
  if (!key) throw new Error(`${kid} is not published`)
  return key
})
const readJson = async (id: string, headers: Record<string, string> = {}) =>
  (await host.fetch(`/agents/sdk-${id}/.well-known/agent-card.json`, { headers })).json()

describe('a card that this host signed is verified by the JavaScript SDK', () => {
  it('as JSON, with security schemes or without, for A2A 1.0 or without a version', async () => {
    for (const id of ['open', 'secured'])
      for (const headers of [{}, { 'A2A-Version': '1.0' }])
        await expect(verify((await readJson(id, headers)) as never), id).resolves.toBeUndefined()
  })

  it('not after a change', async () => {
    const card = (await readJson('open')) as { description: string }
    await expect(verify({ ...card, description: 'Changed' } as never)).rejects.toThrow('No valid signatures')
  })
})
