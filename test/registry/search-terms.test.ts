import { describe, expect, it } from 'vitest'
import { compileDocument } from '../../src/card/compile/index.ts'
import { MAX_FIELD_VALUES, MAX_INDEXED_LENGTH, MAX_LISTED_EXAMPLES } from '../../src/limits.ts'
import { collectSearchFields, type FilterName, toTerm } from '../../src/registry/search-terms.ts'
import { minimalCard } from '../support/cards/cards.ts'

const fieldsOf = (card: object) => {
  const manifest = { card: { ...minimalCard, ...card }, extended: { description: 'SECRET' } }
  const result = compileDocument(manifest, { id: 'a', requestOrigin: 'https://host.example' })
  if (!('compiled' in result)) throw new Error(JSON.stringify(result.errors))
  return collectSearchFields(result.compiled.card)
}

const skill = (id: string, more: object = {}) => ({
  ...{ id, name: `Skill ${id}`, description: `Does ${id}`, tags: [id] },
  ...more,
})

describe('collectSearchFields', () => {
  it('collects each value of the public card once', () => {
    const fields = fieldsOf({
      provider: { organization: 'Example Inc.', url: 'https://example.com' },
      capabilities: { streaming: true, pushNotifications: false, extensions: [{ uri: 'https://example.com/ext' }] },
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
      skills: [
        skill('one', { examples: ['Try one'], inputModes: ['image/png', 'text/plain'] }),
        skill('two', { tags: ['one', 'two'], outputModes: ['application/json'] }),
      ],
    })
    expect(fields).toEqual({
      provider: 'Example Inc.',
      skillIds: ['one', 'two'],
      skillNames: ['Skill one', 'Skill two'],
      tags: ['one', 'two'],
      examples: ['Try one'],
      capabilities: expect.arrayContaining(['streaming', 'https://example.com/ext']),
      inputModes: ['text/plain', 'image/png'],
      outputModes: ['text/plain', 'application/json'],
      protocolVersions: expect.arrayContaining([expect.stringMatching(/^\d\.\d/)]),
      signed: false,
      text: 'Does one\nDoes two\nTry one',
    })
    expect(fields.capabilities).not.toContain('pushNotifications')
  })

  it('has no more than its limits', () => {
    const tags = Array.from({ length: 900 }, (_, index) => `tag-${index}`)
    const examples = Array.from({ length: 9 }, (_, index) => `${index} ${'x'.repeat(10_000)}`)
    const fields = fieldsOf({ skills: [skill('one', { tags, examples })] })
    expect([fields.tags.length, fields.examples.length, fields.text.length]).toEqual([
      MAX_FIELD_VALUES,
      MAX_LISTED_EXAMPLES,
      MAX_INDEXED_LENGTH,
    ])
  })
})

it('toTerm omits the parameters of media types only, and the patch number of a version', () => {
  for (const [name, value, term] of [
    ['inputMode', ' Text/Plain ; charset=utf-8', 'text/plain'],
    ['outputMode', 'Text/Plain; charset=utf-8', 'text/plain'],
    ['tag', 'One; Two', 'one; two'],
    ['protocolVersion', '0.3.1', '0.3'],
  ] satisfies [FilterName, string, string][])
    expect([name, toTerm(name, value)]).toEqual([name, term])
})
