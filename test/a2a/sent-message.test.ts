import { describe, expect, it } from 'vitest'
import { readMessage } from '../../src/a2a/message.ts'
import { checkMessage, removeKinds } from '../../src/a2a/sent-message.ts'
import type { Protocol } from '../../src/card/model/versions.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { callWith } from '../support/calls.ts'

const v1: Protocol = { binding: 'JSONRPC', version: '1.0' }
const v03: Protocol = { binding: 'JSONRPC', version: '0.3' }
const restV03: Protocol = { binding: 'HTTP+JSON', version: '0.3' }

const message = (more: JsonObject = {}): JsonObject => ({
  ...{ messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'a' }] },
  ...more,
})
const messageV03 = (more: JsonObject = {}): JsonObject => ({
  ...{ kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'a' }] },
  ...more,
})
const messageRestV03 = (more: JsonObject = {}): JsonObject => ({
  ...{ messageId: 'm', role: 'ROLE_USER', content: [{ text: 'a' }] },
  ...more,
})
const raw = (more: JsonObject): JsonObject => message({ parts: [{ text: 'a' }, { raw: 'AA==', ...more }] })
const file = (members: JsonObject, more: JsonObject = {}): JsonObject =>
  messageV03({ parts: [{ kind: 'file', file: members, ...more }] })

const oneContent = 'must have exactly one of text, raw, url, data'

describe('a message in another form than that of its version', () => {
  it('is refused with the field, and what it must be', () => {
    const [v1Role, restV03Role] = ['must be ROLE_USER in A2A 1.0', 'must be ROLE_USER in A2A 0.3 over HTTP']
    const role = 'must be ROLE_USER or ROLE_AGENT'
    const use = (name: string, version = '1.0') => `is not part of A2A ${version}: use ${name}`
    const restUrl = messageRestV03({ content: [{ url: 'a' }] })
    const rows: [Protocol, sent: Json, field: string, description: string][] = [
      [v1, message({ role: 'user' }), 'role', `${v1Role}, not "user"`],
      [v1, message({ role: 'Agent' }), 'role', 'must be ROLE_AGENT in A2A 1.0, not "Agent"'],
      [v1, message({ role: 'assistant' }), 'role', `${role}, not "assistant"`],
      [v1, message({ role: 'unspecified' }), 'role', `${role}, not "unspecified"`],
      [v1, message({ role: 'ROLE_UNSPECIFIED' }), 'role', `${role}, not "ROLE_UNSPECIFIED"`],
      [v1, message({ role: 7 }), 'role', `${role}, not 7`],
      [v1, message({ role: JSON.rawJSON('1.0') }), 'role', `${role}, not 1.0`],
      [v1, message({ role: { toString: 1 } }), 'role', `${role}, not an object`],
      [v1, message({ role: null }), 'role', `${role}, but is missing`],
      [v1, message({ messageId: '' }), 'messageId', 'must be a string that is not empty, not ""'],
      [v1, raw({ mimeType: 'a/b' }), 'parts[1].mimeType', use('`mediaType`')],
      [v1, file({ bytes: '' }), 'parts[0].file', use('`raw` or `url`')],
      [v1, raw({ file: {} }), 'parts[1].file', use('`raw` or `url`')],
      [v1, raw({ text: 'a' }), 'parts[1]', oneContent],
      [v1, message({ parts: [{ metadata: {} }] }), 'parts[0]', oneContent],
      [v1, message({ parts: [{ text: {} }] }), 'parts[0].text', 'must be a string, not an object'],
      [v1, message({ parts: [{ text: 'a', metadata: [1] }] }), 'parts[0].metadata', 'must be an object, not a list'],
      [v1, message({ parts: [] }), 'parts', 'must be a list of at least one part, not an empty list'],
      [v1, messageRestV03(), 'content', use('`parts`')],
      [v03, message(), 'role', 'must be user in A2A 0.3, not "ROLE_USER"'],
      [v03, messageV03({ parts: [{ raw: 'AA==' }] }), 'parts[0].raw', use('`file.bytes`', '0.3')],
      [v03, file({ uri: 'a' }, { url: 'a' }), 'parts[0].url', use('`file.uri`', '0.3')],
      [v03, file({ uri: 'a', mediaType: 'a/b' }), 'parts[0].file.mediaType', use('`mimeType`', '0.3')],
      [v03, file({ fileWithUri: 'a' }), 'parts[0].file.fileWithUri', use('`uri`', '0.3')],
      [v03, messageV03({ parts: [{ kind: 'text' }] }), 'parts[0].text', 'must be a string, but is missing'],
      [v03, messageV03({ messageId: null }), 'messageId', 'must be a string, but is missing'],
      [restV03, message(), 'parts', use('`content`', '0.3 over HTTP')],
      [restV03, messageRestV03({ role: 'user' }), 'role', `${restV03Role}, not "user"`],
      [restV03, restUrl, 'content[0].url', use('`file.fileWithUri`', '0.3 over HTTP')],
    ]
    for (const [protocol, sent, field, description] of rows) {
      const call = callWith({ ...protocol, params: { message: sent } })
      expect(checkMessage(call)).toEqual({
        kind: 'invalid-params',
        detail: `\`message.${field}\` ${description}.`,
        violations: [{ field: `message.${field}`, description }],
      })
      expect(readMessage(call), JSON.stringify(sent)).toMatchObject({ isDoubtful: true })
    }
    const fields = [{}, { message: 'a' }, { request: messageRestV03({ role: 'user' }) }].map(params => {
      const refused = checkMessage(callWith({ ...restV03, params }))
      return refused && 'violations' in refused ? refused.violations[0]?.field : refused
    })
    expect(fields).toEqual(['message', 'message', 'request.role'])
  })

  it('shows at most 50 characters of a value', () => {
    const { violations: [violation] = [] } =
      checkMessage(callWith({ params: { message: message({ role: 'x'.repeat(1e6) }) } })) ?? {}
    expect(violation?.description).toBe(`must be ROLE_USER or ROLE_AGENT, not "${'x'.repeat(50)}"`)
  })
})

describe('a message', () => {
  it('in the form of its version passes, with what this host does not know', () => {
    const snakeCase = { message_id: 'm', role: 'ROLE_AGENT', parts: [{ text: 'a', url: null, media_type: 'a/b' }] }
    const nulls = { kind: null, contextId: null, parts: [{ text: 'a', mediaType: 'a/b' }] }
    const rows: [Protocol, JsonObject][] = [
      [v1, { message: message({ role: 1, parts: [{ data: null, unknown: [] }], other: 1 }) }],
      [v1, { message: snakeCase }],
      [v1, { message: message({ kind: 'message', parts: [{ kind: 'text', text: 'a' }] }) }],
      [v03, { message: messageV03(nulls) }],
      [v03, { message: file({ uri: 'a', mimeType: 'a/b' }) }],
      [v03, { message: messageV03({ parts: [] }) }],
      [restV03, { request: messageRestV03({ content: [{ data: { data: {} } }] }) }],
      [restV03, { message: messageV03() }],
    ]
    for (const [protocol, params] of rows)
      expect(checkMessage(callWith({ ...protocol, params })), JSON.stringify(params)).toBeUndefined()
  })

  it('that is plainly one of its version is not read again', () => {
    const parts = [{ raw: 'AA==', mediaType: 'a/b' }, { data: [1] }]
    const v03Parts = [
      { kind: 'text', text: 'a' },
      { kind: 'data', data: {} },
    ]
    const plain = [
      callWith({ params: { message: message({ taskId: 't', contextId: 'c', metadata: {}, parts }) } }),
      callWith({ version: '0.3', params: { message: messageV03({ parts: v03Parts }) } }),
    ]
    for (const call of plain) expect(readMessage(call)).toMatchObject({ isDoubtful: false })
  })
})

describe('the kinds of 0.3', () => {
  it('are removed from a message of 1.0, and no other member', () => {
    const data = { kind: 'own', data: { kind: 'data' } }
    const given = () => message({ kind: 'message', parts: [{ kind: 'text', text: 'a' }, data] })
    const sent = given()
    const cleaned = message({ parts: [{ text: 'a' }, data] })
    const call = callWith({ params: { message: sent } })
    expect([removeKinds(call), sent]).toEqual([callWith({ params: { message: cleaned } }), given()])
    // Over HTTP+JSON, the body is what the agent gets.
    const sources = { path: {}, query: { tenant: 't' }, body: { message: sent } }
    expect(removeKinds({ ...call, sources })?.sources).toEqual({ ...sources, body: { message: cleaned } })
  })

  it('stay in a message of 0.3', () => {
    const sent = messageV03()
    expect([removeKinds(callWith({ ...v03, params: { message: sent } })), sent]).toEqual([undefined, messageV03()])
  })
})

describe('the state by which tasks are listed', () => {
  const check = (status: Json) => checkMessage(callWith({ operation: 'listTasks', params: { status } }))

  it('is refused in another form', () => {
    const rows: [Json, description: string][] = [
      ['completed', 'must be TASK_STATE_COMPLETED in A2A 1.0, not "completed"'],
      ['input-required', 'must be TASK_STATE_INPUT_REQUIRED in A2A 1.0, not "input-required"'],
      ['cancelled', 'must be TASK_STATE_CANCELED in A2A 1.0, not "cancelled"'],
      ['TASK_STATE_CANCELLED', 'must be TASK_STATE_CANCELED in A2A 1.0, not "TASK_STATE_CANCELLED"'],
      ['done', 'must be a task state, not "done"'],
      [9, 'must be a task state, not 9'],
      [['completed'], 'must be a task state, not a list'],
    ]
    for (const [status, description] of rows)
      expect(check(status)).toMatchObject({ violations: [{ field: 'status', description }] })
    for (const status of ['TASK_STATE_COMPLETED', 3, '3', '', null]) expect(check(status)).toBeUndefined()
  })
})
