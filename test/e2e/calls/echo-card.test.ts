import { AgentCard } from '@a2a-js/sdk'
import { describe, expect, it } from 'vitest'
import { loadManifests } from '../../../cli/manifests/load.ts'
import { createEchoCard } from '../../../examples/echo-agent/app.ts'

describe('cards/echo.yaml', () => {
  it('says of the example agent what it says of itself, but for the extended card, which is the host’s', () => {
    const { drafts } = loadManifests(['cards/echo.yaml'], 'https://cards.example.com')
    const told = AgentCard.fromJSON(drafts[0]?.manifest.card)
    expect(told).toEqual(createEchoCard())
  })
})
