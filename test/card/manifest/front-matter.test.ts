import { describe, expect, it } from 'vitest'
import { readManifest } from '../../../src/card/manifest/manifest.ts'
import type { JsonObject } from '../../../src/json/json.ts'
import { compileCard } from '../../support/cards/compile.ts'

const card = { name: 'A', description: 'B', url: 'https://a.example/a2a' }
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
})
