import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { CallError } from '../../../src/a2a/call-error.ts'
import type { Inspected } from '../../../src/a2a/read-result.ts'
import type { CallProfile } from '../../../src/card/call-profile.ts'
import type { Observations } from '../../../src/card/model/observed-calls.ts'
import type { JsonObject } from '../../../src/json/json.ts'
import { callWith } from '../../support/calls.ts'
import { type CheckedCall, openCheck } from '../../support/response-checks.ts'

// What is observed is sent in the background.
beforeEach(() => void vi.useFakeTimers())

const modesWith = (...output: string[]): Partial<CallProfile> => ({
  modes: { defaults: { input: [], output }, union: { input: [], output }, skills: {} },
})

const answer = (body: JsonObject) => JSON.stringify({ jsonrpc: '2.0', id: 1, ...body })
const partsOf = (mediaTypes: string[]) =>
  mediaTypes.map(mediaType => ({ url: 'https://agent.example/file', mediaType }))
/** A message with parts of these media types. */
const messageOf = (...mediaTypes: string[]) =>
  answer({ result: { message: { messageId: 'a', role: 'ROLE_AGENT', parts: partsOf(mediaTypes) } } })

/** Returns what was observed of the agent: outcome, outcome of its protocol, failures and media types. */
const namesOf = (sent: Observations | undefined): string | undefined => {
  if (!sent) return undefined
  const { operations, protocols, failures, mediaTypes } = sent
  const outcomes = [...Object.values(operations), ...Object.values(protocols)].flatMap(group =>
    Object.entries(group).flatMap(([name, count]) => (count > 0 ? name : [])),
  )
  return [...outcomes, ...Object.keys(failures), ...Object.keys(mediaTypes)].join(' ')
}

/** A list whose copies count how often they are parsed. */
let reads = 0
class CountedList extends Array<string> {
  override map<Result>(each: (item: string, index: number, list: string[]) => Result): Result[] {
    reads++
    return Array.from(this).map(each)
  }
}

describe('the media types of a stream', () => {
  const open = (declared: string, accepted: string[]) => {
    const configuration = { acceptedOutputModes: accepted }
    const call = callWith({ operation: 'stream', params: { configuration } })
    return openCheck({ call, profile: modesWith(declared) })
  }
  const modes = Array.from({ length: 100 }, (_, index) => `image/x${index}; level=1`)

  it('are compared with what the caller accepts, which is parsed once and only if it is needed', async () => {
    reads = 0
    const { read, warnings } = open('image/*', CountedList.from(modes))
    await read(messageOf('image/x1; level=1'))
    expect(reads).toBe(0)
    for (let event = 0; event < 10; event++) await read(messageOf('image/x1'))
    expect([reads, warnings()]).toEqual([1, []])
  })

  it('are each reported once', async () => {
    const { read, warnings } = open('audio/*', modes)
    await read(messageOf('audio/ogg'))
    expect(warnings()).toEqual([{ kind: 'unaccepted-output-modes' }])
    for (let event = 0; event < 2; event++) await read(messageOf('video/mp4'))
    expect(warnings()).toEqual([{ kind: 'unaccepted-output-modes' }, { kind: 'undeclared-output-modes' }])
  })

  it('make this host read the extended card once, and only if they differ', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    // What fails is not cached.
    const get = vi.fn(() => Promise.reject(new Error('away')))
    const caller = { authenticated: true, subject: 'token:1', scopes: ['admin'], agents: ['*'], tiers: [] } as const
    const { read } = openCheck({
      call: callWith({ params: { configuration: { acceptedOutputModes: ['text/plain', 'audio/*'] } } }),
      profile: modesWith('text/plain'),
      caller: { ...caller, strippedHeaders: [] },
      variables: { CARDS: { getWithMetadata: get } as unknown as KVNamespace },
    })
    await read(messageOf('text/plain'))
    expect(get).not.toHaveBeenCalled()
    // Not declared, then not accepted either.
    for (const type of ['audio/ogg', 'video/mp4']) await read(messageOf(type))
    expect(get).toHaveBeenCalledOnce()
  })
})

describe('a list of tasks that are kept apart', () => {
  const taskOf = (id: string, mediaType: string) => ({
    ...{ id, status: { state: 'TASK_STATE_COMPLETED' } },
    artifacts: [{ artifactId: 'a', parts: partsOf([mediaType]) }],
  })
  const tasks = [taskOf('t', 'text/plain'), taskOf('u', 'image/png')]
  const listing = answer({ result: { tasks } })
  const call = callWith({ operation: 'listTasks' })
  const openList = (inspectTasks: () => Inspected | Promise<Inspected>) =>
    openCheck({ call, profile: modesWith('text/plain'), inspectTasks })

  it('is compared with the card as far as the caller sees it, if that is known at once or later', async () => {
    const undeclared = [{ kind: 'undeclared-output-modes' }]
    for (const decide of [(decision: Inspected) => decision, async (decision: Inspected) => decision])
      for (const [expected, ...ids] of [
        [undeclared, 't', 'u'],
        [[], 't'],
      ] as const) {
        const page = { nextPageToken: '', pageSize: 50, totalSize: ids.length }
        const { read, warnings } = openList(() => decide({ list: { ids: new Set<string>(ids), ...page } }))
        expect(await read(listing)).toEqual({
          text: answer({ result: { tasks: tasks.slice(0, ids.length), ...page } }),
        })
        expect(warnings(), ids.join()).toEqual(expected)
      }
  })

  it('is not compared if it is refused', async () => {
    const { read, warnings } = openList(async () => ({ kind: 'unavailable' }))
    expect([await read(listing), warnings()]).toEqual([{ kind: 'unavailable' }, []])
  })
})

describe('the repairs of answers', () => {
  it('are each reported once, whatever else the gate checks', () => {
    for (const levels of [{}, { responses: 'off' }] as const) {
      const { check, warnings } = openCheck({ levels })
      for (const repairs of [['kind'], ['kind', 'id'], ['id']] as const) check.reportRepairs(repairs, 'response')
      const reported = ['kind', 'id'].map(repair => ({ kind: 'repaired', repairs: [repair] }))
      expect(warnings(), JSON.stringify(levels)).toEqual(reported)
    }
  })

  it('of an event are logged, because the headers of its stream were sent', () => {
    const { check, warnings } = openCheck()
    check.reportRepairs(['record-separator', 'kind'], 'event')
    check.reportRepairs(['kind'], 'event')
    expect(warnings()).toEqual([{ event: 'repaired (record-separator kind)' }])
  })

  it('are not reported of a list in which others have tasks', () => {
    for (const [operation, expected] of [
      ['listTasks', []],
      ['send', [{ kind: 'repaired', repairs: ['kind'] }]],
    ] as const) {
      const { check, warnings } = openCheck({ call: callWith({ operation }), inspectTasks: async () => undefined })
      check.reportRepairs(['kind'], 'response')
      expect(warnings(), operation).toEqual(expected)
    }
  })

  it('are not made with warn, which reports a stack trace once', async () => {
    const { read, warnings } = openCheck({ call: callWith(), levels: { responses: 'warn' } })
    const trace = answer({ error: { code: -32603, message: 'boom', data: { stack: 'Error: boom\n    at handle' } } })
    expect([await read(trace), await read(trace), warnings()]).toEqual([
      undefined,
      undefined,
      [{ kind: 'stack-trace' }],
    ])
  })
})

describe('what is observed of a call', () => {
  const refusal = answer({ error: { code: -32601, message: 'Method not found' } })

  it('is an error event of the agent with modes that are off', async () => {
    const { check, read, observe } = openCheck({ call: callWith({ operation: 'stream' }), levels: { modes: 'off' } })
    check.end(new Response('', { headers: { 'Content-Type': 'text/event-stream' } }))
    expect(namesOf(await observe())).toBeUndefined()
    await read(refusal, 'event')
    expect(namesOf(await observe())).toBe('refused failed -32601')
  })

  it('is what the agent shows, and no fault of this host or the caller', async () => {
    const foreign: CallError = { kind: 'foreign-task', detail: '' }
    const rows: [CheckedCall, text: string | undefined, error: CallError | undefined, expected: string | undefined][] =
      [
        [{}, refusal, undefined, 'refused refused -32601'],
        [{ levels: { modes: 'off' } }, refusal, undefined, 'refused refused -32601'],
        [{ levels: { modes: 'off', responses: 'warn' } }, refusal, undefined, 'refused refused -32601'],
        // With another id than the call, which the level lets pass.
        [{ call: callWith({ id: 7 }), levels: { responses: 'warn' } }, refusal, undefined, 'refused refused -32601'],
        // Only the status is read.
        [{ levels: { responses: 'off' } }, refusal, undefined, 'answered answered'],
        // A response with the id of another caller shows what the agent supports nevertheless.
        [
          { inspectTasks: () => foreign },
          messageOf('text/plain'),
          foreign,
          'answered answered foreign-task text/plain',
        ],
        [{}, undefined, { kind: 'timeout', seconds: 1 }, 'failed failed timeout'],
        [{}, undefined, { kind: 'invalid-response', status: 200 }, 'failed failed invalid-response'],
        // Anyone can forge `Via`, and the owner of the host has to correct its configuration.
        [{}, undefined, { kind: 'loop' }, undefined],
        [{}, undefined, { kind: 'misconfigured', detail: 'This Worker has no secret.' }, undefined],
      ]
    for (const [checked, text, error, expected] of rows) {
      const { check, read, observe } = openCheck({ call: callWith(), ...checked })
      if (text !== undefined) await read(text)
      check.end(error ?? Response.json({}))
      expect(namesOf(await observe()), JSON.stringify([checked, error])).toBe(expected)
    }
  })
})
