import { isPlainObject } from '../../a2a/jsonrpc.ts'
import { isJsonObject, type Json, type JsonObject } from '../../json/json.ts'

/**
 * Removes the stack traces from an error of an agent, which show callers its code and where it is. Returns the same object if it has
 * none.
 */
export const removeStackTraces = (error: JsonObject): JsonObject => {
  const cleaned = removeFrom(error)
  if (cleaned === error || !isJsonObject(cleaned)) return error
  // The message of an error is required.
  return typeof error.message === 'string' ? { ...cleaned, message: cleaned.message ?? 'Internal error' } : cleaned
}

/** Names of members that contain nothing but a stack trace, such as `stackEntries` of google.rpc.DebugInfo. */
const TRACE_NAME = /^(?:stack_?trace|stack_?entries|trace_?back|back_?trace)$/i

/** Returns a value without stack traces, the same one if it has none; undefined if it is nothing else. */
const removeFrom = (value: Json): Json | undefined => {
  if (typeof value === 'string') return beforeTrace(value)
  if (Array.isArray(value)) {
    const cleaned = value.map(removeFrom)
    return cleaned.some((item, index) => item !== value[index]) ? cleaned.filter(item => item !== undefined) : value
  }
  if (!isPlainObject(value)) return value
  const entries = Object.entries(value) as [string, Json][]
  const cleaned = entries.map(([name, member]): [string, Json | undefined] => [name, removeMember(name, member)])
  return cleaned.some(([, member], index) => member !== entries[index]?.[1])
    ? (Object.fromEntries(cleaned.filter(([, member]) => member !== undefined)) as JsonObject)
    : value
}

const removeMember = (name: string, value: Json): Json | undefined => {
  if (value === null || typeof value === 'boolean') return value
  if (TRACE_NAME.test(name)) return undefined
  const cleaned = removeFrom(value)
  // The property of JavaScript. In other languages, a stack may be something else.
  return name === 'stack' && (cleaned !== value || Array.isArray(value)) ? undefined : cleaned
}

/**
 * Lines of stack traces, as the runtimes write them that agents are built on. Where a frame may end with any text, the flag `s` lets
 * that text reach the end of the line, whatever is in it: else each place at which it may begin would be tried up to the same character.
 */
const FRAMES: readonly RegExp[] = [
  // JavaScript: `at handle (/srv/agent.js:12:7)`, `at async file:///srv/agent.js:12:7`.
  /^\s*at \S.*:\d+:\d+\)?$/,
  // Java: `at com.example.Agent.handle(Agent.java:12)`. .NET: `at Agent.Handle(String text) in /srv/Agent.cs:line 12`.
  /^\s*at [\w$<>`+[\],/]+(?:\.[\w$<>`+[\],/]+)+\(.*\)(?: in .+)?$/s,
  // Python.
  /^\s*Traceback \(most recent call last\):$/,
  /^\s*File ".+", line \d+(?:, in .+)?$/s,
  // Go.
  /^goroutine \d+ \[.+\]:$/,
  // Ruby: `/srv/agent.rb:12:in 'handle'`. PHP: `#0 /srv/agent.php(12): handle()`.
  /^\s*(?:from )?\S+\.rb:\d+:in .+$/,
  /^#\d+ \S+\(\d+\): .+$/,
  // Rust.
  /^stack backtrace:$/,
]

/** The bounds of what can be a line of a stack trace, in characters. */
const MIN_LINE_LENGTH = 8
const MAX_LINE_LENGTH = 1000

const isFrame = (line: string): boolean =>
  line.length >= MIN_LINE_LENGTH && line.length <= MAX_LINE_LENGTH && FRAMES.some(frame => frame.test(line))

/** Returns the index at which a stack trace begins in a text, or -1. */
const findTrace = (text: string): number => {
  for (let start = 0, end = 0; end >= 0; start = end + 1) {
    end = text.indexOf('\n', start)
    const line = text.slice(start, end < 0 ? undefined : end)
    if (isFrame(line.trimEnd())) return start
  }
  return -1
}

/** Returns a text up to its stack trace; where a trace of Python is all, the error at its end. Undefined if nothing is left. */
const beforeTrace = (text: string): string | undefined => {
  const start = findTrace(text)
  if (start < 0) return text
  const before = text.slice(0, start).trim()
  if (before !== '') return before
  const trace = text.trim()
  const last = trace.slice(trace.lastIndexOf('\n') + 1)
  return trace.startsWith('Traceback ') && /^\w/.test(last) && !isFrame(last) ? last : undefined
}
