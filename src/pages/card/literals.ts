import { isJsonObject, type Json, jsonEntries } from '../../json/index.ts'
import { visibleJson } from './text.ts'

// Untrusted values as source code: whatever they are, they end no literal, and have no character that is invisible.

/** Quotes a text for a POSIX shell. */
export const shell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** A text, and a variable after it, as one word of a shell. */
export const shellWith = (text: string, variable: string): string =>
  /^[\w /:;,.=-]*$/.test(text) ? `"${text}$${variable}"` : `${shell(text)}"$${variable}"`

/** Writes a text as a literal of JavaScript, in single quotes where it has none. */
export const javascriptText = (text: string): string => {
  const literal = visibleJson(text)
  return /'|\\"/.test(literal) ? literal : `'${literal.slice(1, -1)}'`
}

/** Writes JSON as a literal of JavaScript. */
export const javascriptValue = (value: Json): string => {
  if (typeof value === 'string') return javascriptText(value)
  if (Array.isArray(value)) return `[${value.map(javascriptValue).join(', ')}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  const members = jsonEntries(value).map(([name, member]) => {
    // As the name of a member, this one sets the prototype.
    const key = name === '__proto__' ? `['${name}']` : /^[a-z_$][\w$]*$/i.test(name) ? name : javascriptText(name)
    return `${key}: ${javascriptValue(member)}`
  })
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

/** Writes a text as Python reads it: JSON, but with one escape for a character that has two units in JSON. */
export const pythonText = (text: string): string =>
  visibleJson(text.toWellFormed()).replace(/\\u(d[89ab]\p{AHex}{2})\\u(d[c-f]\p{AHex}{2})/gu, (_, high, low) => {
    const character = String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16))
    return `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`
  })

/** Writes JSON as a literal of Python. */
export const pythonValue = (value: Json): string => {
  if (typeof value === 'string') return pythonText(value)
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (value === null) return 'None'
  if (Array.isArray(value)) return `[${value.map(pythonValue).join(', ')}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  return `{${jsonEntries(value)
    .map(([name, member]) => `${pythonText(name)}: ${pythonValue(member)}`)
    .join(', ')}}`
}
