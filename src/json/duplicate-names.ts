import { formatPointer, type Json, type Pointer } from './json.ts'
import { endOfString, type Parsed, parseJson, QUOTE } from './parse.ts'

const MAX_POINTER_LENGTH = 200

/** A text in which an object has a name twice, for people: `message` completes a sentence about `pointer`. */
type Ambiguous = { refused: 'duplicate-name'; detail: string; pointer: Pointer; message: string }

/** Parses JSON as `parseJson` does, unless an object has a name twice: two readers could see different values. */
export const parseUnambiguous = (text: string, expected?: string): Parsed | Ambiguous => {
  const parsed = parseJson(text, expected)
  const duplicate = 'value' in parsed && hasDuplicateName(text, parsed.value) ? findDuplicateName(text) : undefined
  if (duplicate === undefined) return parsed
  const pointer = duplicate.pointer.slice(0, MAX_POINTER_LENGTH).toWellFormed()
  const message = `is in its object twice, for the second time in line ${duplicate.line}`
  return { refused: 'duplicate-name', detail: `${pointer} ${message}: remove one of the two.`, pointer, message }
}

/** Returns the first name that an object of valid JSON has already, and its line, in linear time; else undefined. */
export const findDuplicateName = (text: string): { pointer: Pointer; line: number } | undefined => {
  // Objects and arrays: the names that an object has, and the member or item that is being read.
  const containers: { names: Set<string> | undefined; token: string | number }[] = []
  let isName = false
  for (const { 0: found, index } of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],]/g)) {
    const container = containers.at(-1)
    if (found === '{') containers.push({ names: new Set(), token: '' })
    else if (found === '[') containers.push({ names: undefined, token: 0 })
    else if (found === '}' || found === ']') containers.pop()
    else if (found === ',') {
      if (typeof container?.token === 'number') container.token++
    } else if (isName && container?.names) {
      const name = String(JSON.parse(found))
      container.token = name
      if (container.names.has(name)) {
        const pointer = formatPointer(...containers.map(({ token }) => token))
        return { pointer, line: text.slice(0, index).split('\n').length }
      }
      container.names.add(name)
    }
    isName = found === '{' || (found === ',' && container?.names !== undefined)
  }
  return undefined
}

/**
 * Checks whether an object of a JSON text has a name twice: then its parsed `value` has fewer names. Much faster than
 * `findDuplicateName`, for the responses to calls. The value must not nest too deeply for a recursion.
 */
export const hasDuplicateName = (text: string, value: Json): boolean => {
  const members = countMembers(value)
  return countColons(text) > members && countNames(text) > members
}

const COLON = 0x3a

/** Counts the colons after a quote: at least as many as names, and more only if a string has one. Faster than these. */
const countColons = (text: string): number => {
  let count = 0
  for (let at = text.indexOf(':'); at >= 0; at = text.indexOf(':', at + 1)) {
    let before = at - 1
    while (text.charCodeAt(before) <= 0x20) before--
    if (text.charCodeAt(before) === QUOTE) count++
  }
  return count
}

/** Counts the strings with a colon after them. */
const countNames = (text: string): number => {
  let count = 0
  for (let start = text.indexOf('"'); start >= 0; ) {
    let next = endOfString(text, start) + 1
    while (text.charCodeAt(next) <= 0x20) next++
    if (text.charCodeAt(next) === COLON) count++
    start = text.indexOf('"', next)
  }
  return count
}

const countMembers = (value: Json): number => {
  let count = 0
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') count += countMembers(item)
  } else if (value !== null && typeof value === 'object') {
    for (const name in value) {
      count++
      const member = value[name]
      if (typeof member === 'object') count += countMembers(member)
    }
  }
  return count
}
