import { describe, expect, it } from 'vitest'
import { readManifest } from '../../../src/card/manifest/manifest.ts'
import type { JsonObject } from '../../../src/json/json.ts'
import { shortCard as card } from '../../support/cards/cards.ts'
import { compileCard, getCompileErrors } from '../../support/cards/compile.ts'
import { readSeed } from '../../support/cards/seeds.ts'

const internal = { manifest: { visibility: 'internal', card: { protocolVersion: '0.3.0', ...card } } }

describe('an A2A card with a field that Shaman uses too', () => {
  it('is public and keeps it', () => {
    for (const fields of [{ prompt: 'Which city?' }, { model: 'GFS' }, { prompt: 'Which city?', temperature: 21.5 }]) {
      const { manifest, documents } = compileCard({ ...card, ...fields } as JsonObject)
      expect([manifest.visibility, documents['agent-card.json']]).toMatchObject(['public', fields])
    }
  })
})

describe("Shaman's front matter", () => {
  it('is recognized by its own fields, is internal and leaves out the settings of the model', () => {
    for (const fields of [
      { exposed: false },
      { agentcard: {} },
      { model: 'gpt-4', tools: [] },
      { model: 'gpt-4', temperature: 0.7 },
      { model: 'gpt-4', prompt: 'You are a helpful agent.' },
    ]) {
      const document = { ...card, ...fields } as JsonObject
      expect(readManifest(document)).toMatchObject(internal)
      expect(readManifest({ card: document })).toMatchObject(internal)
    }
  })

  const upstream = { url: 'https://acme.shaman.example/a2a/v1' }

  it('publishes the settings of the model in no representation', () => {
    const { documents } = compileCard({ card: readSeed('shaman-front-matter'), upstream })
    const names = Object.values(documents).flatMap(document => Object.keys(document))
    expect(
      names.filter(name => ['model', 'temperature', 'tools', 'exposed', 'agentcard', 'prompt'].includes(name)),
    ).toStrictEqual([])
  })

  it('adds agentcard.skills and agentcard.customFields to the card', () => {
    const { card } = compileCard({ card: readSeed('shaman-front-matter-specialized'), upstream })
    expect([card.skills[0]?.name, card.supportedFormats, card.maxFileSize]).toStrictEqual([
      'data-visualization',
      ['csv', 'json', 'excel'],
      '10MB',
    ])
  })

  it('is public with `exposed: true`, internal with false, and rejected with anything else', () => {
    const visibility = (exposed: boolean) =>
      compileCard({ card: { ...readSeed('shaman-front-matter'), exposed }, upstream }).manifest.visibility
    expect([visibility(true), visibility(false)]).toEqual(['public', 'internal'])
    const message = 'must be true or false'
    for (const exposed of ['false', 0, null]) {
      const card = { ...readSeed('shaman-front-matter'), url: upstream.url, exposed }
      expect([getCompileErrors(card), getCompileErrors({ card })]).toStrictEqual([
        [{ pointer: '/exposed', message }],
        [{ pointer: '/card/exposed', message }],
      ])
    }
  })

  it('is internal without `exposed`, with a note', () => {
    const { exposed: _, ...card } = readSeed('shaman-front-matter')
    const { manifest, report } = compileCard({ card, upstream })
    expect([manifest.visibility, report.filled[0]]).toStrictEqual([
      'internal',
      { pointer: '/exposed', message: 'set to false: only front matter that sets it to true is public' },
    ])
    expect(compileCard({ card, upstream, visibility: 'public' }).manifest.visibility).toBe('public')
  })

  it('has errors with pointers into the authored front matter', () => {
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
