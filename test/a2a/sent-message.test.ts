import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readMessage } from '../../src/a2a/message.ts'
import { checkMessage, removeKinds } from '../../src/a2a/sent-message.ts'
import { translateObject } from '../../src/a2a-bridge/objects.ts'
import type { Protocol } from '../../src/card/model/calls.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { arbitraryJson, arbitraryObjects } from '../support/a2a-objects.ts'
import { callWith } from '../support/calls.ts'

const v1: Protocol = { binding: 'JSONRPC', version: '1.0' }
const v03: Protocol = { binding: 'JSONRPC', version: '0.3' }
const restV03: Protocol = { binding: 'HTTP+JSON', version: '0.3' }

const message = (more: JsonObject = {}): JsonObject => ({
  messageId: 'm',
  role: 'ROLE_USER',
  parts: [{ text: 'a' }],
  ...more,
})
const messageV03 = (more: JsonObject = {}): JsonObject => ({
  kind: 'message',
  messageId: 'm',
  role: 'user',
  parts: [{ kind: 'text', text: 'a' }],
  ...more,
})
const messageRestV03 = (more: JsonObject = {}): JsonObject => ({
  messageId: 'm',
  role: 'ROLE_USER',
  content: [{ text: 'a' }],
  ...more,
})
const raw = (more: JsonObject): JsonObject => message({ parts: [{ text: 'a' }, { raw: 'AA==', ...more }] })
const file = (members: JsonObject, more: JsonObject = {}): JsonObject =>
  messageV03({ parts: [{ kind: 'file', file: members, ...more }] })

const oneContent = 'must have exactly one of text, raw, url, data'

describe('a message in another form than that of its version', () => {
  it.each<[Protocol, Json, string, string]>([
    [v1, message({ role: 'user' }), 'role', 'must be ROLE_USER in A2A 1.0, not "user"'],
    [v1, message({ role: 'Agent' }), 'role', 'must be ROLE_AGENT in A2A 1.0, not "Agent"'],
    [v1, message({ role: 'assistant' }), 'role', 'must be ROLE_USER or ROLE_AGENT, not "assistant"'],
    [v1, message({ role: 'unspecified' }), 'role', 'must be ROLE_USER or ROLE_AGENT, not "unspecified"'],
    [v1, message({ role: 'ROLE_UNSPECIFIED' }), 'role', 'must be ROLE_USER or ROLE_AGENT, not "ROLE_UNSPECIFIED"'],
    [v1, message({ role: 7 }), 'role', 'must be ROLE_USER or ROLE_AGENT, not 7'],
    [v1, message({ role: JSON.rawJSON('1.0') }), 'role', 'must be ROLE_USER or ROLE_AGENT, not 1.0'],
    [v1, message({ role: { toString: 1 } }), 'role', 'must be ROLE_USER or ROLE_AGENT, not an object'],
    [v1, message({ role: null }), 'role', 'must be ROLE_USER or ROLE_AGENT, but is missing'],
    [v1, message({ messageId: '' }), 'messageId', 'must be a string that is not empty, not ""'],
    [v1, raw({ mimeType: 'a/b' }), 'parts[1].mimeType', 'is not part of A2A 1.0: use `mediaType`'],
    [v1, file({ bytes: '' }), 'parts[0].file', 'is not part of A2A 1.0: use `raw` or `url`'],
    [v1, raw({ file: {} }), 'parts[1].file', 'is not part of A2A 1.0: use `raw` or `url`'],
    [v1, raw({ text: 'a' }), 'parts[1]', oneContent],
    [v1, message({ parts: [{ metadata: {} }] }), 'parts[0]', oneContent],
    [v1, message({ parts: [{ text: {} }] }), 'parts[0].text', 'must be a string, not an object'],
    [v1, message({ parts: [{ text: 'a', metadata: [1] }] }), 'parts[0].metadata', 'must be an object, not a list'],
    [v1, message({ parts: [] }), 'parts', 'must be a list of at least one part, not an empty list'],
    [v1, messageRestV03(), 'content', 'is not part of A2A 1.0: use `parts`'],
    [v03, message(), 'role', 'must be user in A2A 0.3, not "ROLE_USER"'],
    [v03, messageV03({ parts: [{ raw: 'AA==' }] }), 'parts[0].raw', 'is not part of A2A 0.3: use `file.bytes`'],
    [v03, file({ uri: 'a' }, { url: 'a' }), 'parts[0].url', 'is not part of A2A 0.3: use `file.uri`'],
    [v03, file({ uri: 'a', mediaType: 'a/b' }), 'parts[0].file.mediaType', 'is not part of A2A 0.3: use `mimeType`'],
    [v03, file({ fileWithUri: 'a' }), 'parts[0].file.fileWithUri', 'is not part of A2A 0.3: use `uri`'],
    [v03, messageV03({ parts: [{ kind: 'text' }] }), 'parts[0].text', 'must be a string, but is missing'],
    [v03, messageV03({ messageId: null }), 'messageId', 'must be a string, but is missing'],
    [restV03, message(), 'parts', 'is not part of A2A 0.3 over HTTP: use `content`'],
    [restV03, messageRestV03({ role: 'user' }), 'role', 'must be ROLE_USER in A2A 0.3 over HTTP, not "user"'],
    [
      restV03,
      messageRestV03({ content: [{ url: 'a' }] }),
      'content[0].url',
      'is not part of A2A 0.3 over HTTP: use `file.fileWithUri`',
    ],
  ])('is refused over %j: %j', (protocol, sent, field, description) => {
    const call = callWith({ ...protocol, params: { message: sent } })
    expect(checkMessage(call)).toEqual({
      kind: 'invalid-params',
      detail: `\`message.${field}\` ${description}.`,
      violations: [{ field: `message.${field}`, description }],
    })
    expect(readMessage(call)).toMatchObject({ isDoubtful: true })
  })

  it.each<[JsonObject, string]>([
    [{}, 'message'],
    [{ message: 'a' }, 'message'],
    [{ request: messageRestV03({ role: 'user' }) }, 'request.role'],
  ])('is refused where it is: %j', (params, field) => {
    expect(checkMessage(callWith({ ...restV03, params }))).toMatchObject({ violations: [{ field }] })
  })

  it('shows at most 50 characters of a value', () => {
    const { violations: [violation] = [] } =
      checkMessage(callWith({ params: { message: message({ role: 'x'.repeat(1e6) }) } })) ?? {}
    expect(violation?.description).toBe(`must be ROLE_USER or ROLE_AGENT, not "${'x'.repeat(50)}"`)
  })
})

describe('a message', () => {
  it.each<[Protocol, JsonObject]>([
    [v1, { message: message({ role: 1, parts: [{ data: null, unknown: [] }], other: 1 }) }],
    [v1, { message: { message_id: 'm', role: 'ROLE_AGENT', parts: [{ text: 'a', url: null, media_type: 'a/b' }] } }],
    [v1, { message: message({ kind: 'message', parts: [{ kind: 'text', text: 'a' }] }) }],
    [v03, { message: messageV03({ kind: null, contextId: null, parts: [{ text: 'a', mediaType: 'a/b' }] }) }],
    [v03, { message: file({ uri: 'a', mimeType: 'a/b' }) }],
    [v03, { message: messageV03({ parts: [] }) }],
    [restV03, { request: messageRestV03({ content: [{ data: { data: {} } }] }) }],
    [restV03, { message: messageV03() }],
  ])('in the form of %j passes, with what this host does not know: %j', (protocol, params) => {
    expect(checkMessage(callWith({ ...protocol, params }))).toBeUndefined()
  })

  it.each([
    [
      '1.0',
      message({ taskId: 't', contextId: 'c', metadata: {}, parts: [{ raw: 'AA==', mediaType: 'a/b' }, { data: [1] }] }),
    ],
    [
      '0.3',
      messageV03({
        parts: [
          { kind: 'text', text: 'a' },
          { kind: 'data', data: {} },
        ],
      }),
    ],
  ] as const)('that is plainly one of %s is not read again', (version, sent) => {
    expect(readMessage(callWith({ version, params: { message: sent } }))).toMatchObject({ isDoubtful: false })
  })

  it('is in the form of its version if it is plainly that', () => {
    const objects = arbitraryObjects.message.chain(sent =>
      fc.constantFrom(sent, translateObject('message', sent, { from: 'proto 1.0', to: 'kinds', losses: [] })),
    )
    const changed = fc
      .record({
        sent: objects,
        name: fc.constantFrom('role', 'parts', 'messageId', 'metadata', 'kind', 'file', 'raw'),
        value: arbitraryJson,
        inPart: fc.boolean(),
      })
      .map(({ sent, name, value, inPart }) =>
        inPart
          ? { ...sent, parts: (sent.parts as JsonObject[]).map(part => ({ ...part, [name]: value })) }
          : { ...sent, [name]: value },
      )
    fc.assert(
      fc.property(fc.oneof(objects, changed), fc.constantFrom(v1, v03), (sent, protocol) => {
        const call = callWith({ ...protocol, params: { message: sent } })
        const facts = readMessage(call)
        if ('isDoubtful' in facts && !facts.isDoubtful) expect(checkMessage(call)).toBeUndefined()
      }),
      { numRuns: 500 },
    )
  })
})

describe('the kinds of 0.3', () => {
  it('are removed from a message of 1.0, and no other member', () => {
    const sent = message({
      kind: 'message',
      parts: [
        { kind: 'text', text: 'a' },
        { kind: 'own', data: { kind: 'data' } },
      ],
    })
    expect([removeKinds(callWith({ params: { message: sent } })), sent]).toEqual([
      true,
      message({ parts: [{ text: 'a' }, { kind: 'own', data: { kind: 'data' } }] }),
    ])
  })

  it('stay in a message of 0.3', () => {
    const sent = messageV03()
    expect([removeKinds(callWith({ ...v03, params: { message: sent } })), sent]).toEqual([false, messageV03()])
  })
})

describe('the state by which tasks are listed', () => {
  const check = (status: Json) => checkMessage(callWith({ operation: 'listTasks', params: { status } }))

  it.each<[Json, string]>([
    ['completed', 'must be TASK_STATE_COMPLETED in A2A 1.0, not "completed"'],
    ['input-required', 'must be TASK_STATE_INPUT_REQUIRED in A2A 1.0, not "input-required"'],
    ['cancelled', 'must be TASK_STATE_CANCELED in A2A 1.0, not "cancelled"'],
    ['TASK_STATE_CANCELLED', 'must be TASK_STATE_CANCELED in A2A 1.0, not "TASK_STATE_CANCELLED"'],
    ['done', 'must be a task state, not "done"'],
    [9, 'must be a task state, not 9'],
    [['completed'], 'must be a task state, not a list'],
  ])('is refused in another form: %j', (status, description) => {
    expect(check(status)).toMatchObject({ violations: [{ field: 'status', description }] })
  })

  it.each<Json>(['TASK_STATE_COMPLETED', 3, '3', '', null])('may be %j', status => {
    expect(check(status)).toBeUndefined()
  })
})
