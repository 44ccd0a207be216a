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
  type EnumNames,
  type FormMember,
  forEachObject,
  forEachShape,
  isObjectName,
  lastStates,
  type Member,
  type ObjectName,
  objects,
  partKinds,
  presentIn,
  readMember,
  resultKinds,
  type Shape,
  shapes,
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
  for (const [index, member] of objects[name].entries()) {
    const source = from.members[name][index]
    const written = to.members[name][index]?.key
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
const readValue = (object: JsonObject, member: FormMember, { hasKinds, roles }: Shape): Json | undefined => {
  const value = readMember(object, member)
  if (hasKinds) return value
  const isUnspecified = member.is === 'role' && (readNumber(value) === 0 || value === roles[0])
  return value === '' || isUnspecified ? undefined : value
}

const memberValue = (is: Member['is'], value: Json, translation: Translation, path: string): Json | undefined => {
  const { from, to } = translation
  if (is === 'role') return to.roles[numberOf(value, from.roles, from)] ?? value
  if (is === 'state') return to.taskStates[numberOf(value, from.taskStates, from)] ?? value
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
const numberOf = (value: Json | undefined, names: EnumNames, { hasKinds }: Shape): number => {
  const sent = readNumber(value)
  if (typeof sent === 'number' && !hasKinds) return sent
  return typeof sent === 'string' ? names.indexOf(sent) : -1
}

/** After an update to one of these, the official servers of 1.0 end the stream, which 0.3 announces with `final`. */
const endsStream = ({ status }: JsonObject, from: Shape): boolean =>
  isJsonObject(status) && lastStates.has(numberOf(status.state, from.taskStates, from))

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/** ProtoJSON requires a time zone, which some agents of 0.3 leave out: then it is most likely UTC. */
const timestampValue = (value: Json, { to, losses }: Translation, path: string): Json | undefined => {
  if (to.hasKinds || typeof value !== 'string' || RFC_3339.test(value)) return value
  losses.push(path)
  const time = Date.parse(/(?:z|[+-]\d\d:?\d\d)$/i.test(value) ? value : `${value}Z`)
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}

// Parts

/** The members of a part, by their names in the newest version. */
const ofPart = forEachShape(
  ({ members }) =>
    Object.fromEntries(presentIn(members.part).map(member => [member.name, member])) as Record<
      'raw' | 'url' | 'filename' | 'mediaType',
      FormMember
    >,
)

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
  for (const index of otherMembers) {
    const [source, target] = [from.members.part[index], to.members.part[index]]
    const value = source && readMember(part, source)
    if (target && value !== undefined) written[target.key] = value
    else if (source && value !== undefined) lose(source.name)
  }
  keepUnknown(part, written, [from.names.part, to.names.part], unknown => {
    if (unknown !== 'kind' || !(from.hasKinds || partKinds.has(part.kind))) lose('*')
  })
  return written
}

/** The members of a part that every form has under the same name, or not at all. */
const otherMembers = objects.part.flatMap(({ name, names, isContent }, index) =>
  names === undefined && !isContent && name !== 'metadata' ? [index] : [],
)

const readPart = (part: JsonObject, content: string, { form, file, data: type }: Shape, lose: Lose): Content => {
  const value = part[content] ?? null
  const metadata = part.metadata ?? undefined
  const isFile = content === file && isJsonObject(value)
  if (isFile || file === undefined) {
    const members = ofPart[form]
    const object = isFile ? value : part
    const read = ({ key, alias }: FormMember) => [object[key], object[alias]].find(isPresent)
    const described = { filename: read(members.filename), mediaType: read(members.mediaType), metadata }
    if (!isFile) return { kind: content, value, ...described }
    const kind = readMember(object, members.raw) === undefined ? 'url' : 'raw'
    const ofFile = omit(
      object,
      ...Object.values(members).flatMap(({ inner, key, alias }) => (inner ? [key, alias] : [])),
    )
    return { kind, value: readMember(object, members[kind]) ?? null, ...described, ofFile }
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
  { form, hasKinds, file, data: type }: Shape,
  lose: Lose,
): JsonObject => {
  const members = ofPart[form]
  const described = { [members.filename.key]: filename, [members.mediaType.key]: mediaType }
  const write = (name: string, content: JsonObject): JsonObject =>
    definedMembers(hasKinds ? { kind: name, ...content } : content)
  if (file === undefined) {
    if (Object.keys(ofFile).length > 0) lose('file.*')
    return write(kind, { [kind]: value, ...described, metadata })
  }
  if (kind === 'raw' || kind === 'url') {
    const { raw, url } = members
    const others = omit(ofFile, raw.key, raw.alias, url.key, url.alias, '__proto__')
    if (Object.keys(others).length < Object.keys(ofFile).length) lose('file.*')
    const content = { [members[kind].key]: kind === 'raw' ? toBase64(value) : value }
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
