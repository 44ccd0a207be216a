import { describe, expect, it } from 'vitest'
import { normalizeDocument, normalizeManifest } from '../../cli/manifests/manifest-source.ts'
import type { JsonObject } from '../../src/json/json.ts'

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
  it('reads cards and manifests of any format', () => {
    const hosts = ['a.example.com']
    const upstream = { card: 'https://a.example.com/card.json' }
    const rows: [document: JsonObject, manifest: JsonObject][] = [
      [{ name: 'A' }, { card: { name: 'A' } }],
      [{ $schema: 'https://a.example.com', name: 'A' }, { card: { name: 'A' } }],
      [
        { $schema: 's', route: 'closed', card: { $schema: 's' } },
        { route: 'closed', card: {} },
      ],
      // The host rejects it.
      [{ hosts }, { hosts }],
      [{ name: 'A', model: 'gpt-4' }, { card: { name: 'A', model: 'gpt-4' } }],
      [{ upstream }, { upstream, card: {} }],
    ]
    for (const [document, manifest] of rows) expect(normalizeManifest(document, false).manifest).toEqual(manifest)
  })

  it('reads front matter of Shaman and of other dialects', () => {
    const upstream = { card: 'https://a.example.com/card.json' }
    const card = { ...generated, name: 'A' }
    const settings = { model: 'gpt-4', tools: [] }
    const supported = { name: 'A', supportedInterfaces: [] }
    const ofShaman = { ...card, skills: [], maxFileSize: '10MB' }
    const rows: [document: JsonObject, manifest: JsonObject][] = [
      // A card that is fetched has its own capabilities.
      [
        { upstream, card: { name: 'A', exposed: true } },
        { upstream, visibility: 'public', card: { name: 'A' } },
      ],
      [supported, { card: supported }],
      [shaman, { visibility: 'internal', card: ofShaman }],
      [
        { ...shaman, exposed: true },
        { visibility: 'public', card: ofShaman },
      ],
      [
        { ...settings, hosts: [], card: { name: 'A', temperature: 1 } },
        { hosts: [], visibility: 'internal', card },
      ],
      [{ ...settings, card: { name: 'A' } }, { card: { name: 'A' } }],
    ]
    for (const [document, manifest] of rows) expect(normalizeManifest(document, true).manifest).toEqual(manifest)
  })
})

it('normalizeDocument rejects what may expose an agent by mistake', () => {
  const error = (pointer: string) => [{ pointer, message: 'must be true or false' }]
  const isOfManifest = expect.stringContaining('is a field of the manifest, not of the card')
  const rows: [document: JsonObject, isMarkdown: boolean, errors: object[]][] = [
    [{ name: 'A', exposed: 'no' }, true, error('/exposed')],
    [{ name: 'A', exposed: 'false' }, false, error('/exposed')],
    [{ card: { name: 'A' }, exposed: 'no' }, true, error('/exposed')],
    [{ card: { name: 'A', exposed: 'no' } }, true, error('/card/exposed')],
    [{ name: 'A', visibility: 'internal' }, false, [{ pointer: '/visibility', message: isOfManifest }]],
    [{ name: 'A', exposed: false }, true, []],
    [{ card: { name: 'A' }, visibility: 'internal' }, false, []],
  ]
  for (const [document, isMarkdown, errors] of rows)
    expect(normalizeDocument('a.md', document, isMarkdown).errors, JSON.stringify(document)).toEqual(errors)
})
