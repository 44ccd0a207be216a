import { type Form, formOf, type Protocol, versions, type WireVersion, wireVersions } from '../card/model/index.ts'
import { isJsonObject, type Json, type JsonObject } from '../json/index.ts'
import { isPlainObject } from './jsonrpc.ts'

export { type Form, formOf }

/** Every form of objects. */
export const forms = [...new Set(wireVersions.flatMap(version => Object.values(versions[version].forms)))]

/** Returns the form in which a result is written. Over HTTP, 0.3 has two; the one with `kind` shows it. */
export const formOfResult = (protocol: Protocol, result: unknown): Form => {
  const form = formOf(protocol)
  if (form !== 'proto-0.3') return form
  const first = Array.isArray(result) ? result[0] : result
  return isJsonObject(first) && (typeof first.kind === 'string' || Array.isArray(result)) ? 'json-0.3' : form
}

/** The objects that a result or an event can be: their names in ProtoJSON, and their `kind`. */
export const resultKinds = {
  task: 'task',
  message: 'message',
  statusUpdate: 'status-update',
  artifactUpdate: 'artifact-update',
} as const
export type ResultName = keyof typeof resultKinds

export const resultNames = Object.keys(resultKinds) as ResultName[]

// ProtoJSON

const snakeNames = new Map<string, string>()

/** Converts each name once: it must be one that A2A has, not one that an agent or a caller sends. */
const toSnakeCase = (name: string): string => {
  const converted = snakeNames.get(name) ?? name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
  snakeNames.set(name, converted)
  return converted
}

/** Returns the two names that ProtoJSON has for a member of A2A. */
export const protoNames = (name: string): [camelCase: string, snakeCase: string] => [name, toSnakeCase(name)]

/** Reads a member of A2A under either name; undefined if it is absent or null. */
export const readProto: ReadMember = (object, name) => object[name] ?? object[toSnakeCase(name)] ?? undefined

/** The name that the proto of 0.3 has for a message as a result; its JSON has `message`. */
const WRAPPED_MESSAGE_V03 = 'msg'

/** Reads the object that is the only member of a result in ProtoJSON. */
export const readWrapped = (result: JsonObject, name: string, form: Form): Json | undefined =>
  readProto(result, name) ??
  (form === 'proto-0.3' && name === 'message' ? (result[WRAPPED_MESSAGE_V03] ?? undefined) : undefined)

/** The names of the member of a result in ProtoJSON that is the object itself. */
export const wrappers: readonly (readonly [wrapper: string, name: ResultName])[] = [
  ...resultNames.flatMap(name => protoNames(name).map(wrapper => [wrapper, name] as const)),
  [WRAPPED_MESSAGE_V03, 'message'],
]

// Enumerations

/** A value of an enumeration in each form. Its index is its number in ProtoJSON. */
export type EnumValue = Readonly<Partial<Record<Form, string>>>

const inProto = (name: string): EnumValue => ({ 'proto-0.3': name, 'proto-1.0': name })

export const roles: readonly EnumValue[] = [
  inProto('ROLE_UNSPECIFIED'),
  { 'json-0.3': 'user', ...inProto('ROLE_USER') },
  { 'json-0.3': 'agent', ...inProto('ROLE_AGENT') },
]

export const taskStates: readonly EnumValue[] = [
  { 'json-0.3': 'unknown', ...inProto('TASK_STATE_UNSPECIFIED') },
  { 'json-0.3': 'submitted', ...inProto('TASK_STATE_SUBMITTED') },
  { 'json-0.3': 'working', ...inProto('TASK_STATE_WORKING') },
  { 'json-0.3': 'completed', ...inProto('TASK_STATE_COMPLETED') },
  { 'json-0.3': 'failed', ...inProto('TASK_STATE_FAILED') },
  { 'json-0.3': 'canceled', 'proto-0.3': 'TASK_STATE_CANCELLED', 'proto-1.0': 'TASK_STATE_CANCELED' },
  { 'json-0.3': 'input-required', ...inProto('TASK_STATE_INPUT_REQUIRED') },
  { 'json-0.3': 'rejected', ...inProto('TASK_STATE_REJECTED') },
  { 'json-0.3': 'auth-required', ...inProto('TASK_STATE_AUTH_REQUIRED') },
]

// Checks

/** Returns what is wrong with a value: a path and what must be there, as in `.status.state must be a task state`. */
export type Check = (value: unknown) => string | undefined

/** Reads a member of an object under the names that the form has for it; undefined if it is absent or null. */
type ReadMember = (object: JsonObject, field: string) => Json | undefined

/** The objects of A2A in one form. */
export type Shapes = ReturnType<typeof createShapes>

const check =
  (description: string, isValid: (value: unknown) => boolean): Check =>
  value =>
    isValid(value) ? undefined : ` must be ${description}`

const string = check('a string', value => typeof value === 'string')
const nonEmpty = check('a string that is not empty', value => typeof value === 'string' && value !== '')
const integer = check('an integer', value => Number.isInteger(value))
const someParts = check('a list of at least one part', value => Array.isArray(value) && value.length > 0)
const boolean = check('true or false', value => typeof value === 'boolean')
const object = check('an object', isPlainObject)

const oneOf = (description: string, values: readonly unknown[]): Check => {
  const known = new Set(values)
  return check(description, value => known.has(value))
}

const list =
  (item: Check): Check =>
  value => {
    if (!Array.isArray(value)) return ' must be a list'
    for (let index = 0; index < value.length; index++) {
      const fault = item(value[index])
      if (fault !== undefined) return `[${index}]${fault}`
    }
    return undefined
  }

const both =
  (first: Check, second: Check): Check =>
  value =>
    first(value) ?? second(value)

type Fields = Readonly<Record<string, Check>>

/** Checks the members of an object. Unknown members are ignored, and null counts as absent. */
const objectWith = (read: ReadMember, required: Fields, optional: Fields = {}): Check => {
  const fields = Object.entries({ ...required, ...optional }).map(([name, checkMember]) => ({
    name,
    checkMember,
    isRequired: name in required,
  }))
  return value => {
    if (!isPlainObject(value)) return ' must be an object'
    for (const { name, checkMember, isRequired } of fields) {
      const member = read(value, name)
      if (member === undefined && !isRequired) continue
      const fault = checkMember(member)
      if (fault !== undefined) return `.${name}${fault}`
    }
    return undefined
  }
}

const readPlain: ReadMember = (value, field) => value[field] ?? undefined

// Errors

/** Checks an error object of JSON-RPC, or the `error` of a google.rpc.Status. */
export const checkError: Check = objectWith(readPlain, { code: integer, message: string })

const checkErrorMessage = objectWith(readPlain, { message: string })

/** Checks an error of 0.3 over HTTP: an error object of JSON-RPC, of which Python's server sends only the message. */
export const checkBareError: Check = value =>
  (isJsonObject(value) && value.code === undefined ? checkErrorMessage : checkError)(value)

/** Checks an Agent Card, whose other fields its own reader checks. */
export const checkCard: Check = objectWith(readPlain, { name: string })

// Objects

/**
 * Builds the shapes of a form. The clients of JSON with `kind` require every member that the schema requires, but for
 * the `kind` of what is inside a result. Writers of ProtoJSON leave out what is empty, and its readers take absence for
 * that.
 */
const createShapes = (form: Form, version: WireVersion) => {
  const isProto = form !== 'json-0.3'
  const read = isProto ? readProto : readPlain
  const id = isProto ? nonEmpty : string
  const messageParts = form === 'proto-0.3' ? 'content' : 'parts'
  const kind = (value: string): Fields => (isProto ? {} : { kind: oneOf(`"${value}"`, [value]) })
  /** Checks an object with members that only JSON with `kind` requires. */
  const objectOf = (required: Fields, emptiable: Fields, optional: Fields): Check =>
    isProto
      ? objectWith(read, required, { ...emptiable, ...optional })
      : objectWith(read, { ...required, ...emptiable }, optional)
  /** Readers of ProtoJSON accept the number of a value, too. */
  const enumOf = (description: string, values: readonly EnumValue[]): Check => {
    const names = values.flatMap(value => value[form] ?? [])
    return oneOf(description, isProto ? [...names, ...names.keys()] : names)
  }
  const parts = list(partShapes[form]())
  const innerMessage = objectOf(
    { messageId: id },
    { role: enumOf(isProto ? 'ROLE_USER or ROLE_AGENT' : 'user or agent', roles), [messageParts]: parts },
    { ...kind('message'), ...metadata, taskId: string, contextId: string },
  )
  const sender = oneOf('ROLE_USER or ROLE_AGENT', ['ROLE_USER', 'ROLE_AGENT', 1, 2])
  const state = enumOf('a task state', taskStates)
  const status = objectWith(read, { state }, { message: innerMessage, timestamp: string })
  const artifact = objectOf({ artifactId: id }, { parts }, { ...metadata, name: string, description: string })
  const context = { contextId: string }
  const config = objectWith(read, { url: string })
  return {
    read,
    form,
    /** The name of the parts of a message. */
    messageParts,
    /** The version whose parts these are. */
    version,
    message: isProto ? innerMessage : both(objectWith(read, kind('message')), innerMessage),
    /** A message of a caller, who may leave out its `kind`, but not its role and, in ProtoJSON, its parts. */
    sentMessage: isProto
      ? both(innerMessage, objectWith(read, { role: sender, [messageParts]: someParts }))
      : innerMessage,
    task: objectOf({ ...kind('task'), id: nonEmpty, status }, context, {
      ...metadata,
      artifacts: list(artifact),
      history: list(innerMessage),
    }),
    statusUpdate: objectOf(
      { ...kind('status-update'), taskId: nonEmpty, status, ...(!isProto && { final: boolean }) },
      context,
      metadata,
    ),
    artifactUpdate: objectOf({ ...kind('artifact-update'), taskId: nonEmpty, artifact }, context, {
      ...metadata,
      append: boolean,
      lastChunk: boolean,
    }),
    pushConfig:
      form === 'proto-1.0'
        ? both(config, namesTaskOrItself)
        : objectWith(read, { [isProto ? 'name' : 'taskId']: nonEmpty, pushNotificationConfig: config }),
  }
}

/** Rejects a configuration with neither a task nor an id: a card has a URL, too. */
const namesTaskOrItself: Check = value =>
  nonEmpty(readProto(value as JsonObject, 'taskId')) && objectWith(readProto, { id: nonEmpty })(value)

/** Checks that an object has exactly one of some members. */
const hasOne =
  (read: ReadMember, ...fields: readonly string[]): Check =>
  value => {
    let count = 0
    for (const field of fields) if (read(value as JsonObject, field) !== undefined) count++
    return count === 1 ? undefined : ` must have exactly one of ${fields.join(', ')}`
  }

const metadata = { metadata: object }

const partShapes: Readonly<Record<Form, () => Check>> = {
  'json-0.3': () => {
    const file = objectWith(readPlain, {}, { bytes: string, uri: string, name: string, mimeType: string })
    const contents: Readonly<Record<string, Check>> = {
      text: objectWith(readPlain, { text: string }, metadata),
      data: objectWith(readPlain, { data: object }, metadata),
      file: objectWith(readPlain, { file: both(file, hasOne(readPlain, 'bytes', 'uri')) }, metadata),
    }
    const names = Object.keys(contents)
    // Hand-written agents leave out the `kind`.
    return both(objectWith(readPlain, {}, { kind: oneOf('text, data or file', names) }), value => {
      const present = (name: string) => readPlain(value as JsonObject, name) !== undefined
      const name = present('kind') ? (value as { kind: string }).kind : names.find(present)
      return name === undefined ? ' must have one of text, data, file' : contents[name]?.(value)
    })
  },
  'proto-0.3': () => {
    const fields = { fileWithBytes: string, fileWithUri: string, mimeType: string, name: string }
    const file = both(objectWith(readProto, {}, fields), hasOne(readProto, 'fileWithBytes', 'fileWithUri'))
    const contents = objectWith(readProto, {}, { ...metadata, text: string, file, data: object })
    return both(contents, hasOne(readProto, 'text', 'file', 'data'))
  },
  'proto-1.0': () => {
    const file = { raw: string, url: string, filename: string, mediaType: string }
    const hasContent = hasOne(readProto, 'text', 'raw', 'url', 'data')
    // Null is a value of `data`, too.
    return both(objectWith(readProto, {}, { ...metadata, text: string, ...file }), value =>
      (value as JsonObject).data === null ? undefined : hasContent(value),
    )
  },
}

/** The shapes of every form. */
export const shapes: Readonly<Record<Form, Shapes>> = {
  'json-0.3': createShapes('json-0.3', '0.3'),
  'proto-0.3': createShapes('proto-0.3', '0.3'),
  'proto-1.0': createShapes('proto-1.0', '1.0'),
}
