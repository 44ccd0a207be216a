import { describe, expect, it } from 'vitest'
import { removeStackTraces } from '../../src/gateway/upstream/stack-traces.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { isFasterThan } from '../support/cpu-time.ts'

const clean = (data: Json): Json | undefined => removeStackTraces({ code: -32603, message: 'boom', data }).data

describe('removeStackTraces', () => {
  it.each<[string, string, string | undefined]>([
    [
      'JavaScript',
      'Error: boom\n    at handle (/srv/agent.js:12:7)\n    at async Server.<anonymous> (file:///srv/a.js:1:2)',
      'Error: boom',
    ],
    ['JavaScript, frames only', '    at /srv/agent.js:12:7\n    at handle (/srv/agent.js:12:7)', undefined],
    [
      'Python',
      'Traceback (most recent call last):\n  File "/srv/agent.py", line 12, in handle\n    run()\nValueError: boom',
      'ValueError: boom',
    ],
    [
      'Python, after a text',
      'It failed.\nTraceback (most recent call last):\n  File "/srv/agent.py", line 12\nValueError: boom',
      'It failed.',
    ],
    [
      'Java',
      'java.lang.IllegalStateException: boom\r\n\tat com.example.Agent.handle(Agent.java:12)\r\n\t... 12 more',
      'java.lang.IllegalStateException: boom',
    ],
    [
      '.NET',
      'System.Exception: boom\n   at Agent.Handle(String text) in /srv/Agent.cs:line 12',
      'System.Exception: boom',
    ],
    ['Go', 'panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/srv/main.go:12 +0x1d', 'panic: boom'],
    ['Ruby', "boom\n/srv/agent.rb:12:in 'handle'\n\tfrom /srv/agent.rb:20:in 'run'", 'boom'],
    ['PHP', 'boom\n#0 /srv/agent.php(12): handle()\n#1 {main}', 'boom'],
    ['Rust', 'boom\nstack backtrace:\n   0: agent::handle', 'boom'],
  ])('keeps the text before the trace: %s', (_, text, expected) => {
    expect(clean(text)).toBe(expected)
    expect(clean({ reason: { deep: [text] } })).toEqual({ reason: { deep: expected === undefined ? [] : [expected] } })
  })

  it.each<[JsonObject, JsonObject]>([
    [{ stack: 'Error: boom\n    at a (/srv/a.js:1:2)', code: 'E1' }, { code: 'E1' }],
    [{ stack: ['a', 'b'] }, {}],
    [{ stackTrace: 'anything', a: 1 }, { a: 1 }],
    [{ stack_trace: { frames: [] } }, {}],
    [{ stackEntries: ['one'], detail: 'kept' }, { detail: 'kept' }],
    [{ details: { traceback: 'x' }, backtrace: [] }, { details: {} }],
  ])('removes the members that are one: %j', (data, expected) => {
    expect(clean(data)).toEqual(expected)
  })

  it.each<Json>([
    { stack: 'LIFO' },
    { stack: 3, stackTrace: null, traceback: false },
    'Meet me at noon: 12:30:15 is too late',
    'at the station (at 12)',
    'File "a.txt" is missing',
    ['a', { b: [1, null] }],
  ])('returns the same error where there is none: %j', data => {
    const error = { code: -32603, message: 'boom', data }
    expect(removeStackTraces(error)).toBe(error)
  })

  it.each([
    ['Java', `at a.b(${') in '.repeat(190)}\r.\n`],
    ['Python', `File "a${'", line 1, in '.repeat(70)}\u2028.\n`],
  ])('tries each place of a line once, whatever line terminators are in it: %s', (_, line) => {
    const error = { code: 1, message: 'boom', data: line.repeat(4000) }
    expect(isFasterThan(100, () => removeStackTraces(error))).toBe(true)
  })

  // Anything quadratic takes longer than a test may.
  it('takes time in proportion to the length of a text', () => {
    const parts = [
      '\n',
      'at a.b( in ',
      'at a.b() in',
      ' at x:1',
      'File "a", line 1',
      '#1 a(1',
      'from a.rb:1',
      'goroutine 1 [',
      ' ',
    ]
    for (const part of parts) {
      const cleaned = removeStackTraces({ code: 1, message: 'boom', data: `\n${part.repeat(300_000)}x` })
      expect(cleaned).toHaveProperty('code', 1)
    }
  })

  it('removes a trace from the message, which is required', () => {
    expect(removeStackTraces({ code: 1, message: 'boom\n    at a (/srv/a.js:1:2)' })).toEqual({
      code: 1,
      message: 'boom',
    })
    expect(removeStackTraces({ code: 1, message: '    at a (/srv/a.js:1:2)' })).toEqual({
      code: 1,
      message: 'Internal error',
    })
  })

  it('keeps raw numbers', () => {
    const number = JSON.rawJSON('12345678901234567890') as Json
    expect(JSON.stringify(clean({ number, stackTrace: 'x' }))).toBe('{"number":12345678901234567890}')
  })
})
