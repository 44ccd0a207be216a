import { formOf, latestVersion, type Protocol } from '../../card/model/index.ts'
import { isJsonObject, isPlainObject, type Json, type JsonObject, omit, readNumber } from '../../json/index.ts'
import type { FormMember, Member, ObjectName, Shape } from '../objects/index.ts'
import {
  forEachObject,
  isObjectName,
  NO_ROLE,
  objects,
  partKinds,
  readMember,
  resultKinds,
  shapes,
  taskStates,
} from '../objects/index.ts'

/** The path of a member that a form cannot express, such as `parts[0].filename`; `message.*` for an unknown one. */
export type Loss = string

/** Reports the loss of a member. */
type Lose = (name: string) => void

/** A translation of objects: the form that they are in, the one that they get, and what was lost so far. */
export type Translation = { readonly from: Shape; readonly to: Shape; readonly losses: Loss[] }

/** Checks whether a member has a value. Null, and in ProtoJSON an empty text, is like its absence. */
export const isPresent = (value: Json | undefined): boolean => value !== undefined && value !== null && value !== ''

const OBJECT_KINDS: Readonly<Partial<Record<ObjectName, string>>> = resultKinds

/** Every name of a member in any form: an agent of several forms might read one that no form here has, unchecked. */
export const everyName = forEachObject(
  (name): ReadonlySet<string> => new Set(Object.values(shapes).flatMap(({ names }) => [...names[name]])),
)

/**
 * Translates an object of A2A, which must have the shape of the form that it is in. Keeps members that the
 * specification does not know. What the other form cannot express is left out, and reported as a loss with its path.
 */
export const translateObject = (name: ObjectName, object: JsonObject, translation: Translation, path = '') => {
  const { from, to, losses } = translation
  const kind = OBJECT_KINDS[name]
  const translated: JsonObject = kind !== undefined && to.hasKinds ? { kind } : {}
  for (const member of objects[name]) {
    const source = from.members[name].get(member.name)
    const written = to.members[name].get(member.name)?.key
    const value = source && readValue(object, source, from)
    const result =
      value === undefined
        ? absentValue(member, object, translation, path)
        : memberValue(member.is, value, translation, path + member.name)
    if (written === undefined) {
      const isImplied = member.is === 'final' && value === endsStream(object, from)
      if (value !== undefined && !isImplied) losses.push(path + member.name)
    } else if (result !== undefined) translated[written] = result
  }
  keepUnknown(object, translated, [from.names[name], from === to ? to.names[name] : everyName[name]], unknown => {
    // Some agents of 1.0 still write what 0.3 has.
    if (unknown !== 'kind' || !(from.hasKinds || object.kind === kind)) losses.push(`${path}*`)
  })
  return translated
}

/** Writes an object of the newest version in the form of a protocol. */
export const writeObject = (name: ObjectName, object: JsonObject, protocol: Protocol): JsonObject => {
  const from = shapes[formOf({ ...protocol, version: latestVersion })]
  return translateObject(name, object, { from, to: shapes[formOf(protocol)], losses: [] })
}

/**
 * Adds the members of an object that its form does not know to its translation. Those whose names mean something in the
 * other form are lost. Where ProtoJSON has a `kind`, readers of 0.3 would take it for the form with `kind`.
 */
const keepUnknown = (
  object: JsonObject,
  translated: JsonObject,
  [known, taken]: readonly [ReadonlySet<string>, ReadonlySet<string>],
  lose: Lose,
): void => {
  for (const [name, value] of Object.entries(object)) {
    if (known.has(name)) continue
    if (taken.has(name) || name === 'kind' || name === '__proto__') lose(name)
    else translated[name] = value
  }
}

/** Reads a member; undefined if it is absent or null. In ProtoJSON, an empty text is like its absence. */
const readValue = (object: JsonObject, member: FormMember, { hasKinds }: Shape): Json | undefined => {
  const value = readMember(object, member)
  if (hasKinds) return value
  const isUnspecified = member.is === 'role' && (readNumber(value) === 0 || value === NO_ROLE)
  return value === '' || isUnspecified ? undefined : value
}

const memberValue = (is: Member['is'], value: Json, translation: Translation, path: string): Json | undefined => {
  const { from, to } = translation
  if (is === 'role') return to.roles[numberOf('roles', value, from)] ?? value
  if (is === 'state') return stateValue(numberOf('taskStates', value, from), value, translation, path)
  if (is === 'time') return timestampValue(value, translation, path)
  if (!isObjectName(is)) return value
  if (Array.isArray(value))
    return value.map((item, index) => memberValue(is, item, translation, `${path}[${index}]`) ?? item)
  if (!isJsonObject(value)) return value
  return is === 'part'
    ? translatePart(value, translation, `${path}.`)
    : translateObject(is, value, translation, `${path}.`)
}

/** Returns a state in another form. One that the form lacks becomes the unknown state, which all forms have. */
const stateValue = (number: number, value: Json, { from, to, losses }: Translation, path: string): Json => {
  const written = to.taskStates[number]
  if (written !== undefined || from.taskStates[number] === undefined) return written ?? value
  losses.push(path)
  return to.taskStates[0] ?? value
}

/** Returns what a form has for a member that is absent, or that the other one lacks; undefined for nothing. */
const absentValue = (member: Member, object: JsonObject, translation: Translation, path: string): Json | undefined => {
  const { name, is, empty } = member
  const { from, to, losses } = translation
  if (is === 'final' && !from.names.statusUpdate.has(name)) return endsStream(object, from)
  if (!to.hasKinds) return undefined
  if (is === 'role') losses.push(path + name)
  return empty
}

/** Returns the number of a value of an enumeration; -1 for none. */
const numberOf = (name: 'roles' | 'taskStates', value: Json | undefined, shape: Shape): number => {
  const sent = readNumber(value)
  if (typeof sent === 'number' && !shape.hasKinds) return sent
  return typeof sent === 'string' ? shape[name].indexOf(sent) : -1
}

const LAST_STATE = /_(?:COMPLETED|FAILED|CANCELED|REJECTED|INPUT_REQUIRED)$/

/** After an update to one of these, the official servers of 1.0 end the stream, which 0.3 announces with `final`. */
const endsStream = ({ status }: JsonObject, from: Shape): boolean =>
  isJsonObject(status) && LAST_STATE.test(taskStates[numberOf('taskStates', status.state, from)]?.name ?? '')

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/** ProtoJSON requires a time zone, which some agents of 0.3 leave out: then it is most likely UTC. */
const timestampValue = (value: Json, { to, losses }: Translation, path: string): Json | undefined => {
  if (to.hasKinds || typeof value !== 'string' || RFC_3339.test(value)) return value
  losses.push(path)
  const time = Date.parse(/(?:z|[+-]\d\d:?\d\d)$/i.test(value) ? value : `${value}Z`)
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}

// Parts

/** Translates a part; if it has several contents, as only hand-written agents send, only the first. */
const translatePart = (part: JsonObject, { from, to, losses }: Translation, path: string): JsonObject => {
  const lose = (name: string) => losses.push(path + name)
  const named = from.hasKinds && from.contents.find(name => name === part.kind)
  const content = named || (from.contents.find(name => (part[name] ?? null) !== null) ?? 'data')
  const file = content === from.file && isJsonObject(part[content]) ? part[content] : undefined
  const values = readPart(part, content, file, from)
  if (from.data !== 'any' && content === 'data') unwrapData(values, from, lose)
  if (to.file !== undefined && values.raw === undefined && values.url === undefined) dropDescription(values, lose)
  if (to.data !== 'any' && content === 'data') wrapData(values, to, lose)
  if (to.file !== undefined && values.raw !== undefined) values.raw = toBase64(values.raw)
  const written: JsonObject = {}
  const writtenFile: JsonObject = {}
  for (const [name, { key, inner, isContent }] of to.members.part) {
    const value = values[name]
    if (value === undefined) continue
    if (to.hasKinds && isContent) written.kind = inner ?? key
    if (inner !== undefined) written[inner] = writtenFile
    const target = inner === undefined ? written : writtenFile
    target[key] = value
  }
  const unknown = Object.entries(file ?? {}).filter(([name]) => !from.namesInFile.has(name))
  const kept = unknown.filter(([name]) => to.file !== undefined && !to.namesInFile.has(name) && name !== '__proto__')
  if (kept.length < unknown.length) lose('file.*')
  Object.assign(writtenFile, Object.fromEntries(kept))
  for (const name of from.contents) if (name !== content && (part[name] ?? null) !== null) lose(name)
  for (const name of Object.keys(values)) if (!to.members.part.has(name)) lose(name)
  keepUnknown(part, written, [from.names.part, to.names.part], name => {
    if (name !== 'kind' || !(from.hasKinds || partKinds.has(part.kind))) lose('*')
  })
  return written
}

/** Reads one content of a part, and what describes it, under the names of the newest version. */
const readPart = (part: JsonObject, content: string, file: JsonObject | undefined, { members }: Shape): JsonObject => {
  const values: JsonObject = {}
  for (const [name, { key, alias, inner, isContent }] of members.part) {
    const source = inner === undefined ? part : file
    if (source === undefined || (isContent && inner === undefined && key !== content)) continue
    const value = isContent ? (source[key] ?? source[alias] ?? undefined) : [source[key], source[alias]].find(isPresent)
    if (value !== undefined) values[name] = value
  }
  // Null is a value of `data`, too.
  return content === 'data' ? { ...values, data: part.data ?? null } : values
}

/** Removes what 0.3 has for files only. Its text and its data have one media type. */
const dropDescription = (values: JsonObject, lose: Lose): void => {
  const { filename, mediaType } = values
  if (filename !== undefined) lose('filename')
  const implied = values.text === undefined ? 'application/json' : 'text/plain'
  if (mediaType !== undefined && mediaType !== implied) lose('mediaType')
  delete values.filename
  delete values.mediaType
}

/** Takes data of 0.3 out of what wraps it: another object over HTTP, and one for a value that is no object. */
const unwrapData = (values: JsonObject, { data: type }: Shape, lose: Lose): void => {
  const { data: sent, metadata } = values
  const isWrapping = type === 'wrapped' && isJsonObject(sent)
  const data = (isWrapping ? sent.data : sent) ?? {}
  if (isWrapping && Object.keys(sent).some(name => name !== 'data')) lose('data.*')
  const isValue = isFlagged(metadata) && isJsonObject(data) && Object.keys(data).every(name => name === 'value')
  values.data = isValue ? (data.value ?? null) : data
  if (isValue) values.metadata = withoutFlag(metadata)
}

const wrapData = (values: JsonObject, { data: type }: Shape, lose: Lose): void => {
  const { data = null, metadata } = values
  // The caller's own flag would unwrap a value that is not wrapped.
  const own = isFlagged(metadata) ? withoutFlag(metadata) : metadata
  if (own !== metadata) lose(`metadata.${WRAPPED}`)
  const isObject = isPlainObject(data)
  const wrapped = isObject ? data : { value: data }
  values.data = type === 'wrapped' ? { data: wrapped } : wrapped
  values.metadata = isObject ? own : { ...(isJsonObject(own) && own), [WRAPPED]: true }
}

/** Set in the metadata of a part of 0.3 with the data `{value}`, as by the official SDK: 0.3 has only objects there. */
const WRAPPED = 'data_part_compat'

const isFlagged = (metadata: Json | undefined): metadata is JsonObject =>
  isJsonObject(metadata) && metadata[WRAPPED] === true

/** Returns metadata without the flag of a wrapped value; undefined if nothing is left. */
const withoutFlag = (metadata: JsonObject): JsonObject | undefined => {
  const others = omit(metadata, WRAPPED)
  return Object.keys(others).length > 0 ? others : undefined
}

/** 1.0 accepts both alphabets of base64; clients of 0.3 read the standard one. */
const toBase64 = (value: Json): Json => {
  if (typeof value !== 'string') return value
  const standard = value.replaceAll('-', '+').replaceAll('_', '/')
  return standard.padEnd(Math.ceil(standard.length / 4) * 4, '=')
}
