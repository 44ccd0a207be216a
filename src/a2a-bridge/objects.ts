import type { Form } from '../a2a/result-shapes.ts'
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts'
import { translatePart } from './parts.ts'
import { protoNames, type Translation } from './translation.ts'

/** The objects of A2A that have another form in each version. */
export type ObjectName = 'message' | 'status' | 'artifact' | 'task' | 'statusUpdate' | 'artifactUpdate'

/**
 * Translates an object of A2A, which must have the shape of the form that it is in. Keeps members that the specification does not
 * know. What the other form cannot express is left out, and reported as a loss with its path.
 */
export const translateObject = (
  name: ObjectName,
  object: JsonObject,
  translation: Translation,
  path = '',
): JsonObject => {
  const { from, to, losses } = translation
  const { kind, members } = OBJECTS[name]
  const translated: JsonObject = kind !== undefined && to === 'kinds' ? { kind } : {}
  const known = new Set(from === 'kinds' ? ['kind'] : [])
  for (const member of members) {
    const place = path + member.name
    const value = takeMember(object, nameIn(from, member), from, known)
    const written = nameIn(to, member)
    const result =
      value === undefined ? absentValue(member, object, translation) : memberValue(member, value, translation, place)
    if (written !== undefined && result !== undefined) translated[written] = result
    if (value === undefined && result !== undefined && member.is === 'role') losses.push(place)
  }
  // In the other form, the name may mean something else.
  for (const unknown of Object.keys(object).filter(each => !known.has(each)))
    if (Object.hasOwn(translated, unknown) || unknown === '__proto__') losses.push(`${path}*`)
    else translated[unknown] = object[unknown]
  return translated
}

/** A member of an object of A2A: its name in 1.0, what it is if its value is written in another way, and its other names. */
type Member = {
  name: string
  is?: ObjectName | 'part' | 'role' | 'state' | 'timestamp' | 'final'
  /** Its names in other forms; null in one that does not have it. */
  names?: Partial<Record<Form, string | null>>
  /** What the form with `kind` has where ProtoJSON leaves the member out, because it is empty. */
  empty?: Json
}

type ObjectForm = { kind?: string; members: readonly Member[] }

const plain = (...names: readonly string[]): Member[] => names.map(name => ({ name }))

const ids: readonly Member[] = [{ name: 'taskId' }, { name: 'contextId', empty: '' }]

const OBJECTS: Readonly<Record<ObjectName, ObjectForm>> = {
  message: {
    kind: 'message',
    members: [
      ...plain('messageId', 'taskId', 'contextId'),
      { name: 'role', is: 'role', empty: 'agent' },
      { name: 'parts', is: 'part', names: { 'proto 0.3': 'content' }, empty: [] },
      ...plain('metadata', 'extensions', 'referenceTaskIds'),
    ],
  },
  status: {
    members: [
      { name: 'state', is: 'state', empty: 'unknown' },
      { name: 'message', is: 'message' },
      { name: 'timestamp', is: 'timestamp' },
    ],
  },
  artifact: {
    members: [
      ...plain('artifactId', 'name', 'description'),
      { name: 'parts', is: 'part', empty: [] },
      ...plain('metadata', 'extensions'),
    ],
  },
  task: {
    kind: 'task',
    members: [
      { name: 'id' },
      { name: 'contextId', empty: '' },
      { name: 'status', is: 'status' },
      { name: 'artifacts', is: 'artifact' },
      { name: 'history', is: 'message' },
      { name: 'metadata' },
    ],
  },
  statusUpdate: {
    kind: 'status-update',
    members: [
      ...ids,
      { name: 'status', is: 'status' },
      { name: 'final', is: 'final', names: { 'proto 1.0': null } },
      { name: 'metadata' },
    ],
  },
  artifactUpdate: {
    kind: 'artifact-update',
    members: [...ids, { name: 'artifact', is: 'artifact' }, ...plain('append', 'lastChunk', 'metadata')],
  },
}

const nameIn = (form: Form, { name, names }: Member): string | undefined => {
  const other = names?.[form]
  return other === null ? undefined : (other ?? name)
}

/** Reads a member and adds its names to those that are known. ProtoJSON has two names for a member, and null is like its absence. */
const takeMember = (object: JsonObject, name: string | undefined, form: Form, known: Set<string>): Json | undefined => {
  if (name === undefined) return undefined
  known.add(name)
  const value = object[name] ?? undefined
  if (form === 'kinds') return value
  const [, snakeCase] = protoNames(name)
  known.add(snakeCase)
  return value ?? object[snakeCase] ?? undefined
}

const memberValue = ({ is }: Member, value: Json, translation: Translation, path: string): Json | undefined => {
  if (is === undefined || is === 'final') return value
  if (Array.isArray(value)) return value.map((item, index) => objectValue(is, item, translation, `${path}[${index}]`))
  return is === 'timestamp' ? timestampValue(value, translation, path) : objectValue(is, value, translation, path)
}

const objectValue = (
  is: Exclude<Member['is'], undefined>,
  value: Json,
  translation: Translation,
  path: string,
): Json => {
  if (is === 'role') return enumValue(ROLES, value, translation)
  if (is === 'state') return enumValue(STATES, value, translation)
  if (!isJsonObject(value) || is === 'timestamp' || is === 'final') return value
  return is === 'part'
    ? translatePart(value, translation, `${path}.`)
    : translateObject(is, value, translation, `${path}.`)
}

/** Returns what the form with `kind` has for a member that ProtoJSON leaves out; undefined for nothing. */
const absentValue = ({ is, empty }: Member, object: JsonObject, { from, to }: Translation): Json | undefined => {
  if (is === 'final') return to === 'kinds' || from === 'proto 1.0' ? hasEnded(object, from) : undefined
  return to === 'kinds' ? empty : undefined
}

/** A value of an enumeration in each form. Its index is its number in ProtoJSON. */
type EnumValue = Readonly<Record<Form, string>>

const sameInProto = (kinds: string, proto: string): EnumValue => ({ kinds, 'proto 0.3': proto, 'proto 1.0': proto })

const ROLES: readonly EnumValue[] = [
  // The message of a task is from its agent, unless it says otherwise.
  sameInProto('agent', 'ROLE_UNSPECIFIED'),
  sameInProto('user', 'ROLE_USER'),
  sameInProto('agent', 'ROLE_AGENT'),
]

const STATES: readonly EnumValue[] = [
  sameInProto('unknown', 'TASK_STATE_UNSPECIFIED'),
  sameInProto('submitted', 'TASK_STATE_SUBMITTED'),
  sameInProto('working', 'TASK_STATE_WORKING'),
  sameInProto('completed', 'TASK_STATE_COMPLETED'),
  sameInProto('failed', 'TASK_STATE_FAILED'),
  { kinds: 'canceled', 'proto 0.3': 'TASK_STATE_CANCELLED', 'proto 1.0': 'TASK_STATE_CANCELED' },
  sameInProto('input-required', 'TASK_STATE_INPUT_REQUIRED'),
  sameInProto('rejected', 'TASK_STATE_REJECTED'),
  sameInProto('auth-required', 'TASK_STATE_AUTH_REQUIRED'),
]

const ENDED: readonly Json[] = ['completed', 'failed', 'canceled', 'rejected']

const enumValue = (values: readonly EnumValue[], value: Json, { from, to }: Translation): Json => {
  const found = values.findLast((names, number) => names[from] === value || (from !== 'kinds' && number === value))
  return found?.[to] ?? value
}

const hasEnded = ({ status }: JsonObject, from: Form): boolean =>
  isJsonObject(status) && ENDED.includes(enumValue(STATES, status.state ?? null, { from, to: 'kinds', losses: [] }))

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/** ProtoJSON requires a time zone, which some agents of 0.3 leave out: then it is most likely UTC. */
const timestampValue = (value: Json, { to, losses }: Translation, path: string): Json | undefined => {
  if (to === 'kinds' || typeof value !== 'string' || RFC_3339.test(value)) return value
  losses.push(path)
  const time = Date.parse(/(?:z|[+-]\d\d:?\d\d)$/i.test(value) ? value : `${value}Z`)
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}
