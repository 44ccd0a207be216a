import { expect, it } from 'vitest'
import type { Part, Task } from '../../../src/mcp/server/a2a-calls.ts'
import { readAnswer, toInputRequests } from '../../../src/mcp/server/results.ts'

const asking = (...parts: Part[]): Task => ({
  ...{ id: 't', status: { state: 'TASK_STATE_INPUT_REQUIRED', message: { messageId: 'q', parts } } },
})
const both = { form: true, url: true }
const requestedSchema = { type: 'object', properties: { city: { type: 'string' } } }
const plain = asking({ text: 'Where?' })
const form = asking({ text: 'Where?' }, { data: { requestedSchema } })
const link = asking({ text: 'Log in' }, { url: 'https://login.example/' })

it('asks the user of a client that can: a text, a form of the agent, or a URL to open', () => {
  const elicitation = (params: object) => ({ 'question-q': { method: 'elicitation/create', params } })
  const answer = {
    ...{ type: 'object', properties: { answer: { type: 'string', title: 'Answer' } }, required: ['answer'] },
  }
  expect(toInputRequests(plain, both)).toMatchObject(elicitation({ message: 'Where?', requestedSchema: answer }))
  expect(toInputRequests(form, both)).toMatchObject(elicitation({ message: 'Where?', requestedSchema }))
  expect(toInputRequests(link, both)).toMatchObject(elicitation({ mode: 'url', url: 'https://login.example/' }))
  expect(toInputRequests(asking(), both)).toMatchObject(elicitation({ message: 'The agent needs more input.' }))
  const script = asking({ text: 'Log in' }, { url: 'javascript:alert(1)' })
  expect(toInputRequests(script, both)).toMatchObject(elicitation({ mode: 'form', message: 'Log in' }))
  expect(toInputRequests(link, { form: true, url: false })).toBeUndefined()
  for (const task of [plain, form]) expect(toInputRequests(task, { form: false, url: true })).toBeUndefined()
})

it('has a key for each question, so that no answer is taken for one to another', () => {
  const keyOf = (status: Partial<Task['status']>) =>
    Object.keys(toInputRequests({ id: 't', status: { state: 'TASK_STATE_INPUT_REQUIRED', ...status } }, both) ?? {})
  expect(keyOf({ message: { messageId: 'm'.repeat(200) } })).toEqual([`question-${'m'.repeat(91)}`])
  expect(keyOf({ timestamp: '2026-11-28T10:00:00Z' })).toEqual(['question-2026-11-28T10:00:00Z'])
  expect(keyOf({ message: { messageId: '__proto__' } })).toEqual(['question-__proto__'])
})

it("reads the user's answer as the parts of a message", () => {
  const accept = (content: unknown) => ({ action: 'accept', content })
  for (const [task, response, expected] of [
    [plain, accept({ answer: 'Rome' }), [{ text: 'Rome', mediaType: 'text/plain' }]],
    [plain, { action: 'decline' }, [{ text: 'The user declines to answer.' }]],
    [plain, { action: 'cancel' }, 'cancel'],
    [plain, accept({ answer: 7 }), undefined],
    [plain, accept(undefined), undefined],
    [plain, { action: 'other' }, undefined],
    [plain, 'Rome', undefined],
    [plain, undefined, undefined],
    [form, accept({ city: 'Rome' }), [{ data: accept({ city: 'Rome' }), mediaType: 'application/json' }]],
    [link, accept(undefined), [{ data: accept({}), mediaType: 'application/json' }]],
    [form, { action: 'decline' }, [{ text: 'decline' }]],
    [form, { action: 'cancel' }, [{ text: 'cancel' }]],
  ] as const)
    expect(readAnswer(task, { 'question-q': response }), JSON.stringify(response)).toEqual(expected)
  expect(readAnswer(plain, { other: accept({ answer: 'Rome' }) })).toBeUndefined()
  expect(readAnswer(plain)).toBeUndefined()
})
