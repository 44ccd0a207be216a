import { describe, expect, it } from 'vitest'
import { representationNames } from '../../../src/card/model/constants.ts'
import { compileCard } from '../../support/cards/compile.ts'
import { readSeed, readSeedManifest, seedNames } from '../../support/cards/seeds.ts'
import { hybridErrors, versionErrors } from '../../support/schemas/index.ts'

describe('a published example card', () => {
  it.each([
    ['gopherhole-quick', 'gopherhole'],
    ['gopherhole-complete', 'gopherhole'],
    ['gopherhole-minimal', 'gopherhole'],
    ['gopherhole-minimal-served', 'gopherhole'],
    ['gopherhole-worker', 'gopherhole'],
    ['superx-my-agent', 'superx'],
    ['superx-exa', 'superx'],
    ['shaman-generated', 'shaman'],
    ['shaman-individual', 'shaman'],
    ['shaman-extended', 'shaman'],
    ['shaman-external', '0.3'],
    ['shaman-front-matter', '0.3'],
    ['shaman-front-matter-specialized', 'shaman'],
    ['telex-etymo', 'telex'],
    ['guide-code-review', '0.3'],
  ])('is accepted with every representation: %s, in the dialect %s', (name, dialect) => {
    const { report, documents } = compileCard(readSeedManifest(name))
    expect({ dialect: report.dialect, documents: Object.keys(documents) }).toStrictEqual({
      dialect,
      documents: [...representationNames],
    })
  })

  it.each(seedNames)('is valid in 1.0 and 0.3: %s', name => {
    const { documents } = compileCard(readSeedManifest(name))
    expect([versionErrors(documents), hybridErrors(documents)]).toStrictEqual([[], []])
  })
})

describe('the representation of a published card in its own dialect', () => {
  it("is the documented result for GopherHole's minimal example", () => {
    expect(compileCard(readSeed('gopherhole-minimal')).documents.gopherhole).toStrictEqual(
      readSeed('gopherhole-minimal-served'),
    )
  })

  it.each([
    ['gopherhole-complete', 'gopherhole'],
    ['gopherhole-minimal-served', 'gopherhole'],
    ['superx-my-agent', 'superx'],
    ['shaman-generated', 'shaman'],
    ['shaman-individual', 'shaman'],
    ['shaman-extended', 'shaman'],
    ['telex-etymo', 'telex'],
  ] as const)('is the authored card: %s', (name, dialect) => {
    const { documents, report } = compileCard(readSeed(name))
    expect([documents[dialect], report.dropped[dialect]]).toStrictEqual([readSeed(name), undefined])
  })

  it.each(['gopherhole-quick', 'gopherhole-worker'])("is the authored card with GopherHole's defaults: %s", name => {
    const authored = readSeed(name)
    expect(compileCard(authored).documents.gopherhole).toStrictEqual({
      ...authored,
      capabilities: { extendedAgentCard: false, ...(authored.capabilities as object) },
    })
  })

  it('has the URL that the manifest adds to an MCP card of SuperX', () => {
    const card = readSeed('superx-exa')
    const url = 'https://mcp.example/mcp'
    const { documents, card: canonical } = compileCard({ card, upstream: { url } })
    expect([documents.superx, canonical.supportedInterfaces]).toStrictEqual([
      { ...card, url },
      [{ url, protocolBinding: 'MCP', protocolVersion: '2024-11-05' }],
    ])
  })
})
