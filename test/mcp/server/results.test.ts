import { describe, expect, it } from 'vitest'
import type { Part, Task } from '../../../src/mcp/server/a2a-calls.ts'
import { toResult } from '../../../src/mcp/server/results.ts'

const text = (text: string) => ({ type: 'text', text })
const ids = text('contextId: c, taskId: t')
const taskOf = (state: string, more: Partial<Task> = {}): Task => ({
  ...{ id: 't', contextId: 'c', status: { state: `TASK_STATE_${state}` } },
  ...more,
})
const read = (task: Task, form = { isOwnTool: false }) => toResult({ task }, form)
const withParts = (...parts: Part[]) => taskOf('COMPLETED', { artifacts: [{ artifactId: 'a', parts }] })

describe('the result of a tool', () => {
  it('has each part as a block of content', () => {
    for (const [part, block] of [
      [{ text: 'It rains' }, text('It rains')],
      [{ data: { rain: 1 } }, text('{"rain":1}')],
      [
        { raw: 'aGk=', mediaType: 'image/png' },
        { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      ],
      [
        { raw: 'aGk=', mediaType: 'audio/wav' },
        { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' },
      ],
      [
        { raw: 'aGk=', mediaType: 'text/csv', filename: 'a b.csv' },
        { type: 'resource', resource: { uri: 'file:///a%20b.csv', blob: 'aGk=', mimeType: 'text/csv' } },
      ],
      [
        { raw: 'aGk=' },
        { type: 'resource', resource: { uri: 'file:///file', blob: 'aGk=', mimeType: 'application/octet-stream' } },
      ],
      [
        { url: 'https://a.example/b/c.pdf', mediaType: 'application/pdf' },
        { type: 'resource_link', uri: 'https://a.example/b/c.pdf', name: 'c.pdf', mimeType: 'application/pdf' },
      ],
      [
        { url: 'https://a.example/b', filename: 'C' },
        { type: 'resource_link', uri: 'https://a.example/b', name: 'C', mimeType: 'application/octet-stream' },
      ],
    ] as [Part, object][])
      expect(read(withParts(part)).content, JSON.stringify(part)).toEqual([block, ids])
  })

  it('has data as structured content, and ids in `_meta` and in a line', () => {
    const structured = (...values: unknown[]) => read(withParts(...values.map(data => ({ data })))).structuredContent
    expect(structured({ a: 1 })).toEqual({ a: 1 })
    expect(structured([1])).toEqual({ data: [1] })
    expect(structured({ a: 1 }, 2)).toEqual({ data: [{ a: 1 }, 2] })
    expect(structured()).toBeUndefined()
    // Some clients show a model nothing else.
    const state = 'TASK_STATE_COMPLETED'
    const mixed = (data: unknown) => read(withParts({ text: 'x' }, { data })).structuredContent
    expect(mixed({ a: 1 })).toEqual({ a: 1, text: 'x', contextId: 'c', taskId: 't', state })
    expect(mixed({ text: 'own', contextId: 7 })).toMatchObject({ text: 'own', contextId: 7, taskId: 't' })
    expect(mixed([1])).toMatchObject({ data: [1], text: 'x' })
    expect(read(withParts({ text: 'x' }))._meta).toEqual({ contextId: 'c', taskId: 't', state: 'TASK_STATE_COMPLETED' })
    const parts = [{ text: 'x' }]
    expect(toResult({ message: { contextId: 'c', parts } }, { isOwnTool: false })).toEqual({
      ...{ content: [text('x'), text('contextId: c')], _meta: { contextId: 'c' } },
    })
    expect(toResult({ message: { parts } }, { isOwnTool: false })).toEqual({ content: [text('x')] })
  })

  it('says how a task has ended, and what to do about one that has not', () => {
    const status = (state: string, message?: string) =>
      taskOf(state, {
        status: { state: `TASK_STATE_${state}`, ...(message && { message: { parts: [{ text: message }] } }) },
      })
    const history = [
      { role: 'ROLE_USER', parts: [{ text: 'Ask' }] },
      { role: 'ROLE_AGENT', parts: [{ text: 'Said' }] },
    ]
    const wait = 'The task still runs. To wait for it, call this tool again with taskId "t" and an empty message.'
    const answer = 'The agent asks for this. To answer, call this tool again with taskId "t" and the answer as message.'
    for (const [task, texts, isError] of [
      [status('COMPLETED'), ['State of the task: completed.'], undefined],
      [status('COMPLETED', 'Ready'), ['Ready'], undefined],
      [{ ...status('COMPLETED'), history }, ['Said'], undefined],
      [status('FAILED'), ['State of the task: failed.'], true],
      [status('FAILED', 'No ink'), ['No ink'], true],
      [status('REJECTED'), ['State of the task: rejected.'], true],
      [status('CANCELED', 'Bye'), ['Bye', 'State of the task: canceled.'], true],
      [status('WORKING', 'On it'), ['On it', wait], undefined],
      [status('SUBMITTED'), [wait], undefined],
      [status('INPUT_REQUIRED', 'Where?'), ['Where?', answer], undefined],
      [status('AUTH_REQUIRED'), [answer], undefined],
    ] as [Task, string[], true?][]) {
      const { content, isError: isRead } = read(task)
      expect([content, isRead], JSON.stringify(task.status)).toEqual([[...texts.map(text), ids], isError])
    }
  })

  it("of an MCP server's own tool is as the server wrote it", () => {
    const sum = { data: { sum: 3 } }
    const own = { isOwnTool: true, isValidated: true }
    expect(read(withParts({ text: 'Three' }, sum), own)).toMatchObject({
      ...{ content: [text('Three')], structuredContent: { sum: 3 } },
    })
    expect(read(withParts(sum), own)).toMatchObject({ content: [text('{"sum":3}')], structuredContent: { sum: 3 } })
    // A question is no result: clients validate what is no error against the schema of the tool.
    const asking = taskOf('INPUT_REQUIRED', {
      status: {
        state: 'TASK_STATE_INPUT_REQUIRED',
        message: { parts: [{ text: 'Where?' }, { data: { requestedSchema: {} } }] },
      },
    })
    const { content, isError, structuredContent } = read(asking, own)
    expect([content[1], isError, structuredContent]).toEqual([text('{"requestedSchema":{}}'), true, undefined])
    expect(read(asking, { isOwnTool: true }).isError).toBeUndefined()
  })

  it('is an error, with what is wrong in the parameters', () => {
    const data = [{ fieldViolations: [{ field: 'message.parts', description: 'must not be empty' }] }]
    expect(toResult({ error: { code: -32602, message: 'Invalid.', data } }, { isOwnTool: false })).toEqual({
      ...{ content: [text('Invalid.\nmessage.parts: must not be empty')], isError: true },
    })
  })
})
