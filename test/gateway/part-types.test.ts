import { describe, expect, it } from 'vitest'
import { readMessage } from '../../src/a2a/message.ts'
import { matchRestPath } from '../../src/a2a/rest-paths.ts'
import { checkInputModes } from '../../src/gateway/content-negotiation.ts'
import type { Json } from '../../src/json/json.ts'

const text = { input: ['text/plain'], output: ['text/plain'] }
const modes = { defaults: text, union: text, skills: {} }
const refusal = (part: Json, version: '0.3' | '1.0') => {
  const read = readMessage({ operation: 'send', params: { message: { parts: [part] } }, version })
  return 'kind' in read ? read.kind : checkInputModes(read, modes)?.kind
}

describe('the type of a part', () => {
  // Readers make one text of a list, and take a range for whatever they like.
  it.each<[string, '0.3' | '1.0', Json]>([
    ['a list', '1.0', { url: 'https://a.example/x', mediaType: ['image/png'] }],
    ['an object', '1.0', { url: 'https://a.example/x', mediaType: {} }],
    ['a range', '1.0', { url: 'https://a.example/x', mediaType: 'text/*' }],
    ['any', '1.0', { url: 'https://a.example/x', media_type: '*/*' }],
    ['a number', '1.0', { raw: 'AA==', mediaType: 7 }],
    ['a number', '0.3', { kind: 'file', file: { mimeType: 7 } }],
    ['a list', '0.3', { kind: 'file', file: { uri: 'https://a.example/x', mimeType: ['image/png'] } }],
    ['a range', '0.3', { kind: 'file', file: { uri: 'https://a.example/x', mime_type: '*' } }],
  ])('is no %s (%s)', (_, version, part) => {
    expect(refusal(part, version)).toBe('invalid-params')
  })

  it('may be left out', () => {
    expect(refusal({ url: 'https://a.example/x', mediaType: null }, '1.0')).toBeUndefined()
  })
})

it.each(['tasks/1%3Asubscribe', 'tasks/1%3acancel', 'v1/tasks/1%3Asubscribe'])('takes %s for no path', path => {
  expect(matchRestPath('GET', path)).toMatchObject({ kind: 'method' })
})
