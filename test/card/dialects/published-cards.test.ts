import { describe, expect, it } from 'vitest'
import { compileDocument } from '../../../src/card/compile/index.ts'
import { representationNames } from '../../../src/card/model/constants.ts'
import { parseJson } from '../../../src/json/parse.ts'
import { compileCard, registration } from '../../support/cards/compile.ts'
import { corpus } from '../../support/cards/reference.ts'
import { readSeed, readSeedManifest, seedNames } from '../../support/cards/seeds.ts'
import { hybridErrors, versionErrors } from '../../support/schemas/index.ts'

it('a published example card is read in its dialect, and valid in 1.0 and 0.3', () => {
  const read = seedNames.map(name => {
    const { report, documents } = compileCard(readSeedManifest(name))
    expect(Object.keys(documents)).toStrictEqual([...representationNames])
    expect([name, ...versionErrors(documents), ...hybridErrors(documents)]).toStrictEqual([name])
    return [name, report.dialect]
  })
  expect(Object.fromEntries(read)).toEqual({
    'gopherhole-quick': 'gopherhole',
    'gopherhole-complete': 'gopherhole',
    'gopherhole-minimal': 'gopherhole',
    'gopherhole-minimal-served': 'gopherhole',
    'gopherhole-worker': 'gopherhole',
    'superx-my-agent': 'superx',
    'superx-exa': 'superx',
    'shaman-generated': 'shaman',
    'shaman-individual': 'shaman',
    'shaman-extended': 'shaman',
    'shaman-external': '0.3',
    'shaman-front-matter': '0.3',
    'shaman-front-matter-specialized': 'shaman',
    'telex-etymo': 'telex',
    'guide-code-review': '0.3',
  })
})

it('a published card of the corpus is valid in 1.0 and 0.3 where it is accepted', () => {
  const accepted = corpus.flatMap(({ file, text }) => {
    const parsed = parseJson(text)
    const result = 'value' in parsed ? compileDocument(parsed.value, registration) : { errors: [] }
    return 'errors' in result ? [] : [{ file, documents: result.compiled.documents }]
  })
  expect(accepted.length).toBeGreaterThanOrEqual(11)
  for (const { file, documents } of accepted)
    expect([file, ...versionErrors(documents), ...hybridErrors(documents)]).toStrictEqual([file])
})

describe('the representation of a published card in its own dialect', () => {
  it("is the documented result for GopherHole's minimal example", () => {
    expect(compileCard(readSeed('gopherhole-minimal')).documents.gopherhole).toStrictEqual(
      readSeed('gopherhole-minimal-served'),
    )
  })

  it('is the authored card, which a card of GopherHole has its defaults in', () => {
    const names = {
      gopherhole: ['gopherhole-complete', 'gopherhole-minimal-served'],
      superx: ['superx-my-agent'],
      shaman: ['shaman-generated', 'shaman-individual', 'shaman-extended'],
      telex: ['telex-etymo'],
    } as const
    for (const dialect of ['gopherhole', 'superx', 'shaman', 'telex'] as const)
      for (const name of names[dialect]) {
        const { documents, report } = compileCard(readSeed(name))
        expect([documents[dialect], report.dropped[dialect]]).toStrictEqual([readSeed(name), undefined])
      }
    for (const name of ['gopherhole-quick', 'gopherhole-worker']) {
      const authored = readSeed(name)
      const capabilities = { extendedAgentCard: false, ...(authored.capabilities as object) }
      expect(compileCard(authored).documents.gopherhole).toStrictEqual({ ...authored, capabilities })
    }
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
