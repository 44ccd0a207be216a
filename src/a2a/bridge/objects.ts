import { isJsonObject, type Json, type JsonObject, jsonEntries, omit } from '../../json/index.ts'
import { type EnumValue, type Form, forms, protoNames, readProto, resultKinds, roles, taskStates } from '../forms.ts'
import { isPlainObject, readNumber } from '../jsonrpc.ts'

/** The path of a member that a form cannot express, such as `parts[0].filename`; `message.*` for an unknown one. */
export type Loss = string

/** A translation of objects: the form that they are in, the one that they get, and what was lost so far. */
export type Translation = { readonly from: Form; readonly to: Form; readonly losses: Loss[] }

/** Returns an object without the members that are undefined. */
export const definedMembers = (members: JsonObject): JsonObject => Object.fromEntries(jsonEntries(members))

/** Checks whether a member has a value. Null, and in ProtoJSON an empty text, is like its absence. */
export const isPresent = (value: Json | undefined): boolean => value !== undefined && value !== null && value !== ''

/** The objects of A2A that have another form in each version. */
export type ObjectName = 'message' | 'status' | 'artifact' | 'task' | 'statusUpdate' | 'artifactUpdate'

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
  const translated: JsonObject = kind !== undefined && to === 'json-0.3' ? { kind } : {}
  for (const member of OBJECTS[name]) {
    const value = readMember(object, member, from)
    const result =
      value === undefined
        ? absentValue(member, object, translation, path)
        : memberValue(member.is, value, translation, path + member.name)
    const written = nameIn(to, member)
    if (written !== undefined && result !== undefined) translated[written] = result
    const isImplied = member.is === 'final' && value === endsStream(object, from)
    if (written === undefined && value !== undefined && !isImplied) losses.push(path + member.name)
  }
  const known = [KNOWN[name][from], from === to ? KNOWN[name][to] : EVERY_NAME[name]] as const
  keepUnknown(object, translated, known, unknown => {
    // Some agents of 1.0 still write what 0.3 has.
    if (unknown !== 'kind' || object.kind !== kind) losses.push(`${path}*`)
  })
  return translated
}

/**
 * Adds the members of an object that its form does not know to its translation. Those whose names mean something in the
 * other form are lost. Where ProtoJSON has a `kind`, readers of 0.3 would take it for the form with `kind`.
 */
const keepUnknown = (
  object: JsonObject,
  translated: JsonObject,
  [known, taken]: readonly [ReadonlySet<string>, ReadonlySet<string>],
  lose: (name: string) => void,
): void => {
  for (const [name, value] of Object.entries(object)) {
    if (known.has(name)) continue
    if (taken.has(name) || name === 'kind' || name === '__proto__') lose(name)
    else translated[name] = value
  }
}

/** A member of an object of A2A: its name in 1.0, its type if it is written in another way, and its other names. */
type Member = {
  name: string
  is?: ObjectName | 'part' | 'role' | 'state' | 'timestamp' | 'final'
  /** Its names in other forms; null in one that does not have it. */
  names?: Partial<Record<Form, string | null>>
  /** The value that the form with `kind` has where ProtoJSON leaves the member out, because it is empty. */
  empty?: Json
}

const OBJECT_KINDS: Readonly<Partial<Record<ObjectName, string>>> = resultKinds

const plain = (...names: readonly string[]): Member[] => names.map(name => ({ name }))

const ids: readonly Member[] = [{ name: 'taskId' }, { name: 'contextId', empty: '' }]

const OBJECTS: Readonly<Record<ObjectName, readonly Member[]>> = {
  message: [
    ...plain('messageId', 'taskId', 'contextId'),
    { name: 'role', is: 'role', empty: 'agent' },
    { name: 'parts', is: 'part', names: { 'proto-0.3': 'content' }, empty: [] },
    ...plain('metadata', 'extensions'),
    { name: 'referenceTaskIds', names: { 'proto-0.3': null } },
  ],
  status: [
    { name: 'state', is: 'state', empty: 'unknown' },
    { name: 'message', is: 'message' },
    { name: 'timestamp', is: 'timestamp' },
  ],
  artifact: [
    ...plain('artifactId', 'name', 'description', 'metadata', 'extensions'),
    { name: 'parts', is: 'part', empty: [] },
  ],
  task: [
    { name: 'id' },
    { name: 'contextId', empty: '' },
    { name: 'status', is: 'status' },
    { name: 'artifacts', is: 'artifact' },
    { name: 'history', is: 'message' },
    { name: 'metadata' },
  ],
  statusUpdate: [
    ...ids,
    { name: 'status', is: 'status' },
    { name: 'final', is: 'final', names: { 'proto-1.0': null } },
    { name: 'metadata' },
  ],
  artifactUpdate: [...ids, { name: 'artifact', is: 'artifact' }, ...plain('append', 'lastChunk', 'metadata')],
}

const nameIn = (form: Form, { name, names }: Member): string | undefined => {
  const other = names?.[form]
  return other === null ? undefined : (other ?? name)
}

const knownNames = (members: readonly Member[], form: Form): ReadonlySet<string> => {
  const names = members.flatMap(member => nameIn(form, member) ?? [])
  return new Set(form === 'json-0.3' ? ['kind', ...names] : names.flatMap(protoNames))
}

/** Every name that a form has for the members of an object. */
const KNOWN = Object.fromEntries(
  Object.entries(OBJECTS).map(([name, members]) => [
    name,
    Object.fromEntries(forms.map(form => [form, knownNames(members, form)])),
  ]),
) as Readonly<Record<ObjectName, Readonly<Record<Form, ReadonlySet<string>>>>>

/** Every name of a member in any form: an agent of several forms might read one that no form here has, unchecked. */
const EVERY_NAME = Object.fromEntries<ReadonlySet<string>>(
  Object.entries(KNOWN).map(([name, known]) => [name, new Set(forms.flatMap(form => [...known[form]]))]),
) as Readonly<Record<ObjectName, ReadonlySet<string>>>

/** Reads a member; undefined if it is absent or null. In ProtoJSON, an empty text is like its absence. */
const readMember = (object: JsonObject, member: Member, form: Form): Json | undefined => {
  const name = nameIn(form, member)
  if (name === undefined) return undefined
  if (form === 'json-0.3') return object[name] ?? undefined
  const value = readProto(object, name)
  const isUnspecified = member.is === 'role' && (readNumber(value) === 0 || value === 'ROLE_UNSPECIFIED')
  return value === '' || isUnspecified ? undefined : value
}

const memberValue = (is: Member['is'], value: Json, translation: Translation, path: string): Json | undefined => {
  if (is === undefined || is === 'final') return value
  if (is === 'role') return enumValue(roles, value, translation)
  if (is === 'state') return enumValue(taskStates, value, translation)
  if (is === 'timestamp') return timestampValue(value, translation, path)
  if (Array.isArray(value))
    return value.map((item, index) => memberValue(is, item, translation, `${path}[${index}]`) ?? item)
  if (!isJsonObject(value)) return value
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
  if (is === 'final' && from === 'proto-1.0') return endsStream(object, from)
  if (to !== 'json-0.3') return undefined
  // ProtoJSON leaves out what is false.
  if (is === 'final') return false
  if (is === 'role') losses.push(path + name)
  return empty
}

const enumValue = (values: readonly EnumValue[], value: Json, { from, to }: Pick<Translation, 'from' | 'to'>): Json => {
  const sent = readNumber(value)
  const found = values.find((names, number) => names[from] === sent || (from !== 'json-0.3' && number === sent))
  return found?.[to] ?? value
}

/** After an update to one of these, the official servers of 1.0 end the stream, which 0.3 announces with `final`. */
const LAST_STATES: readonly Json[] = ['completed', 'failed', 'canceled', 'rejected', 'input-required']

const endsStream = ({ status }: JsonObject, from: Form): boolean =>
  isJsonObject(status) && LAST_STATES.includes(enumValue(taskStates, status.state ?? null, { from, to: 'json-0.3' }))

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/** ProtoJSON requires a time zone, which some agents of 0.3 leave out: then it is most likely UTC. */
const timestampValue = (value: Json, { to, losses }: Translation, path: string): Json | undefined => {
  if (to === 'json-0.3' || typeof value !== 'string' || RFC_3339.test(value)) return value
  losses.push(path)
  const time = Date.parse(/(?:z|[+-]\d\d:?\d\d)$/i.test(value) ? value : `${value}Z`)
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}

// Parts

type FormV03 = Exclude<Form, 'proto-1.0'>

/** Translates a part; if it has several contents, as only hand-written agents send, only the first. */
const translatePart = (part: JsonObject, { from, to, losses }: Translation, path: string): JsonObject => {
  const lose = (name: string) => losses.push(path + name)
  const { member, ...content } = from === 'proto-1.0' ? readV1(part) : readV03(part, from, lose)
  const written = to === 'proto-1.0' ? writeV1(content, lose) : writeV03(content, to, lose)
  for (const name of CONTENTS[from]) if (name !== member && (part[name] ?? null) !== null) lose(name)
  keepUnknown(part, written, [PART_NAMES[from], PART_NAMES[to]], unknown => {
    if (unknown !== 'kind' || !CONTENTS['json-0.3'].includes(`${part.kind}`)) lose('*')
  })
  return written
}

/** The members of a part that are its content. */
const CONTENTS: Readonly<Record<Form, readonly string[]>> = {
  'json-0.3': ['text', 'data', 'file'],
  'proto-0.3': ['text', 'data', 'file'],
  'proto-1.0': ['text', 'raw', 'url', 'data'],
}

/** Every name that a form has for the members of a part. */
const PART_NAMES: Readonly<Record<Form, ReadonlySet<string>>> = {
  'json-0.3': new Set(['kind', 'metadata', ...CONTENTS['json-0.3']]),
  'proto-0.3': new Set(['metadata', ...CONTENTS['proto-0.3']]),
  'proto-1.0': new Set(['metadata', 'filename', 'mediaType', 'media_type', ...CONTENTS['proto-1.0']]),
}

/** A part, whatever its form; if it was read, with the member that its content is from. */
type Content = {
  member?: string
  kind: 'text' | 'raw' | 'url' | 'data'
  value: Json
  filename?: Json | undefined
  mediaType?: Json | undefined
  metadata?: Json | undefined
  /** Members of `file` that the specification does not know. */
  ofFile?: JsonObject
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

const readV1 = (part: JsonObject): Content => {
  const kind = (['text', 'raw', 'url'] as const).find(name => (part[name] ?? null) !== null) ?? 'data'
  return {
    kind,
    member: kind,
    value: part[kind] ?? null,
    filename: [part.filename].find(isPresent),
    mediaType: [part.mediaType, part.media_type].find(isPresent),
    metadata: part.metadata ?? undefined,
  }
}

const writeV1 = (
  { kind, value, filename, mediaType, metadata, ofFile = {} }: Content,
  lose: (name: string) => void,
): JsonObject => {
  if (Object.keys(ofFile).length > 0) lose('file.*')
  return definedMembers({ [kind]: value, filename, mediaType, metadata })
}

/** The names of the content of a file in the two forms of 0.3. */
const FILE_CONTENTS = {
  'json-0.3': { raw: 'bytes', url: 'uri' },
  'proto-0.3': { raw: 'fileWithBytes', url: 'fileWithUri' },
} as const

const readV03 = (part: JsonObject, form: FormV03, lose: (name: string) => void): Content => {
  const named = form === 'json-0.3' && CONTENTS['json-0.3'].find(name => name === part.kind)
  const member = named || (CONTENTS[form].find(name => (part[name] ?? null) !== null) ?? 'data')
  const metadata = part.metadata ?? undefined
  const value = part[member] ?? null
  if (member === 'text') return { kind: 'text', member, value, metadata }
  if (member === 'file' && isJsonObject(value)) return { ...readFile(value, form), member, metadata }
  const data = (form === 'json-0.3' || !isJsonObject(value) ? value : value.data) ?? {}
  if (form !== 'json-0.3' && isJsonObject(value) && Object.keys(value).some(name => name !== 'data')) lose('data.*')
  const isWrapped = isFlagged(metadata) && isJsonObject(data) && Object.keys(data).every(name => name === 'value')
  return isWrapped
    ? { kind: 'data', member, value: data.value ?? null, metadata: withoutFlag(metadata) }
    : { kind: 'data', member, value: data, metadata }
}

const readFile = (file: JsonObject, form: FormV03): Content => {
  const names = FILE_CONTENTS[form]
  const kind = readProto(file, names.raw) === undefined ? 'url' : 'raw'
  return {
    kind,
    value: readProto(file, names[kind]) ?? null,
    filename: [file.name].find(isPresent),
    mediaType: [file.mimeType, file.mime_type].find(isPresent),
    ofFile: omit(file, ...[...Object.values(names), 'mimeType', 'name'].flatMap(protoNames)),
  }
}

const writeV03 = (
  { kind, value, filename, mediaType, metadata, ofFile = {} }: Content,
  form: FormV03,
  lose: (name: string) => void,
): JsonObject => {
  const write = (name: string, members: JsonObject): JsonObject =>
    definedMembers(form === 'json-0.3' ? { kind: name, ...members } : members)
  if (kind === 'raw' || kind === 'url') {
    const others = omit(ofFile, ...Object.values(FILE_CONTENTS[form]).flatMap(protoNames), '__proto__')
    if (Object.keys(others).length < Object.keys(ofFile).length) lose('file.*')
    const content = { [FILE_CONTENTS[form][kind]]: kind === 'raw' ? toBase64(value) : value }
    return write('file', {
      file: definedMembers({ ...content, name: filename, mimeType: mediaType, ...others }),
      metadata,
    })
  }
  if (filename !== undefined) lose('filename')
  if (mediaType !== undefined && mediaType !== (kind === 'text' ? 'text/plain' : 'application/json')) lose('mediaType')
  if (kind === 'text') return write('text', { text: value, metadata })
  // The caller's own flag would unwrap a value that is not wrapped.
  const own = isFlagged(metadata) ? withoutFlag(metadata) : metadata
  if (own !== metadata) lose(`metadata.${WRAPPED}`)
  const isObject = isPlainObject(value)
  const data = isObject ? value : { value }
  const flagged = isObject ? own : { ...(isJsonObject(own) && own), [WRAPPED]: true }
  return write('data', { data: form === 'json-0.3' ? data : { data }, metadata: flagged })
}

/** 1.0 accepts both alphabets of base64; clients of 0.3 read the standard one. */
const toBase64 = (value: Json): Json => {
  if (typeof value !== 'string') return value
  const standard = value.replaceAll('-', '+').replaceAll('_', '/')
  return standard.padEnd(Math.ceil(standard.length / 4) * 4, '=')
}
