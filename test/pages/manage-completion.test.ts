import { expect, it } from 'vitest'
import { createManifestSchema } from '../../src/card/manifest/index.ts'
import { complete } from '../../src/pages/browser/manage/completion.ts'

const schema = createManifestSchema()

/** Completes a text at its `|`, and returns it with the first option, before which all labels are. */
const completeAt = (marked: string, isAsked = true): [labels: string, text: string] | undefined => {
  const caret = marked.indexOf('|')
  const text = marked.replace('|', '')
  const found = complete(text, caret, schema, isAsked)
  if (!found) return undefined
  const { from, to, options } = found
  return [options.map(({ label }) => label).join(' '), text.slice(0, from) + options[0]?.insert + text.slice(to)]
}

it('completes members and values that the schema allows at the caret, in YAML and JSON that need not be whole', () => {
  for (const [text, labels, completed] of [
    ['card:\n  name: X\nvis|', 'visibility', 'card:\n  name: X\nvisibility: '],
    ['visibility: |', 'public internal', 'visibility: public'],
    ['route: g|\ncard: {}', 'gateway', 'route: gateway\ncard: {}'],
    ['card:\n  skills:\n    - id: x\n      desc|', 'description', 'card:\n  skills:\n    - id: x\n      description: '],
    ['card:\n  cap|\nroute: direct', 'capabilities', 'card:\n  capabilities:\n    \nroute: direct'],
    ['rou|te: direct', 'route', 'route: direct'],
    ['name: X\nski|', 'skills', 'name: X\nskills:\n  - '],
    ['upstream: { verif|', 'verify', 'upstream: { verify: '],
    ['{"card": {"name": "X", "descr|"}}', 'description', '{"card": {"name": "X", "description": }}'],
    ['{\n  "route": "|"\n}', 'direct gateway closed', '{\n  "route": "direct"\n}'],
    ['{"card": {\n  "na|\n', 'name', '{"card": {\n  "name": \n'],
  ] as const) {
    const [found, result] = completeAt(text) ?? []
    expect(found, text).toBe(labels)
    expect(result, text).toBe(completed)
  }
})

it('offers nothing that is written already, in texts, in comments, or before a word is begun', () => {
  expect(completeAt('route: direct\ncard: {}\nvisibility: public\n|')?.[0]).not.toMatch(/\b(route|card|visibility)\b/)
  for (const text of [
    'card:\n  description: hello na|',
    '# vis|',
    'unknown:\n  |',
    'card:\n  description: >\n    vis|',
  ])
    expect(completeAt(text), text).toBeUndefined()
  expect(completeAt('route: direct\n|', false)).toBeUndefined()
  expect(completeAt('route: direct|', false)).toBeUndefined()
})
