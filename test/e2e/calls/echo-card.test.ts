import { AgentCard } from '@a2a-js/sdk'
import { describe, expect, it } from 'vitest'
import { loadManifests } from '../../../cli/manifests/load.ts'
import { createEchoCard } from '../../../examples/echo-agent/app.ts'

describe('examples/cards/echo.yaml', () => {
  it('contains the card of the example agent, and no extended card, which some clients always request', () => {
    const { drafts } = loadManifests(['examples/cards/echo.yaml'], 'https://cards.example.com')
    const card = AgentCard.fromJSON(drafts[0]?.manifest.card)
    expect(card).toEqual(createEchoCard())
    expect(drafts[0]?.compiled?.card.capabilities.extendedAgentCard).toBe(false)
  })
})
