import { formOf, latestVersion, type Protocol } from '../../card/model/index.ts'
import {
  isJsonObject,
  isPlainObject,
  type Json,
  type JsonObject,
  jsonEntries,
  omit,
  readNumber,
} from '../../json/index.ts'
import {
  type FormMember,
  forEachObject,
  isObjectName,
  type Member,
  NO_ROLE,
  type ObjectName,
  objects,
  partKinds,
  protoNames,
  readMember,
  resultKinds,
  type Shape,
  shapes,
  taskStates,
} from '../objects/index.ts'

/** The path of a member that a form cannot express, such as `parts[0].filename`; `message.*` for an unknown one. */
export type Loss = string

/** Reports the loss of a member. */
export type Lose = (name: string) => void

/** A translation of objects: the form that they are in, the one that they get, and what was lost so far. */
export type Translation = { readonly from: Shape; readonly to: Shape; readonly losses: Loss[] }

/** Returns an object without the members that are undefined. */
export const definedMembers = (members: JsonObject): JsonObject => Object.fromEntries(jsonEntries(members))

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
export const translateObject = (
  name: ObjectName,
  object: JsonObject,
  translation: Translation,
  path = '',
): JsonObject => {
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
  if (is === 'state') return to.taskStates[numberOf('taskStates', value, from)] ?? value
  if (is === 'time') return timestampValue(value, translation, path)
  if (!isObjectName(is)) return value
  if (Array.isArray(value))
    return value.map((item, index) => memberValue(is, item, translation, `${path}[${index}]`) ?? item)
  if (!isJsonObject(value)) return value
  return is === 'part'
    ? translatePart(value, translation, `${path}.`)
    : translateObject(is, value, translation, `${path}.`)
}

/** Returns what a form has for a member that is absent, or that the other one lacks; undefined for nothing. */
const absentValue = (
  { name, is, empty }: Member,
  object: JsonObject,
  { from, to, losses }: Translation,
  path: string,
): Json | undefined => {
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

/** A part, whatever its form; its members have the names of the newest version. */
type Content = {
  kind: string
  value: Json
  filename?: Json | undefined
  mediaType?: Json | undefined
  metadata?: Json | undefined
  /** Members of `file` that the specification does not know. */
  ofFile?: JsonObject
}

/** Translates a part; if it has several contents, as only hand-written agents send, only the first. */
const translatePart = (part: JsonObject, { from, to, losses }: Translation, path: string): JsonObject => {
  const lose = (name: string) => losses.push(path + name)
  const named = from.hasKinds && from.contents.find(name => name === part.kind)
  const content = named || (from.contents.find(name => (part[name] ?? null) !== null) ?? 'data')
  const written = writePart(readPart(part, content, from, lose), to, lose)
  for (const name of from.contents) if (name !== content && (part[name] ?? null) !== null) lose(name)
  for (const { name } of plainMembers) {
    const value = readMember(part, from.members.part.get(name))
    const target = to.members.part.get(name)
    if (target && value !== undefined) written[target.key] = value
    else if (value !== undefined) lose(name)
  }
  keepUnknown(part, written, [from.names.part, to.names.part], unknown => {
    if (unknown !== 'kind' || !(from.hasKinds || partKinds.has(part.kind))) lose('*')
  })
  return written
}

/** The members of a part that every form has under the same name, or not at all. */
const plainMembers = objects.part.filter(({ name, names, isContent }) => !(names || isContent || name === 'metadata'))

const readPart = (part: JsonObject, content: string, { file, data: type, members }: Shape, lose: Lose): Content => {
  const value = part[content] ?? null
  const metadata = part.metadata ?? undefined
  const isFile = content === file && isJsonObject(value)
  if (isFile || file === undefined) {
    const object = isFile ? value : part
    const read = (name: string) => {
      const { key = name, alias = name } = members.part.get(name) ?? {}
      return [object[key], object[alias]].find(isPresent)
    }
    const described = { filename: read('filename'), mediaType: read('mediaType'), metadata }
    if (!isFile) return { kind: content, value, ...described }
    const raw = readMember(object, members.part.get('raw'))
    const known = [...members.part.values()].flatMap(({ inner, key, alias }) => (inner ? [key, alias] : []))
    const ofFile = omit(object, ...known)
    if (raw !== undefined) return { kind: 'raw', value: raw, ...described, ofFile }
    return { kind: 'url', value: readMember(object, members.part.get('url')) ?? null, ...described, ofFile }
  }
  if (content === 'text') return { kind: content, value, metadata }
  const isWrapping = type === 'wrapped' && isJsonObject(value)
  const data = (isWrapping ? value.data : value) ?? {}
  if (isWrapping && Object.keys(value).some(name => name !== 'data')) lose('data.*')
  return isFlagged(metadata) && isJsonObject(data) && Object.keys(data).every(name => name === 'value')
    ? { kind: 'data', value: data.value ?? null, metadata: withoutFlag(metadata) }
    : { kind: 'data', value: data, metadata }
}

const writePart = (
  { kind, value, filename, mediaType, metadata, ofFile = {} }: Content,
  { hasKinds, file, data: type, members }: Shape,
  lose: Lose,
): JsonObject => {
  const keyOf = (name: string) => members.part.get(name)?.key ?? name
  const described = { [keyOf('filename')]: filename, [keyOf('mediaType')]: mediaType }
  const write = (name: string, content: JsonObject): JsonObject =>
    definedMembers(hasKinds ? { kind: name, ...content } : content)
  if (file === undefined) {
    if (Object.keys(ofFile).length > 0) lose('file.*')
    return write(kind, { [kind]: value, ...described, metadata })
  }
  if (kind === 'raw' || kind === 'url') {
    const others = omit(ofFile, ...protoNames(keyOf('raw')), ...protoNames(keyOf('url')), '__proto__')
    if (Object.keys(others).length < Object.keys(ofFile).length) lose('file.*')
    const content = { [keyOf(kind)]: kind === 'raw' ? toBase64(value) : value }
    return write(file, { [file]: definedMembers({ ...content, ...described, ...others }), metadata })
  }
  if (filename !== undefined) lose('filename')
  if (mediaType !== undefined && mediaType !== (kind === 'text' ? 'text/plain' : 'application/json')) lose('mediaType')
  if (kind === 'text') return write(kind, { text: value, metadata })
  // The caller's own flag would unwrap a value that is not wrapped.
  const own = isFlagged(metadata) ? withoutFlag(metadata) : metadata
  if (own !== metadata) lose(`metadata.${WRAPPED}`)
  const isObject = isPlainObject(value)
  const data = isObject ? value : { value }
  const flagged = isObject ? own : { ...(isJsonObject(own) && own), [WRAPPED]: true }
  return write(kind, { data: type === 'wrapped' ? { data } : data, metadata: flagged })
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
