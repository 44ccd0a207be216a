import { describe, expect, it } from 'vitest'
import { findExposureErrors, normalizeManifest } from '../../cli/manifests/normalize.ts'

const shaman = {
  name: 'A',
  model: 'gpt-4',
  temperature: 0.7,
  tools: ['run_data_read'],
  exposed: false,
  agentcard: { skills: [], customFields: { maxFileSize: '10MB' } },
}

/** What Shaman generates for front matter. */
const generated = { protocolVersion: '0.3.0', capabilities: { streaming: true, pushNotifications: true } }

describe('normalizeManifest', () => {
  it.each([
    ['a bare card', { name: 'A' }, false, { card: { name: 'A' } }],
    ['a bare card with a schema', { $schema: 'https://a.example.com', name: 'A' }, false, { card: { name: 'A' } }],
    [
      'a manifest with schemas',
      { $schema: 's', route: 'closed', card: { $schema: 's' } },
      false,
      { route: 'closed', card: {} },
    ],
    [
      'a manifest',
      { hosts: ['a.example.com'], card: { name: 'A' } },
      false,
      { hosts: ['a.example.com'], card: { name: 'A' } },
    ],
    [
      'front matter over a card that is fetched, which has its own capabilities',
      { upstream: { card: 'https://a.example.com/card.json' }, card: { name: 'A', exposed: true } },
      true,
      { upstream: { card: 'https://a.example.com/card.json' }, visibility: 'public', card: { name: 'A' } },
    ],
    [
      'another dialect in Markdown',
      { name: 'A', supportedInterfaces: [] },
      true,
      { card: { name: 'A', supportedInterfaces: [] } },
    ],
    [
      'a manifest without a card, which the host rejects',
      { hosts: ['a.example.com'] },
      false,
      { hosts: ['a.example.com'] },
    ],
    [
      'Shaman’s front matter',
      shaman,
      true,
      { visibility: 'internal', card: { ...generated, name: 'A', skills: [], maxFileSize: '10MB' } },
    ],
    [
      'front matter that is exposed',
      { ...shaman, exposed: true },
      true,
      { visibility: 'public', card: { ...generated, name: 'A', skills: [], maxFileSize: '10MB' } },
    ],
    [
      'front matter with nothing but a model',
      { name: 'A', model: 'gpt-4' },
      true,
      { visibility: 'internal', card: { ...generated, name: 'A' } },
    ],
    [
      'a YAML card with a field called model',
      { name: 'A', model: 'gpt-4' },
      false,
      { card: { name: 'A', model: 'gpt-4' } },
    ],
    [
      'front matter with a manifest and settings of a model',
      { model: 'gpt-4', tools: [], hosts: ['a.example.com'], card: { name: 'A', temperature: 1 } },
      true,
      { hosts: ['a.example.com'], visibility: 'internal', card: { ...generated, name: 'A' } },
    ],
    [
      'a manifest in Markdown with a plain card and settings of a model',
      { model: 'gpt-4', tools: [], card: { name: 'A' } },
      true,
      { card: { name: 'A' } },
    ],
    [
      'another dialect in Markdown',
      { name: 'A', supportedInterfaces: [] },
      true,
      { card: { name: 'A', supportedInterfaces: [] } },
    ],
    [
      'a manifest without a card, which the host rejects',
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
  ])('normalizes %s', (_, document, markdown, manifest) => {
    expect(normalizeManifest(document, markdown).manifest).toEqual(manifest)
  })
})

describe('findExposureErrors', () => {
  const yes = 'must be true or false'
  it.each([
    ['rejects text', { name: 'A', exposed: 'no' }, true, [{ pointer: '/exposed', message: yes }]],
    ['rejects null', { name: 'A', exposed: null }, true, [{ pointer: '/exposed', message: yes }]],
    ['rejects text in YAML', { name: 'A', exposed: 'false' }, false, [{ pointer: '/exposed', message: yes }]],
    [
      'rejects text next to a card',
      { card: { name: 'A' }, exposed: 'no' },
      true,
      [{ pointer: '/exposed', message: yes }],
    ],
    [
      'rejects text in a card',
      { card: { name: 'A', exposed: 'no' } },
      true,
      [{ pointer: '/card/exposed', message: yes }],
    ],
    [
      'rejects a manifest field in a bare card',
      { name: 'A', visibility: 'internal' },
      false,
      [{ pointer: '/visibility', message: expect.stringContaining('is a field of the manifest, not of the card') }],
    ],
    ['accepts a boolean', { name: 'A', exposed: false }, true, []],
    ['accepts a manifest', { card: { name: 'A' }, visibility: 'internal' }, false, []],
  ])('%s', (_, document, markdown, errors) => {
    expect(findExposureErrors(document, markdown)).toEqual(errors)
  })
})
