import { describe, expect, it } from 'vitest'
import { representationNames } from '../../../src/card/model/constants.ts'
import { compileCard, getCompileErrors } from '../../support/cards/compile.ts'
import { readSeed, readSeedManifest, seedNames } from '../../support/cards/seeds.ts'
import { hybridErrors, versionErrors } from '../../support/schemas/index.ts'

describe('every card of the documents that define the mission registers', () => {
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
  ])('%s, as %s', (name, dialect) => {
    const { report, documents } = compileCard(readSeedManifest(name))
    expect({ dialect: report.dialect, documents: Object.keys(documents) }).toStrictEqual({
      dialect,
      documents: [...representationNames],
    })
  })

  it.each(seedNames)('%s is valid in 1.0 and 0.3', name => {
    const { documents } = compileCard(readSeedManifest(name))
    expect([versionErrors(documents), hybridErrors(documents)]).toStrictEqual([[], []])
  })
})

describe('a card comes back in its own dialect', () => {
  it('GopherHole: the minimal example exactly as the document shows it', () => {
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
  ] as const)('%s: unchanged', (name, dialect) => {
    const { documents, report } = compileCard(readSeed(name))
    expect([documents[dialect], report.dropped[dialect]]).toStrictEqual([readSeed(name), undefined])
  })

  it.each(['gopherhole-quick', 'gopherhole-worker'])("%s: with GopherHole's defaults and nothing else", name => {
    const authored = readSeed(name)
    expect(compileCard(authored).documents.gopherhole).toStrictEqual({
      ...authored,
      capabilities: { extendedAgentCard: false, ...(authored.capabilities as object) },
    })
  })

  it('SuperX: an MCP card written by hand, with the address that its manifest adds', () => {
    const card = readSeed('superx-exa')
    const url = 'https://mcp.example/mcp'
    const { documents, card: canonical } = compileCard({ card, upstream: { url } })
    expect([documents.superx, canonical.supportedInterfaces]).toStrictEqual([
      { ...card, url },
      [{ url, protocolBinding: 'MCP', protocolVersion: '2024-11-05' }],
    ])
  })
})

describe("Shaman's front matter", () => {
  const upstream = { url: 'https://acme.shaman.example/a2a/v1' }

  it('never publishes the settings of the model, in any representation', () => {
    const { documents } = compileCard({ card: readSeed('shaman-front-matter'), upstream })
    const names = Object.values(documents).flatMap(document => Object.keys(document))
    expect(
      names.filter(name => ['model', 'temperature', 'tools', 'exposed', 'agentcard', 'prompt'].includes(name)),
    ).toStrictEqual([])
  })

  it('puts agentcard.skills and agentcard.customFields into the card', () => {
    const { card } = compileCard({ card: readSeed('shaman-front-matter-specialized'), upstream })
    expect([card.skills[0]?.name, card.supportedFormats, card.maxFileSize]).toStrictEqual([
      'data-visualization',
      ['csv', 'json', 'excel'],
      '10MB',
    ])
  })

  it.each([
    [true, 'public'],
    [false, 'internal'],
  ])('exposed: %s is %s', (exposed, visibility) => {
    const card = { ...readSeed('shaman-front-matter'), exposed }
    expect(compileCard({ card, upstream }).manifest.visibility).toBe(visibility)
  })

  it('is internal where it does not say that it is exposed, and the report says so', () => {
    const { exposed: _, ...card } = readSeed('shaman-front-matter')
    const { manifest, report } = compileCard({ card, upstream })
    expect([manifest.visibility, report.filled[0]]).toStrictEqual([
      'internal',
      { pointer: '/exposed', message: 'set to false: only front matter that sets it to true is public' },
    ])
    expect(compileCard({ card, upstream, visibility: 'public' }).manifest.visibility).toBe('public')
  })

  it.each(['false', 'no', 0, 1, null, [], {}])('exposed: %j is refused', exposed => {
    const card = { ...readSeed('shaman-front-matter'), url: upstream.url, exposed }
    const message = 'must be true or false'
    expect([getCompileErrors(card), getCompileErrors({ card })]).toStrictEqual([
      [{ pointer: '/exposed', message }],
      [{ pointer: '/card/exposed', message }],
    ])
  })

  it('is pointed into where it was written', () => {
    const card = {
      name: 'A',
      description: 'B',
      exposed: true,
      agentcard: { skills: [{ name: 5 }], customFields: { iconUrl: 'javascript:x' } },
    }
    expect(getCompileErrors({ card, upstream })).toStrictEqual([
      {
        pointer: '/card/agentcard/customFields/iconUrl',
        message: 'must be an http or https URL, not one that runs code or reads local data',
      },
    ])
    expect(
      getCompileErrors({ card: { ...card, agentcard: { skills: [{ name: 5 }] } }, upstream }).map(e => e.pointer),
    ).toContain('/card/agentcard/skills/0/name')
  })
})
