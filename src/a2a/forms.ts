import type { Protocol } from '../card/model/index.ts'
import { isJsonObject, type Json, type JsonObject } from '../json/index.ts'

/**
 * The forms in which agents write objects of A2A: plain JSON with `kind`, which is 0.3's over JSON-RPC; and ProtoJSON, which is that
 * of 1.0, and of 0.3 over HTTP.
 */
export const forms = ['kinds', 'proto 0.3', 'proto 1.0'] as const
export type Form = (typeof forms)[number]

/** Returns the form of objects in a binding and version. Over HTTP, the official agents and clients of 0.3 write ProtoJSON. */
export const formOf = ({ binding, version }: Protocol): Form => {
  if (version === '1.0') return 'proto 1.0'
  return binding === 'JSONRPC' ? 'kinds' : 'proto 0.3'
}

/** Returns the form in which a result is written. Over HTTP, 0.3 has two; the one with `kind` shows it. */
export const formOfResult = (protocol: Protocol, result: unknown): Form => {
  const form = formOf(protocol)
  if (form !== 'proto 0.3') return form
  const first = Array.isArray(result) ? result[0] : result
  return isJsonObject(first) && (typeof first.kind === 'string' || Array.isArray(result)) ? 'kinds' : form
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

/** Each name is converted once: it must be one that A2A has, not one that an agent or a caller sends. */
const toSnakeCase = (name: string): string => {
  const known = snakeNames.get(name)
  if (known !== undefined) return known
  const converted = name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
  snakeNames.set(name, converted)
  return converted
}

/** Returns the two names that ProtoJSON has for a member of A2A. */
export const protoNames = (name: string): [camelCase: string, snakeCase: string] => [name, toSnakeCase(name)]

/** Reads a member of A2A under either name; undefined if it is absent or null. */
export const readProto = (object: JsonObject, name: string): Json | undefined =>
  object[name] ?? object[toSnakeCase(name)] ?? undefined

/** The name that the proto of 0.3 has for a message as a result; its JSON has `message`. */
const WRAPPED_MESSAGE_V03 = 'msg'

/** Reads the object that is the only member of a result in ProtoJSON. */
export const readWrapped = (result: JsonObject, name: string, form: Form): Json | undefined =>
  readProto(result, name) ??
  (form === 'proto 0.3' && name === 'message' ? (result[WRAPPED_MESSAGE_V03] ?? undefined) : undefined)

/** The names of the member of a result in ProtoJSON that is the object itself. */
export const wrappers: readonly (readonly [wrapper: string, name: ResultName])[] = [
  ...resultNames.flatMap(name => protoNames(name).map(wrapper => [wrapper, name] as const)),
  [WRAPPED_MESSAGE_V03, 'message'],
]

// Enumerations

/** A value of an enumeration in each form. Its index is its number in ProtoJSON. */
export type EnumValue = Readonly<Partial<Record<Form, string>>>

const inProto = (name: string): EnumValue => ({ 'proto 0.3': name, 'proto 1.0': name })

export const roles: readonly EnumValue[] = [
  inProto('ROLE_UNSPECIFIED'),
  { kinds: 'user', ...inProto('ROLE_USER') },
  { kinds: 'agent', ...inProto('ROLE_AGENT') },
]

export const taskStates: readonly EnumValue[] = [
  { kinds: 'unknown', ...inProto('TASK_STATE_UNSPECIFIED') },
  { kinds: 'submitted', ...inProto('TASK_STATE_SUBMITTED') },
  { kinds: 'working', ...inProto('TASK_STATE_WORKING') },
  { kinds: 'completed', ...inProto('TASK_STATE_COMPLETED') },
  { kinds: 'failed', ...inProto('TASK_STATE_FAILED') },
  { kinds: 'canceled', 'proto 0.3': 'TASK_STATE_CANCELLED', 'proto 1.0': 'TASK_STATE_CANCELED' },
  { kinds: 'input-required', ...inProto('TASK_STATE_INPUT_REQUIRED') },
  { kinds: 'rejected', ...inProto('TASK_STATE_REJECTED') },
  { kinds: 'auth-required', ...inProto('TASK_STATE_AUTH_REQUIRED') },
]
