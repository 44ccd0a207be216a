import { isJsonObject, type Json, type JsonObject } from '../../json/index.ts'
import { type EnumValue, type Form, forms, protoNames, readProto, resultKinds, roles, taskStates } from '../forms.ts'
import { readNumber } from '../jsonrpc.ts'
import { translatePart } from './parts.ts'
import { keepUnknown, type Translation } from './translation.ts'

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
  for (const member of members) {
    const value = readMember(object, member, from)
    const result =
      value === undefined
        ? absentValue(member, object, translation, path)
        : memberValue(member, value, translation, path + member.name)
    const written = nameIn(to, member)
    if (written !== undefined && result !== undefined) translated[written] = result
    const isImplied = member.is === 'final' && value === endsStream(object, from)
    if (written === undefined && value !== undefined && !isImplied) losses.push(path + member.name)
  }
  keepUnknown(
    object,
    translated,
    { from: KNOWN[name][from], to: from === to ? KNOWN[name][to] : EVERY_NAME[name] },
    unknown => {
      // Some agents of 1.0 still write what 0.3 has.
      if (unknown !== 'kind' || object.kind !== kind) losses.push(`${path}*`)
    },
  )
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
    kind: resultKinds.message,
    members: [
      ...plain('messageId', 'taskId', 'contextId'),
      { name: 'role', is: 'role', empty: 'agent' },
      { name: 'parts', is: 'part', names: { 'proto 0.3': 'content' }, empty: [] },
      ...plain('metadata', 'extensions'),
      { name: 'referenceTaskIds', names: { 'proto 0.3': null } },
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
    kind: resultKinds.task,
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
    kind: resultKinds.statusUpdate,
    members: [
      ...ids,
      { name: 'status', is: 'status' },
      { name: 'final', is: 'final', names: { 'proto 1.0': null } },
      { name: 'metadata' },
    ],
  },
  artifactUpdate: {
    kind: resultKinds.artifactUpdate,
    members: [...ids, { name: 'artifact', is: 'artifact' }, ...plain('append', 'lastChunk', 'metadata')],
  },
}

const nameIn = (form: Form, { name, names }: Member): string | undefined => {
  const other = names?.[form]
  return other === null ? undefined : (other ?? name)
}

const knownNames = ({ members }: ObjectForm, form: Form): ReadonlySet<string> => {
  const names = members.flatMap(member => nameIn(form, member) ?? [])
  return new Set(form === 'kinds' ? ['kind', ...names] : names.flatMap(protoNames))
}

/** Every name that a form has for the members of an object. */
const KNOWN = Object.fromEntries(
  Object.entries(OBJECTS).map(([name, object]) => [
    name,
    Object.fromEntries(forms.map(form => [form, knownNames(object, form)])),
  ]),
) as Readonly<Record<ObjectName, Readonly<Record<Form, ReadonlySet<string>>>>>

/** Every name of a member in any form: what no form here reads there, an agent of several forms might read unchecked. */
const EVERY_NAME = Object.fromEntries<ReadonlySet<string>>(
  Object.entries(KNOWN).map(([name, known]) => [name, new Set(forms.flatMap(form => [...known[form]]))]),
) as Readonly<Record<ObjectName, ReadonlySet<string>>>

/** Reads a member; undefined if it is absent or null. ProtoJSON has two names for it, and an empty text is like its absence. */
const readMember = (object: JsonObject, member: Member, form: Form): Json | undefined => {
  const name = nameIn(form, member)
  if (name === undefined) return undefined
  if (form === 'kinds') return object[name] ?? undefined
  const value = readProto(object, name)
  const isUnspecified = member.is === 'role' && (readNumber(value) === 0 || value === 'ROLE_UNSPECIFIED')
  return value === '' || isUnspecified ? undefined : value
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
  if (is === 'role') return enumValue(roles, value, translation)
  if (is === 'state') return enumValue(taskStates, value, translation)
  if (!isJsonObject(value) || is === 'timestamp' || is === 'final') return value
  return is === 'part'
    ? translatePart(value, translation, `${path}.`)
    : translateObject(is, value, translation, `${path}.`)
}

/** Returns what a form has for a member that another one leaves out; undefined for nothing. */
const absentValue = (
  { name, is, empty }: Member,
  object: JsonObject,
  { from, to, losses }: Translation,
  path: string,
): Json | undefined => {
  if (is === 'final' && from === 'proto 1.0') return endsStream(object, from)
  if (to !== 'kinds') return undefined
  // ProtoJSON leaves out what is false.
  if (is === 'final') return false
  if (is === 'role') losses.push(path + name)
  return empty
}

const enumValue = (values: readonly EnumValue[], value: Json, { from, to }: Pick<Translation, 'from' | 'to'>): Json => {
  const sent = readNumber(value)
  const found = values.find((names, number) => names[from] === sent || (from !== 'kinds' && number === sent))
  return found?.[to] ?? value
}

/** After an update to one of these, the official servers of 1.0 end the stream, which 0.3 announces with `final`. */
const LAST_STATES: readonly Json[] = ['completed', 'failed', 'canceled', 'rejected', 'input-required']

const endsStream = ({ status }: JsonObject, from: Form): boolean =>
  isJsonObject(status) && LAST_STATES.includes(enumValue(taskStates, status.state ?? null, { from, to: 'kinds' }))

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/** ProtoJSON requires a time zone, which some agents of 0.3 leave out: then it is most likely UTC. */
const timestampValue = (value: Json, { to, losses }: Translation, path: string): Json | undefined => {
  if (to === 'kinds' || typeof value !== 'string' || RFC_3339.test(value)) return value
  losses.push(path)
  const time = Date.parse(/(?:z|[+-]\d\d:?\d\d)$/i.test(value) ? value : `${value}Z`)
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}
