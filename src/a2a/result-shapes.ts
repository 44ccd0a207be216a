import type { WireVersion } from '../card/model/index.ts'
import { isJsonObject, type Json, type JsonObject } from '../json/index.ts'
import { type EnumValue, type Form, readProto, roles, taskStates } from './forms.ts'
import { isPlainObject } from './jsonrpc.ts'

/** Returns what is wrong with a value: a path and what must be there, such as `.status.state must be a task state`. */
export type Check = (value: unknown) => string | undefined

/** Reads a member of an object under the names that the form has for it; undefined if it is absent or null. */
type ReadMember = (object: JsonObject, field: string) => Json | undefined

/** The objects of A2A in one form. */
export type Shapes = Readonly<
  Record<'task' | 'message' | 'statusUpdate' | 'artifactUpdate' | 'pushConfig', Check> & {
    /** A message of a caller, who may leave out its `kind`, but not its role and, in ProtoJSON, its parts. */
    sentMessage: Check
    read: ReadMember
    form: Form
    /** The name of the parts of a message. */
    messageParts: 'parts' | 'content'
    /** The version whose parts these are. */
    version: WireVersion
  }
>

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
  const fields = [
    ...Object.entries(required).map(([name, checkMember]) => ({ name, checkMember, isRequired: true })),
    ...Object.entries(optional).map(([name, checkMember]) => ({ name, checkMember, isRequired: false })),
  ]
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

/** Checks an error of 0.3 over HTTP, which is an error object of JSON-RPC. The official Python server sends only its message. */
export const checkBareError: Check = value =>
  (isJsonObject(value) && value.code === undefined ? checkErrorMessage : checkError)(value)

/** An Agent Card, whose other fields its own reader checks. */
export const checkCard: Check = objectWith(readPlain, { name: string })

// Objects

const metadata = { metadata: object }

const namesIn = (form: Form, values: readonly EnumValue[]): string[] => values.flatMap(value => value[form] ?? [])

/**
 * JSON with `kind`, whose official clients require every member that the schema requires, but for the `kind` of what is inside a
 * result: hand-written agents leave it out of parts.
 */
const kindShapes = (): Shapes => {
  const kind = (value: string) => ({ kind: oneOf(`"${value}"`, [value]) })
  const file = objectWith(readPlain, {}, { bytes: string, uri: string, name: string, mimeType: string })
  const contents: Readonly<Record<string, Check>> = {
    text: objectWith(readPlain, { text: string }, metadata),
    data: objectWith(readPlain, { data: object }, metadata),
    file: objectWith(readPlain, { file: both(file, hasOne(readPlain, ['bytes', 'uri'])) }, metadata),
  }
  const names = Object.keys(contents)
  const part = both(objectWith(readPlain, {}, { kind: oneOf('text, data or file', names) }), value => {
    const present = (name: string) => readPlain(value as JsonObject, name) !== undefined
    const name = present('kind') ? (value as { kind: string }).kind : names.find(present)
    return name === undefined ? ' must have one of text, data, file' : contents[name]?.(value)
  })
  const innerMessage = objectWith(
    readPlain,
    { messageId: string, role: oneOf('user or agent', namesIn('kinds', roles)), parts: list(part) },
    { ...kind('message'), ...metadata, taskId: string, contextId: string },
  )
  const message = both(objectWith(readPlain, kind('message')), innerMessage)
  const state = oneOf('a task state', namesIn('kinds', taskStates))
  const status = objectWith(readPlain, { state }, { message: innerMessage, timestamp: string })
  const artifact = objectWith(
    readPlain,
    { artifactId: string, parts: list(part) },
    { ...metadata, name: string, description: string },
  )
  const ids = { taskId: nonEmpty, contextId: string }
  return {
    read: readPlain,
    form: 'kinds',
    messageParts: 'parts',
    version: '0.3',
    message,
    sentMessage: innerMessage,
    task: objectWith(
      readPlain,
      { ...kind('task'), id: nonEmpty, contextId: string, status },
      { ...metadata, artifacts: list(artifact), history: list(innerMessage) },
    ),
    statusUpdate: objectWith(readPlain, { ...kind('status-update'), ...ids, status, final: boolean }, metadata),
    artifactUpdate: objectWith(
      readPlain,
      { ...kind('artifact-update'), ...ids, artifact },
      { ...metadata, append: boolean, lastChunk: boolean },
    ),
    pushConfig: objectWith(readPlain, {
      taskId: nonEmpty,
      pushNotificationConfig: objectWith(readPlain, { url: string }),
    }),
  }
}

/** ProtoJSON, whose writers leave out what is empty, and whose readers take its absence for that. */
const protoShapes = (version: WireVersion): Shapes => {
  const messageParts = version === '0.3' ? 'content' : 'parts'
  const part = version === '0.3' ? protoPartV03() : protoPartV1()
  const form = `proto ${version}` as const
  const role = protoEnum('ROLE_USER or ROLE_AGENT', namesIn(form, roles))
  const message = objectWith(
    readProto,
    { messageId: nonEmpty },
    { ...metadata, role, [messageParts]: list(part), taskId: string, contextId: string },
  )
  const sender = oneOf('ROLE_USER or ROLE_AGENT', ['ROLE_USER', 'ROLE_AGENT', 1, 2])
  const state = protoEnum('a task state', namesIn(form, taskStates))
  const status = objectWith(readProto, { state }, { message, timestamp: string })
  const artifact = objectWith(
    readProto,
    { artifactId: nonEmpty },
    { ...metadata, parts: list(part), name: string, description: string },
  )
  const ids = { taskId: nonEmpty }
  const config = objectWith(readProto, { url: string })
  return {
    read: readProto,
    form,
    messageParts,
    version,
    message,
    sentMessage: both(message, objectWith(readProto, { role: sender, [messageParts]: someParts })),
    task: objectWith(
      readProto,
      { id: nonEmpty, status },
      { ...metadata, contextId: string, artifacts: list(artifact), history: list(message) },
    ),
    statusUpdate: objectWith(readProto, { ...ids, status }, { ...metadata, contextId: string }),
    artifactUpdate: objectWith(
      readProto,
      { ...ids, artifact },
      { ...metadata, contextId: string, append: boolean, lastChunk: boolean },
    ),
    pushConfig:
      version === '0.3'
        ? objectWith(readProto, { name: nonEmpty, pushNotificationConfig: config })
        : both(config, namesTaskOrItself),
  }
}

/** A card has a URL, too. */
const namesTaskOrItself: Check = value =>
  nonEmpty(readProto(value as JsonObject, 'taskId')) === undefined
    ? undefined
    : objectWith(readProto, { id: nonEmpty })(value)

/** Readers of ProtoJSON accept the number of a value, too. */
const protoEnum = (description: string, names: readonly string[]): Check =>
  oneOf(description, [...names, ...names.keys()])

const protoPartV1 = (): Check =>
  both(
    objectWith(
      readProto,
      {},
      { ...metadata, text: string, raw: string, url: string, filename: string, mediaType: string },
    ),
    // Of `data`, null is a value, too.
    value =>
      (value as JsonObject).data === null ? undefined : hasOne(readProto, ['text', 'raw', 'url', 'data'])(value),
  )

const protoPartV03 = (): Check => {
  const fields = { fileWithBytes: string, fileWithUri: string, mimeType: string, name: string }
  const file = both(objectWith(readProto, {}, fields), hasOne(readProto, ['fileWithBytes', 'fileWithUri']))
  return both(
    objectWith(readProto, {}, { ...metadata, text: string, file, data: object }),
    hasOne(readProto, ['text', 'file', 'data']),
  )
}

/** Checks that an object has exactly one of some members. */
const hasOne =
  (read: ReadMember, fields: readonly string[]): Check =>
  value => {
    let count = 0
    for (const field of fields) if (read(value as JsonObject, field) !== undefined) count++
    return count === 1 ? undefined : ` must have exactly one of ${fields.join(', ')}`
  }

/** The shapes of every form. */
export const shapes: Readonly<Record<Form, Shapes>> = {
  kinds: kindShapes(),
  'proto 0.3': protoShapes('0.3'),
  'proto 1.0': protoShapes('1.0'),
}
