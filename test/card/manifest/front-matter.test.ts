import { describe, expect, it } from 'vitest'
import { readManifest } from '../../../src/card/manifest/manifest.ts'
import type { JsonObject } from '../../../src/json/json.ts'
import { shortCard as card } from '../../support/cards/cards.ts'
import { compileCard, getCompileErrors } from '../../support/cards/compile.ts'
import { readSeed } from '../../support/cards/seeds.ts'

const internal = { manifest: { visibility: 'internal', card: { protocolVersion: '0.3.0', ...card } } }

describe('an A2A card with a field that Shaman uses too', () => {
  it.each<[string, JsonObject]>([
    ['prompt', { prompt: 'Which city?' }],
    ['temperature', { temperature: 21.5 }],
    ['maxTokens', { maxTokens: 4096 }],
    ['tools', { tools: ['radar'] }],
    ['model', { model: 'GFS' }],
    ['prompt and temperature', { prompt: 'Which city?', temperature: 21.5 }],
  ])('is public and keeps %s', (_, fields) => {
    const { manifest, documents } = compileCard({ ...card, ...fields })
    expect([manifest.visibility, documents['agent-card.json']]).toMatchObject(['public', fields])
  })
})

describe("Shaman's front matter", () => {
  it.each<[string, JsonObject]>([
    ['`exposed`', { exposed: false }],
    ['`agentcard`', { agentcard: {} }],
    ['a model with tools', { model: 'gpt-4', tools: [] }],
    ['a model with a temperature', { model: 'gpt-4', temperature: 0.7 }],
    ['a model with a prompt', { model: 'gpt-4', prompt: 'You are a helpful agent.' }],
  ])('is recognized by %s, is internal and leaves out the settings of the model', (_, fields) => {
    expect(readManifest({ ...card, ...fields })).toMatchObject(internal)
    expect(readManifest({ card: { ...card, ...fields } })).toMatchObject(internal)
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

  it.each([
    [true, 'public'],
    [false, 'internal'],
  ])('with `exposed: %s` is %s', (exposed, visibility) => {
    const card = { ...readSeed('shaman-front-matter'), exposed }
    expect(compileCard({ card, upstream }).manifest.visibility).toBe(visibility)
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

  it.each(['false', 'no', 0, 1, null, [], {}])('with `exposed: %j` is rejected', exposed => {
    const card = { ...readSeed('shaman-front-matter'), url: upstream.url, exposed }
    const message = 'must be true or false'
    expect([getCompileErrors(card), getCompileErrors({ card })]).toStrictEqual([
      [{ pointer: '/exposed', message }],
      [{ pointer: '/card/exposed', message }],
    ])
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
