import { describe, expect, it } from 'vitest'
import { authoredManifest } from '../../cli/files/authored-manifest.ts'

const shaman = {
  name: 'A',
  model: 'gpt-4',
  temperature: 0.7,
  tools: ['run_data_read'],
  exposed: false,
  agentcard: { skills: [], customFields: { maxFileSize: '10MB' } },
}

describe('a document as a manifest', () => {
  it.each([
    ['a bare card', { name: 'A' }, false, { card: { name: 'A' } }],
    [
      'a manifest',
      { hosts: ['a.example.com'], card: { name: 'A' } },
      false,
      { hosts: ['a.example.com'], card: { name: 'A' } },
    ],
    [
      'another dialect in Markdown',
      { name: 'A', supportedInterfaces: [] },
      true,
      { card: { name: 'A', supportedInterfaces: [] } },
    ],
    [
      'a manifest without its card, for the host’s code to refuse',
      { hosts: ['a.example.com'] },
      false,
      { hosts: ['a.example.com'] },
    ],
    [
      'Shaman’s front matter',
      shaman,
      true,
      { visibility: 'internal', card: { protocolVersion: '0.3.0', name: 'A', skills: [], maxFileSize: '10MB' } },
    ],
    [
      'front matter that is exposed',
      { ...shaman, exposed: true },
      true,
      { visibility: 'public', card: { protocolVersion: '0.3.0', name: 'A', skills: [], maxFileSize: '10MB' } },
    ],
    [
      'front matter with nothing but a model',
      { name: 'A', model: 'gpt-4' },
      true,
      { card: { protocolVersion: '0.3.0', name: 'A' } },
    ],
    [
      'a YAML card with a field called model',
      { name: 'A', model: 'gpt-4' },
      false,
      { card: { name: 'A', model: 'gpt-4' } },
    ],
    [
      'front matter that is a manifest, with the model’s settings beside',
      { model: 'gpt-4', tools: [], hosts: ['a.example.com'], card: { name: 'A', temperature: 1 } },
      true,
      { hosts: ['a.example.com'], card: { protocolVersion: '0.3.0', name: 'A' } },
    ],
    [
      'another dialect in Markdown',
      { name: 'A', supportedInterfaces: [] },
      true,
      { card: { name: 'A', supportedInterfaces: [] } },
    ],
    [
      'a manifest without its card, for the host’s code to refuse',
      { hosts: ['a.example.com'] },
      false,
      { hosts: ['a.example.com'] },
    ],
    [
      'a manifest whose card is fetched',
      { upstream: { card: 'https://a.example.com/card.json' } },
      false,
      { upstream: { card: 'https://a.example.com/card.json' }, card: {} },
    ],
  ])('reads %s', (_, document, markdown, manifest) => {
    expect(authoredManifest(document, markdown).manifest).toEqual(manifest)
  })
})
