import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { translateObject } from '../../../src/a2a/bridge/objects.ts'
import type { ObjectName } from '../../../src/a2a/objects/index.ts'
import { checks, shapes } from '../../../src/a2a/objects/index.ts'
import type { Form } from '../../../src/card/model/index.ts'
import type { JsonObject } from '../../../src/json/json.ts'
import { arbitraryObjects as objects } from '../../support/a2a-objects.ts'

const forms: Form[] = ['json-0.3', 'proto-0.3', 'proto-1.0']

const translate = (name: ObjectName, object: JsonObject, from: Form, to: Form) => {
  const losses: string[] = []
  return { object: translateObject(name, object, { from: shapes[from], to: shapes[to], losses }), losses }
}

it('translates an object to another form and back without a change, unless it reports a loss', () => {
  for (const name of Object.keys(objects) as (keyof typeof objects)[])
    fc.assert(
      fc.property(
        objects[name],
        fc.boolean(),
        fc.constantFrom(...forms),
        fc.constantFrom(...forms),
        (original, final, form, other) => {
          fc.pre(form !== other)
          const made = translate(name, original, 'proto-1.0', form).object
          const written = 'final' in made ? { ...made, final } : made
          expect(checks[form][name](written)).toBeUndefined()
          const there = translate(name, written, form, other)
          expect(checks[other][name](there.object)).toBeUndefined()
          const back = translate(name, there.object, other, form)
          expect(back.losses).toEqual([])
          if (there.losses.length === 0) expect(back.object).toEqual(written)
          expect(there.losses.filter(loss => !/(?:^final|referenceTaskIds)$/.test(loss))).toEqual([])
        },
      ),
    )
})

const kinds = (part: JsonObject, more: JsonObject = {}): JsonObject => ({
  ...{ kind: 'message', messageId: 'm', role: 'user', parts: [part], ...more },
})
const v1 = (part: JsonObject, more: JsonObject = {}): JsonObject => ({
  ...{ messageId: 'm', role: 'ROLE_USER', parts: [part], ...more },
})
const v03 = (part: JsonObject, more: JsonObject = {}): JsonObject => ({
  ...{ messageId: 'm', role: 'ROLE_USER', content: [part], ...more },
})
const a = { kind: 'text', text: 'a' }
const file = (members: JsonObject) => kinds({ kind: 'file', file: members })
const data = (members: JsonObject) => kinds({ kind: 'data', data: members })
/** An update of a status of 1.0, or one of the form with `kind`, which says whether the stream ends. */
const update = (state: string, final?: boolean) => ({
  ...{ ...(final !== undefined && { kind: 'status-update', final }), taskId: 't', contextId: 'c', status: { state } },
})

const expectTranslations = (
  name: ObjectName,
  [from, to]: [from: Form, to: Form],
  rows: [object: JsonObject, expected: JsonObject, losses?: string[]][],
) => {
  for (const [object, expected, losses = []] of rows)
    expect(translate(name, object, from, to), JSON.stringify(object)).toEqual({ object: expected, losses })
}

describe('what a form cannot express is reported', () => {
  it('of a message with `kind`', () => {
    expectTranslations(
      'message',
      ['json-0.3', 'proto-1.0'],
      [
        [kinds({ text: 'a', data: { b: 1 } }), v1({ text: 'a' }), ['parts[0].data']],
        [kinds({ ...a, raw: 'YQ==' }, { context_id: 'c' }), v1({ text: 'a' }), ['parts[0].*', '*']],
        [file({ bytes: 'YQ==', own: 1 }), v1({ raw: 'YQ==' }), ['parts[0].file.*']],
        [file({ bytes: 'YQ==', mime_type: 'text/csv' }), v1({ raw: 'YQ==', mediaType: 'text/csv' })],
      ],
    )
    expectTranslations(
      'message',
      ['json-0.3', 'proto-0.3'],
      [
        [file({ uri: 'x:', own: 1 }), v03({ file: { fileWithUri: 'x:', own: 1 } })],
        [file({ bytes: 'AA==', file_with_uri: 'x:' }), v03({ file: { fileWithBytes: 'AA==' } }), ['parts[0].file.*']],
      ],
    )
  })

  it('of a message of ProtoJSON', () => {
    const named = { text: 'a', filename: 'a.md', mediaType: 'text/markdown' }
    const flagged = v1({ data: { value: 1 }, metadata: { data_part_compat: true } })
    const withPrototype = JSON.parse('{"messageId":"m","role":"ROLE_USER","parts":[],"__proto__":1}')
    expectTranslations(
      'message',
      ['proto-1.0', 'json-0.3'],
      [
        [v1(named), kinds(a), ['parts[0].filename', 'parts[0].mediaType']],
        [v1({ text: 'a' }, { role: 'ROLE_UNSPECIFIED' }), kinds(a, { role: 'agent' }), ['role']],
        // The flag would unwrap data that is not wrapped.
        [flagged, data({ value: 1 }), ['parts[0].metadata.data_part_compat']],
      ],
    )
    expectTranslations(
      'message',
      ['proto-1.0', 'proto-0.3'],
      [
        [v1({ text: 'a', kind: 'own' }, { kind: 'task' }), v03({ text: 'a' }), ['parts[0].*', '*']],
        [v1({ text: 'a' }, { referenceTaskIds: ['r'] }), v03({ text: 'a' }), ['referenceTaskIds']],
        [withPrototype, { messageId: 'm', role: 'ROLE_USER', content: [] }, ['*']],
      ],
    )
    expectTranslations(
      'message',
      ['proto-0.3', 'proto-1.0'],
      [[v03({ data: { data: { a: 1 }, own: 1 } }), v1({ data: { a: 1 } }), ['parts[0].data.*']]],
    )
    const task = { id: 't', status: { message: v1(named) }, artifacts: [v1(named)], history: [v1(named)] }
    const { losses } = translate('task', task, 'proto-1.0', 'proto-0.3')
    expect(losses.filter(loss => loss.endsWith('filename'))).toEqual([
      'status.message.parts[0].filename',
      'artifacts[0].parts[0].filename',
      'history[0].parts[0].filename',
    ])
  })

  it('of the end of a stream, and of a time without a time zone', () => {
    expectTranslations(
      'statusUpdate',
      ['json-0.3', 'proto-1.0'],
      [
        [update('working', true), update('TASK_STATE_WORKING'), ['final']],
        [update('working', false), update('TASK_STATE_WORKING')],
        [update('completed', false), update('TASK_STATE_COMPLETED'), ['final']],
        [update('completed', true), update('TASK_STATE_COMPLETED')],
      ],
    )
    const at = (timestamp: string) => ({ state: 'working', timestamp })
    const inProto = { state: 'TASK_STATE_WORKING' }
    expectTranslations(
      'status',
      ['json-0.3', 'proto-0.3'],
      [
        [at('2026-11-22T10:00:00'), { ...inProto, timestamp: '2026-11-22T10:00:00.000Z' }, ['timestamp']],
        [at('2026-11-22 10:00:00+0200'), { ...inProto, timestamp: '2026-11-22T08:00:00.000Z' }, ['timestamp']],
        [at('2026-11-22T10:00:00+02:00'), { ...inProto, timestamp: '2026-11-22T10:00:00+02:00' }],
        [at('now'), inProto, ['timestamp']],
      ],
    )
  })
})

describe('what forms write in different ways is translated', () => {
  const message = { kind: 'message', messageId: 'm', role: 'agent', parts: [] }

  it('in a message', () => {
    const wrapped = v03({ data: { data: { value: [1] } }, metadata: { data_part_compat: true } })
    expectTranslations(
      'message',
      ['proto-1.0', 'json-0.3'],
      [
        [v1({ text: 'a' }, { taskId: '', context_id: '' }), kinds(a)],
        // Some agents of 1.0 still write a kind.
        [v1(a, { kind: 'message' }), kinds(a)],
        [v1({ raw: '-_8' }), file({ bytes: '+/8=' })],
        [v1({ raw: 'AAAA' }), file({ bytes: 'AAAA' })],
        // The media types that are implied.
        [v1({ data: { a: 1 }, mediaType: 'application/json' }), data({ a: 1 })],
        [v1({ text: 'a', mediaType: 'text/plain' }), kinds(a)],
      ],
    )
    // Data that is no object.
    expectTranslations('message', ['proto-1.0', 'proto-0.3'], [[v1({ data: [1] }), wrapped]])
    expectTranslations('message', ['proto-0.3', 'proto-1.0'], [[wrapped, v1({ data: [1] })]])
  })

  it('in a status: the numbers of enumerations, also those that stay as they were sent', () => {
    const exact = { state: JSON.rawJSON('5.0'), message: { messageId: 'm', role: JSON.rawJSON('2e0'), parts: [] } }
    expectTranslations(
      'status',
      ['proto-1.0', 'json-0.3'],
      [
        [
          { state: 5, message: { messageId: 'm', role: 2, parts: [] } },
          { state: 'canceled', message },
        ],
        [exact, { state: 'canceled', message }],
      ],
    )
    const canceled = { state: 'TASK_STATE_CANCELED' }
    expectTranslations('status', ['proto-1.0', 'proto-0.3'], [[canceled, { state: 'TASK_STATE_CANCELLED' }]])
  })

  it('in a task that leaves out what is empty', () => {
    const empty = { id: 't', status: {}, artifacts: [{ artifactId: 'a' }], history: [{ messageId: 'm', role: 2 }] }
    const artifacts = [{ artifactId: 'a', parts: [] }]
    const task = { kind: 'task', id: 't', contextId: '', status: { state: 'unknown' }, artifacts, history: [message] }
    expectTranslations('task', ['proto-1.0', 'json-0.3'], [[empty, task]])
  })

  it('in an update: the end of a stream, and what is false', () => {
    const ending = ['COMPLETED', 'FAILED', 'CANCELED', 'REJECTED', 'INPUT_REQUIRED']
    expectTranslations(
      'statusUpdate',
      ['proto-1.0', 'json-0.3'],
      [
        ...ending.map((state): [JsonObject, JsonObject] => [
          update(`TASK_STATE_${state}`),
          update(state.toLowerCase().replace('_', '-'), true),
        ]),
        [update('TASK_STATE_AUTH_REQUIRED'), update('auth-required', false)],
        [
          { task_id: 't', status: {} },
          { ...update('unknown', false), contextId: '' },
        ],
      ],
    )
    const completed = update('TASK_STATE_COMPLETED')
    expectTranslations('statusUpdate', ['proto-0.3', 'json-0.3'], [[completed, update('completed', false)]])
  })
})

describe('a message that can be read in two ways', () => {
  it('has no parts of a third form', () => {
    const content = [{ file: { fileWithUri: 'https://a.example', mimeType: 'text/html' } }]
    for (const [from, to, role] of [
      ['proto-1.0', 'json-0.3', 'ROLE_USER'],
      ['json-0.3', 'proto-1.0', 'user'],
    ] as const) {
      const { object, losses } = translate('message', { messageId: 'm', role, parts: [], content }, from, to)
      expect([Object.hasOwn(object, 'content'), losses]).toEqual([false, ['*']])
    }
  })

  it('has the media type that is not empty, whichever of its names that has', () => {
    const part = { raw: 'aGk=', mediaType: '', media_type: 'image/png' }
    const file = { fileWithBytes: 'aGk=', mimeType: '', mime_type: 'image/png' }
    const message = { messageId: 'm', role: 'ROLE_USER' }
    expect([
      translate('message', { ...message, parts: [part] }, 'proto-1.0', 'json-0.3').object.parts,
      translate('message', { ...message, content: [{ file }] }, 'proto-0.3', 'json-0.3').object.parts,
    ]).toEqual(Array(2).fill([{ kind: 'file', file: { bytes: 'aGk=', mimeType: 'image/png' } }]))
  })
})
