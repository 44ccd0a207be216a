import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { elicitationMessage, isAskable, readElicitResult } from '../../../src/mcp/agent/elicit-result.ts'
import type { Elicitation } from '../../../src/mcp/client/elicitation.ts'

/** A question for these members. */
const asking = (properties: JsonObject, required?: string[]): Elicitation => ({
  message: 'What?',
  requestedSchema: { type: 'object', properties, ...(required && { required }) },
})

/** Reads a message with these parts. Returns the content of the answer, its action if it has none, or the problem. */
const read = (elicitation: Elicitation, ...parts: Json[]) => {
  const result = readElicitResult({ parts }, elicitation)
  if ('problem' in result) return result
  return 'content' in result.answer ? result.answer.content : result.answer.action
}

const problem = { problem: expect.stringContaining('Answer with data') }

describe('a text as the answer to a question for one member', () => {
  const heroes = ['Superman', 'Batman'].map((title, index) => ({ const: `hero-${index + 1}`, title }))
  const hero = { type: 'string', oneOf: heroes }

  it('is a value of its schema', () => {
    const rows: [text: string, schema: JsonObject, value: Json][] = [
      ['Rome', { type: 'string' }, 'Rome'],
      ['7', { type: 'integer' }, 7],
      ['-1.5', { type: 'number' }, -1.5],
      ['Yes', { type: 'boolean' }, true],
      ['\u{1f600}', { type: 'string', maxLength: 1, format: 'email', pattern: '^a$' }, '\u{1f600}'],
      ['GREEN', { type: 'string', enum: ['red', 'green'] }, 'green'],
      ['Cats', { type: 'string', enum: ['pet-1', 'pet-2'], enumNames: ['Dogs', 'Cats'] }, 'pet-2'],
      ['batman', hero, 'hero-2'],
      ['tuna', { type: 'array', items: { anyOf: [{ const: 'fish-1', title: 'Tuna' }] } }, ['fish-1']],
      ['Guitar, drums', { type: 'array', items: { type: 'string', enum: ['Guitar', 'Drums'] } }, ['Guitar', 'Drums']],
    ]
    for (const [text, schema, value] of rows)
      expect(read(asking({ it: schema }), { text }), text).toEqual({ it: value })
  })

  it('is no other value', () => {
    const rows: [text: string, schema: JsonObject, description: string][] = [
      ['1.5', { type: 'integer' }, 'it must be of type integer.'],
      ['perhaps', { type: 'boolean' }, 'it must be of type boolean.'],
      ['blue', { type: 'string', enum: ['red'] }, 'it must be one of ["red"].'],
      ['Guitar, Flute', { type: 'array', items: { enum: ['Guitar'] } }, 'it must be one of ["Guitar"].'],
      ['\u{1f600}', { type: 'string', minLength: 2 }, 'it must be at least 2 characters long.'],
      ['Rome', { type: 'string', maxLength: 3 }, 'it must be at most 3 characters long.'],
      ['0', { type: 'integer', minimum: 1 }, 'it must be at least 1.'],
      ['1.5', { type: 'number', maximum: 1 }, 'it must be at most 1.'],
      ['a', { type: 'array', minItems: 2 }, 'it must be at least 2 items long.'],
      ['a,b', { type: 'array', maxItems: 1 }, 'it must be at most 1 items long.'],
    ]
    for (const [text, schema, description] of rows)
      expect(read(asking({ it: schema }), { text }), text).toEqual({ problem: description })
  })
})

it('reads the answer of a message', () => {
  const two = asking({ city: { type: 'string' }, days: { type: 'integer' } })
  const link = { message: 'Open', url: 'https://a.example/' }
  const accept = (content: Json) => [{ data: { action: 'accept', content } }]
  const inherited = asking({ toString: { type: 'string' } }, ['constructor', 'constructor'])
  const [manyValues, tooMany] = [100, 101].map(count => [{ text: Array(count).fill('a').join() }])
  const rows: [title: string, elicitation: Elicitation, parts: Json[] | undefined, expected: unknown][] = [
    ['the only required one of several members', asking({ a: {}, b: {} }, ['b']), [{ text: 'x' }], { b: 'x' }],
    ['a question without members with no', asking({}), [{ text: 'No' }], 'decline'],
    ['a URL', link, [{ text: 'ok' }], 'accept'],
    ['a URL with data', link, [{ data: { action: 'accept' } }], 'accept'],
    ['a URL that is refused', link, [{ text: 'decline' }], 'decline'],
    ['a cancellation in another case', two, [{ text: ' CANCEL ' }], 'cancel'],
    ['data among texts', two, [{ text: 'Here:' }, { data: { city: 'Rome' } }], { city: 'Rome' }],
    ['the result of MCP', two, accept({ city: 'Rome' }), { city: 'Rome' }],
    ['JSON as text', two, [{ text: '{"city": "Rome"}' }], { city: 'Rome' }],
    ['a member called `action`', asking({ action: {} }), [{ data: { action: 'decline' } }], { action: 'decline' }],
    ['data besides `action`', two, [{ data: { action: 'a', city: 'Rome' } }], { action: 'a', city: 'Rome' }],
    ['an acceptance without content', asking({}), [{ data: { action: 'accept' } }], {}],
    ['a refusal as data', two, [{ data: { action: 'decline' } }], 'decline'],
    ['a cancellation as data', two, [{ data: { action: 'cancel' } }], 'cancel'],
    ['a text for several members', two, [{ text: 'Rome' }], problem],
    ['an unknown action', two, [{ data: { action: 'later' } }], problem],
    ['content that is not an object', two, accept(7), problem],
    ['a member that is an object', two, [{ data: { city: { name: 'Rome' } } }], problem],
    ['data that is no object', two, [{ data: ['Rome'] }], problem],
    ['a hundred values in one text', asking({ a: { type: 'array' } }), manyValues, { a: Array(100).fill('a') }],
    ['one more', asking({ a: { type: 'array' } }), tooMany, { problem: 'a must be of type array.' }],
    ['names of inherited members', inherited, [{ data: {} }], { problem: 'constructor is required.' }],
  ]
  for (const [title, elicitation, parts = [], expected] of rows)
    expect(read(elicitation, ...parts), title).toEqual(expected)
  expect(
    ['true', 'yes', 'y', 'ok', 'false', 'no', 'n'].map(text => read(asking({ a: { type: 'boolean' } }), { text })),
  ).toEqual([true, true, true, true, false, false, false].map(a => ({ a })))
})

describe('a question', () => {
  it('is not put to callers if it is too large, nests too deeply, or opens another scheme than http', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(70)}1${'}'.repeat(70)}`) as JsonObject
    expect(
      [
        asking({ a: { type: 'string' } }),
        { message: 'Open', url: 'https://a.example/' },
        asking({ a: { description: 'x'.repeat(65_536) } }),
        asking(deep),
        { message: 'Open', url: 'javascript:alert(1)' },
        { message: 'x'.repeat(65_536), url: 'https://a.example/' },
      ].map(isAskable),
    ).toEqual([true, true, false, false, false, false])
  })

  it('has the problem with the last answer before it', () => {
    expect(elicitationMessage(asking({}), 'No.').parts[0]?.text).toBe('No.\n\nWhat?')
    expect(elicitationMessage({ message: 'Open', url: 'https://a.example/' }).parts).toEqual([
      { text: 'Open', mediaType: 'text/plain' },
      { url: 'https://a.example/' },
    ])
    expect(readElicitResult({ parts: [] }, asking({}))).toEqual({
      problem: 'Answer with data, such as {"action": "accept", "content": {…}}, or with "decline" or "cancel".',
    })
  })
})
