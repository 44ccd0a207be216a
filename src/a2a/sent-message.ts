import { isJsonObject, type Json, type JsonObject, toText } from '../json/index.ts'
import { type InvalidParams, invalidParam } from './call-error.ts'
import { type EnumValue, type Form, formOf, roles, shapes, taskStates } from './forms.ts'
import { isPlainObject } from './jsonrpc.ts'
import { type A2ACall, operations } from './operations.ts'

/** Returns the form of a call. Over HTTP, some clients of 0.3 write messages with `kind`. */
export const formOfCall = (call: A2ACall): Form => {
  const message = messageOf(call.params)
  const form = formOf(call)
  const hasKinds = isJsonObject(message) && Array.isArray(message.parts) && !/^ROLE_/.test(toText(message.role))
  return form === 'proto-0.3' && hasKinds ? 'json-0.3' : form
}

/** Over HTTP, 0.3 has two names for the message. */
export const messageOf = ({ message, request }: JsonObject): Json | undefined => message ?? request

/** Rejects a message without the shape of its version, and an unknown state to list tasks by. Unknown members pass. */
export const checkMessage = (call: A2ACall): InvalidParams | undefined => {
  const { operation, params } = call
  if (!operations[operation].sends) return checkState(params.status)
  const message = messageOf(params)
  const name = (params.message ?? undefined) === undefined && message !== undefined ? 'request' : 'message'
  const form = formOfCall(call)
  const fault = findForeign(message, form) ?? shapes[form].sentMessage(message)
  if (fault === undefined) return undefined
  const [, path = '', description = ''] = /^(\S*) (.*)$/.exec(fault) ?? []
  const values = path === '.role' ? roles.slice(1) : []
  return invalidParam(name + path, withValue(description, valueAt(message, path, form), values, form))
}

/** Checks a state to list tasks by, which only 1.0 has. */
const checkState = (state: Json | undefined): InvalidParams | undefined => {
  const form = 'proto-1.0'
  const known = taskStates.flatMap((names, number) => [names[form], number, String(number)])
  if (known.includes(state as string) || (state ?? '') === '') return undefined
  return invalidParam('status', withValue('must be a task state', state, taskStates, form))
}

/** Removes `kind`, which only 0.3 has, from a message of 1.0 and its parts. Returns whether it was there. */
export const removeKinds = ({ version, params: { message } }: Pick<A2ACall, 'version' | 'params'>): boolean => {
  if (version !== '1.0' || !isJsonObject(message)) return false
  const parts = Array.isArray(message.parts) ? message.parts : []
  const named = [message, ...parts].filter(object => isJsonObject(object) && KINDS.has(object.kind))
  for (const object of named) delete (object as JsonObject).kind
  return named.length > 0
}

const KINDS: ReadonlySet<unknown> = new Set(['message', 'text', 'data', 'file'])

const versionNames = { 'json-0.3': 'A2A 0.3', 'proto-0.3': 'A2A 0.3 over HTTP', 'proto-1.0': 'A2A 1.0' } as const

/** The members of other forms, and their replacement: in a part, in its `file`, in a message without parts. */
const foreignNames: Readonly<Record<Form, Readonly<Record<'part' | 'file' | 'message', Record<string, string>>>>> = {
  'json-0.3': {
    part: { raw: '`file.bytes`', url: '`file.uri`' },
    file: { fileWithBytes: '`bytes`', fileWithUri: '`uri`', mediaType: '`mimeType`' },
    message: { content: '`parts`' },
  },
  'proto-0.3': {
    part: { raw: '`file.fileWithBytes`', url: '`file.fileWithUri`' },
    file: { bytes: '`fileWithBytes`', uri: '`fileWithUri`', mediaType: '`mimeType`' },
    message: { parts: '`content`' },
  },
  'proto-1.0': {
    part: { file: '`raw` or `url`', mimeType: '`mediaType`' },
    file: {},
    message: { content: '`parts`' },
  },
}

/** Finds a member that means something in another form only. */
const findForeign = (message: Json | undefined, form: Form): string | undefined => {
  const find = (kind: 'part' | 'file' | 'message', object: Json | undefined, path: string): string | undefined => {
    const names = foreignNames[form][kind]
    const found = isJsonObject(object) ? Object.keys(names).find(name => (object[name] ?? null) !== null) : undefined
    return found && `${path}.${found} is not part of ${versionNames[form]}: use ${names[found]}`
  }
  const { messageParts } = shapes[form]
  const parts = isJsonObject(message) ? (message[messageParts] ?? undefined) : undefined
  if (parts === undefined) return find('message', message, '')
  for (const [index, part] of Array.isArray(parts) ? parts.entries() : []) {
    const path = `.${messageParts}[${index}]`
    const found = find('part', part, path) ?? find('file', isJsonObject(part) ? part.file : undefined, `${path}.file`)
    if (found !== undefined) return found
  }
  return undefined
}

/** Returns what is at a path such as `.parts[0].text`. */
const valueAt = (message: Json | undefined, path: string, form: Form): Json | undefined =>
  (path.match(/[^.[\]]+/g) ?? []).reduce<Json | undefined>((value, name) => {
    if (Array.isArray(value)) return value[Number(name)]
    return isJsonObject(value) ? shapes[form].read(value, name) : undefined
  }, message)

/** Adds the value that was sent to what must be there; if it means one of `values`, names its spelling in the form. */
const withValue = (description: string, value: Json | undefined, values: readonly EnumValue[], form: Form): string => {
  if (!description.startsWith('must be ')) return description
  if ((value ?? null) === null) return `${description}, but is missing`
  if (isPlainObject(value)) return `${description}, not an object`
  if (Array.isArray(value)) return `${description}, not ${value.length === 0 ? 'an empty list' : 'a list'}`
  const sent = typeof value === 'string' ? value.slice(0, MAX_SHOWN_LENGTH) : value
  const meaning = normalize(toText(sent))
  const spelling = values.find(names => Object.values(names).some(name => normalize(name) === meaning))?.[form]
  const required = spelling === undefined ? description : `must be ${spelling} in ${versionNames[form]}`
  return `${required}, not ${JSON.stringify(sent)}`
}

/** Longer than any name of a value. */
const MAX_SHOWN_LENGTH = 50

/** Reduces the spellings of a value in all forms to one. */
const normalize = (value: string): string =>
  value
    .toLowerCase()
    .replace(/^(?:role|task_state)_/, '')
    .replaceAll('_', '-')
