import { expect, it } from 'vitest'
import { applyChange } from '../../../src/card/file/index.ts'
import type { Json } from '../../../src/json/json.ts'
import { cleanCard, cleanSkill } from '../../support/cards/cards.ts'
import { compileCard, formatIssues, getCompileErrors, lintFields } from '../../support/cards/compile.ts'
import { readSeedManifest, seedNames } from '../../support/cards/seeds.ts'

type Fields = Record<string, Json | undefined>

it('an issue has the change that corrects it where that is certain', () => {
  const skill = (fields: Fields): Fields => ({ skills: [JSON.parse(JSON.stringify({ ...cleanSkill, ...fields }))] })
  const required = { security: [{ token: [] }] }
  const replace = (path: string, value: Json) => ({ op: 'replace', path, value })
  const rows: [fields: Fields, change: object | undefined][] = [
    [skill({ id: 'getWeather' }), replace('/skills/0/id', 'get-weather')],
    [skill({ id: 'wetter für heute' }), undefined],
    [{ skills: ['a_b', 'a-b'].map(id => ({ ...cleanSkill, id })) }, undefined],
    [{ version: 'v1.2' }, replace('/version', '1.2.0')],
    [{ version: 'latest' }, undefined],
    [{ description: 'Reviews code\u200b for mistakes.' }, replace('/description', 'Reviews code for mistakes.')],
    [
      { ...required, securitySchemes: { token: { type: 'Bearer', description: 'x' } } },
      replace('/securitySchemes/token', { type: 'http', description: 'x', scheme: 'bearer' }),
    ],
    [
      { capabilities: { streaming: true, pushNotifications: false }, preferredTransport: 'MCP' },
      replace('/capabilities/streaming', false),
    ],
    [{ capabilities: ['streaming'], preferredTransport: 'MCP' }, undefined],
    [skill({ inptuModes: [] }), { op: 'move', from: '/skills/0/inptuModes', path: '/skills/0/inputModes' }],
    [{ extensions: [] }, { op: 'move', from: '/extensions', path: '/capabilities/extensions' }],
    [{ capabilities: ['streaming'], extensions: [] }, undefined],
  ]
  for (const [fields, change] of rows) {
    const [issue] = lintFields(fields)
    expect(issue?.change, JSON.stringify([fields, issue])).toEqual(change)
    if (issue?.change === undefined) continue
    const corrected = applyChange(JSON.stringify({ ...cleanCard, ...fields }), issue.change) ?? ''
    expect(formatIssues(lintFields(JSON.parse(corrected))), corrected).not.toContain(formatIssues([issue])[0])
  }
})

it('an error of a manifest has the value that is meant, in another case or as text', () => {
  const gate = { tasks: 'Owner' }
  const errors = getCompileErrors({ card: cleanCard, visibility: 'Internal', route: 'none', gate, callers: 5 })
  expect(errors.flatMap(({ change }) => change ?? [])).toEqual([
    { op: 'replace', path: '/visibility', value: 'internal' },
    { op: 'replace', path: '/gate/tasks', value: 'owner' },
  ])
})

it('an error of a card has the value that is meant, where the author wrote the same text', () => {
  const errors = getCompileErrors({ ...cleanCard, capabilities: { streaming: 'True' } })
  const change = { op: 'replace', path: '/capabilities/streaming', value: true }
  expect(errors).toMatchObject([{ pointer: '/capabilities/streaming', change }])
})

it('an issue has no change that repeats a secret', () => {
  const id = 'sk_live_51H8xQ2eZvKYlo2C9mB3nT7pW'
  const { report } = compileCard({
    card: { ...cleanCard, skills: [{ ...cleanSkill, id }] },
    allowSecrets: ['/card/skills/0/id'],
  })
  const issue = report.issues.find(({ rule }) => rule === 'skill-id-kebab-case')
  expect(issue).toEqual(expect.not.objectContaining({ change: expect.anything() }))
})

it('the values that a host fills in are its values when they are written into the card', () => {
  for (const name of seedNames) {
    const manifest = readSeedManifest(name)
    const { report, documents } = compileCard(manifest)
    if (report.filled.some(({ change }) => change === undefined)) continue
    const root = manifest.card === undefined ? '' : '/card'
    const changes = report.filled.flatMap(({ change }) => change ?? [])
    const text = changes.reduce(
      (text, change) => applyChange(text, { ...change, path: root + change.path }) ?? '',
      JSON.stringify(manifest, null, 2),
    )
    const { '1.0': v1, '0.3': v0 } = compileCard(JSON.parse(text)).documents
    expect([v1, v0], name).toEqual([documents['1.0'], documents['0.3']])
  }
})
