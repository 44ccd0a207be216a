import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Form } from '../../src/a2a/forms.ts'
import { shapes } from '../../src/a2a/result-shapes.ts'
import { type ObjectName, translateObject } from '../../src/a2a-bridge/objects.ts'
import type { JsonObject } from '../../src/json/json.ts'
import { arbitraryObjects as objects } from '../support/a2a-objects.ts'

const forms: Form[] = ['kinds', 'proto 0.3', 'proto 1.0']

const translate = (name: ObjectName, object: JsonObject, from: Form, to: Form) => {
  const losses: string[] = []
  return { object: translateObject(name, object, { from, to, losses }), losses }
}

describe('an object of A2A', () => {
  for (const name of Object.keys(objects) as (keyof typeof objects)[])
    for (const form of forms)
      for (const other of forms.filter(each => each !== form))
        it(`is the same ${name} of ${form} after its translation to ${other} and back, unless a loss is reported`, () => {
          fc.assert(
            fc.property(objects[name], fc.boolean(), (original, final) => {
              const made = translate(name, original, 'proto 1.0', form).object
              const written = 'final' in made ? { ...made, final } : made
              expect(shapes[form][name](written)).toBeUndefined()
              const there = translate(name, written, form, other)
              expect(shapes[other][name](there.object)).toBeUndefined()
              const back = translate(name, there.object, other, form)
              expect(back.losses).toEqual([])
              if (there.losses.length === 0) expect(back.object).toEqual(written)
              expect(there.losses.filter(loss => !/(?:^final|referenceTaskIds)$/.test(loss))).toEqual([])
            }),
            { numRuns: 60 },
          )
        })
})

const messageWith = (part: JsonObject, more: JsonObject = {}): JsonObject => ({
  kind: 'message',
  messageId: 'm',
  role: 'user',
  parts: [part],
  ...more,
})
const v1Message = (part: JsonObject, more: JsonObject = {}): JsonObject => ({
  messageId: 'm',
  role: 'ROLE_USER',
  parts: [part],
  ...more,
})

describe('what a form cannot express', () => {
  it.each<[string, ObjectName, JsonObject, Form, Form, JsonObject, string[]]>([
    [
      'the name and type of a text',
      'message',
      v1Message({ text: 'a', filename: 'a.md', mediaType: 'text/markdown' }),
      ...(['proto 1.0', 'kinds'] as const),
      messageWith({ kind: 'text', text: 'a' }),
      ['parts[0].filename', 'parts[0].mediaType'],
    ],
    [
      'the second content of a part',
      'message',
      messageWith({ text: 'a', data: { b: 1 } }),
      ...(['kinds', 'proto 1.0'] as const),
      v1Message({ text: 'a' }),
      ['parts[0].data'],
    ],
    [
      'an unknown member with a name that means something',
      'message',
      messageWith({ kind: 'text', text: 'a', raw: 'YQ==' }, { context_id: 'c' }),
      ...(['kinds', 'proto 1.0'] as const),
      v1Message({ text: 'a' }),
      ['parts[0].*', '*'],
    ],
    [
      'a role that is not specified',
      'message',
      { messageId: 'm', role: 'ROLE_UNSPECIFIED', parts: [{ text: 'a' }] },
      ...(['proto 1.0', 'kinds'] as const),
      messageWith({ kind: 'text', text: 'a' }, { role: 'agent' }),
      ['role'],
    ],
    [
      'the end of a stream before that of its task',
      'statusUpdate',
      { kind: 'status-update', taskId: 't', contextId: 'c', status: { state: 'working' }, final: true },
      ...(['kinds', 'proto 1.0'] as const),
      { taskId: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } },
      ['final'],
    ],
    [
      'a time without a time zone',
      'status',
      { state: 'working', timestamp: '2026-11-22T10:00:00' },
      ...(['kinds', 'proto 0.3'] as const),
      { state: 'TASK_STATE_WORKING', timestamp: '2026-11-22T10:00:00.000Z' },
      ['timestamp'],
    ],
    [
      'a flag that would unwrap data',
      'message',
      v1Message({ data: { value: 1 }, metadata: { data_part_compat: true } }),
      ...(['proto 1.0', 'kinds'] as const),
      messageWith({ kind: 'data', data: { value: 1 } }),
      ['parts[0].metadata.data_part_compat'],
    ],
  ])('is reported: %s', (_, name, object, from, to, expected, losses) => {
    expect(translate(name, object, from, to)).toEqual({ object: expected, losses })
  })
})

describe('what forms write in different ways', () => {
  it.each<[string, ObjectName, JsonObject, Form, Form, JsonObject]>([
    [
      'the numbers of enumerations',
      'status',
      { state: 5, message: { messageId: 'm', role: 2, parts: [] } },
      ...(['proto 1.0', 'kinds'] as const),
      { state: 'canceled', message: { kind: 'message', messageId: 'm', role: 'agent', parts: [] } },
    ],
    [
      'numbers that stay as they were sent',
      'status',
      { state: JSON.rawJSON('5.0'), message: { messageId: 'm', role: JSON.rawJSON('2e0'), parts: [] } },
      ...(['proto 1.0', 'kinds'] as const),
      { state: 'canceled', message: { kind: 'message', messageId: 'm', role: 'agent', parts: [] } },
    ],
    [
      'the spelling of canceled',
      'status',
      { state: 'TASK_STATE_CANCELED' },
      ...(['proto 1.0', 'proto 0.3'] as const),
      { state: 'TASK_STATE_CANCELLED' },
    ],
    [
      'what is empty',
      'message',
      v1Message({ text: 'a' }, { taskId: '', context_id: '' }),
      ...(['proto 1.0', 'kinds'] as const),
      messageWith({ kind: 'text', text: 'a' }),
    ],
    [
      'a question, which ends a stream',
      'statusUpdate',
      { taskId: 't', status: { state: 'TASK_STATE_INPUT_REQUIRED' } },
      ...(['proto 1.0', 'kinds'] as const),
      { kind: 'status-update', taskId: 't', contextId: '', status: { state: 'input-required' }, final: true },
    ],
    [
      'what is false',
      'statusUpdate',
      { taskId: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } },
      ...(['proto 0.3', 'kinds'] as const),
      { kind: 'status-update', taskId: 't', contextId: 'c', status: { state: 'completed' }, final: false },
    ],
    [
      'a kind that some agents of 1.0 still write',
      'message',
      v1Message({ text: 'a' }, { kind: 'message' }),
      ...(['proto 1.0', 'kinds'] as const),
      messageWith({ kind: 'text', text: 'a' }),
    ],
    [
      'the alphabet of base64',
      'message',
      v1Message({ raw: '-_8' }),
      ...(['proto 1.0', 'kinds'] as const),
      messageWith({ kind: 'file', file: { bytes: '+/8=' } }),
    ],
    [
      'data that is no object',
      'message',
      v1Message({ data: [1] }),
      ...(['proto 1.0', 'proto 0.3'] as const),
      {
        messageId: 'm',
        role: 'ROLE_USER',
        content: [{ data: { data: { value: [1] } }, metadata: { data_part_compat: true } }],
      },
    ],
  ])('is translated: %s', (_, name, object, from, to, expected) => {
    expect(translate(name, object, from, to)).toEqual({ object: expected, losses: [] })
  })
})

describe('a message that can be read in two ways', () => {
  it.each<[Form, Form]>([
    ['proto 1.0', 'kinds'],
    ['kinds', 'proto 1.0'],
  ])('has no parts of a third form: %s to %s', (from, to) => {
    const role = from === 'kinds' ? 'user' : 'ROLE_USER'
    const content = [{ file: { fileWithUri: 'https://a.example', mimeType: 'text/html' } }]
    const { object, losses } = translate('message', { messageId: 'm', role, parts: [], content }, from, to)
    expect([Object.hasOwn(object, 'content'), losses]).toEqual([false, ['*']])
  })

  it('has the media type that is not empty, whichever of its names that has', () => {
    const part = { raw: 'aGk=', mediaType: '', media_type: 'image/png' }
    const file = { fileWithBytes: 'aGk=', mimeType: '', mime_type: 'image/png' }
    const message = { messageId: 'm', role: 'ROLE_USER' }
    expect([
      translate('message', { ...message, parts: [part] }, 'proto 1.0', 'kinds').object.parts,
      translate('message', { ...message, content: [{ file }] }, 'proto 0.3', 'kinds').object.parts,
    ]).toEqual(Array(2).fill([{ kind: 'file', file: { bytes: 'aGk=', mimeType: 'image/png' } }]))
  })
})
