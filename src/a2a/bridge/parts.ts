import { isJsonObject, type Json, type JsonObject, omit } from '../../json/index.ts'
import { type Form, protoNames, readProto } from '../forms.ts'
import { isPlainObject } from '../jsonrpc.ts'
import { definedMembers, isPresent, keepUnknown, type Translation } from './translation.ts'

/**
 * Translates a part, which must have the shape of its form; `path` ends in a period. Of a part with several contents, which only
 * hand-written agents send, only the first is translated.
 */
export const translatePart = (part: JsonObject, { from, to, losses }: Translation, path: string): JsonObject => {
  const { member, unread = [], ...content } = readers[from](part)
  const { written, lost } = writers[to](content)
  const ignored = CONTENTS[from].filter(name => name !== member && (part[name] ?? null) !== null)
  losses.push(...[...unread, ...lost, ...ignored].map(name => path + name))
  keepUnknown(part, written, { from: KNOWN[from], to: KNOWN[to] }, unknown => {
    if (unknown !== 'kind' || !CONTENTS.kinds.includes(`${part.kind}`)) losses.push(`${path}*`)
  })
  return written
}

/** The members of a part that are its content. */
const CONTENTS: Readonly<Record<Form, readonly string[]>> = {
  kinds: ['text', 'data', 'file'],
  'proto 0.3': ['text', 'data', 'file'],
  'proto 1.0': ['text', 'raw', 'url', 'data'],
}

/** Every name that a form has for the members of a part. */
const KNOWN: Readonly<Record<Form, ReadonlySet<string>>> = {
  kinds: new Set(['kind', 'metadata', ...CONTENTS.kinds]),
  'proto 0.3': new Set(['metadata', ...CONTENTS['proto 0.3']]),
  'proto 1.0': new Set(['metadata', 'filename', 'mediaType', 'media_type', ...CONTENTS['proto 1.0']]),
}

/** What a part has, whatever its form. */
type Content = {
  kind: 'text' | 'raw' | 'url' | 'data'
  value: Json
  filename?: Json | undefined
  mediaType?: Json | undefined
  metadata?: Json | undefined
  /** Members of `file` that the specification does not know. */
  ofFile?: JsonObject
}

/** A part as it is read, the member that its content is from, and the names of what no other form has. */
type ReadPart = Content & { member: string; unread?: string[] }

/** A part as it is written, and the names of what its form cannot express. */
type WrittenPart = { written: JsonObject; lost: string[] }

/** Set in the metadata of a part of 0.3 whose `data` is `{value}`: 0.3 has only objects there. The official SDK does the same. */
const WRAPPED = 'data_part_compat'

const isFlagged = (metadata: Json | undefined): metadata is JsonObject =>
  isJsonObject(metadata) && metadata[WRAPPED] === true

/** Returns metadata without the flag of a wrapped value; undefined if nothing is left. */
const withoutFlag = (metadata: JsonObject): JsonObject | undefined => {
  const others = omit(metadata, WRAPPED)
  return Object.keys(others).length > 0 ? others : undefined
}

// 1.0

const readV1 = (part: JsonObject): ReadPart => {
  const kind = (['text', 'raw', 'url'] as const).find(name => (part[name] ?? null) !== null) ?? 'data'
  return {
    kind,
    member: kind,
    value: part[kind] ?? null,
    filename: presentOf(part.filename),
    mediaType: [part.mediaType, part.media_type].find(isPresent),
    metadata: part.metadata ?? undefined,
  }
}

const presentOf = (value: Json | undefined): Json | undefined => (isPresent(value) ? value : undefined)

const writeV1 = ({ kind, value, filename, mediaType, metadata, ofFile = {} }: Content): WrittenPart => ({
  written: definedMembers({ [kind]: value, filename, mediaType, metadata }),
  lost: Object.keys(ofFile).length > 0 ? ['file.*'] : [],
})

// 0.3

/** The names of the content of a file in the two forms of 0.3. */
const FILE_CONTENTS = {
  kinds: { raw: 'bytes', url: 'uri' },
  'proto 0.3': { raw: 'fileWithBytes', url: 'fileWithUri' },
} as const

type FormV03 = keyof typeof FILE_CONTENTS

const readV03 =
  (form: FormV03) =>
  (part: JsonObject): ReadPart => {
    const named = form === 'kinds' && CONTENTS.kinds.find(name => name === part.kind)
    const member = named || (CONTENTS[form].find(name => (part[name] ?? null) !== null) ?? 'data')
    const metadata = part.metadata ?? undefined
    const value = part[member] ?? null
    if (member === 'text') return { kind: 'text', member, value, metadata }
    if (member === 'file' && isJsonObject(value)) return { ...readFile(value, form), member, metadata }
    const data = (form === 'kinds' || !isJsonObject(value) ? value : value.data) ?? {}
    const isMixed = form !== 'kinds' && isJsonObject(value) && Object.keys(value).some(name => name !== 'data')
    const read = { kind: 'data', member, ...(isMixed && { unread: ['data.*'] }) } as const
    const isWrapped = isFlagged(metadata) && isJsonObject(data) && Object.keys(data).every(name => name === 'value')
    return isWrapped
      ? { ...read, value: data.value ?? null, metadata: withoutFlag(metadata) }
      : { ...read, value: data, metadata }
  }

const readFile = (file: JsonObject, form: FormV03): Content => {
  const names = FILE_CONTENTS[form]
  const kind = readProto(file, names.raw) === undefined ? 'url' : 'raw'
  const known = [...Object.values(names), 'mimeType', 'name'].flatMap(protoNames)
  return {
    kind,
    value: readProto(file, names[kind]) ?? null,
    filename: presentOf(file.name),
    mediaType: [file.mimeType, file.mime_type].find(isPresent),
    ofFile: omit(file, ...known),
  }
}

const writeV03 =
  (form: FormV03) =>
  ({ kind, value, filename, mediaType, metadata, ofFile = {} }: Content): WrittenPart => {
    if (kind === 'raw' || kind === 'url') {
      const others = omit(ofFile, ...Object.values(FILE_CONTENTS[form]).flatMap(protoNames), '__proto__')
      const file = definedMembers({
        [FILE_CONTENTS[form][kind]]: kind === 'raw' ? toBase64(value) : value,
        name: filename,
        mimeType: mediaType,
        ...others,
      })
      const isKept = Object.keys(others).length === Object.keys(ofFile).length
      return { written: withKind(form, 'file', { file, metadata }), lost: isKept ? [] : ['file.*'] }
    }
    const implied = kind === 'text' ? 'text/plain' : 'application/json'
    const lost = [
      ...(filename === undefined ? [] : ['filename']),
      ...(mediaType === undefined || mediaType === implied ? [] : ['mediaType']),
    ]
    if (kind === 'text') return { written: withKind(form, 'text', { text: value, metadata }), lost }
    // The caller's own flag would unwrap a value that is not wrapped.
    const own = isFlagged(metadata) ? withoutFlag(metadata) : metadata
    if (own !== metadata) lost.push(`metadata.${WRAPPED}`)
    const isObject = isPlainObject(value)
    const data = isObject ? value : { value }
    const flagged = isObject ? own : { ...(isJsonObject(own) && own), [WRAPPED]: true }
    return { written: withKind(form, 'data', { data: form === 'kinds' ? data : { data }, metadata: flagged }), lost }
  }

const withKind = (form: FormV03, kind: string, members: JsonObject): JsonObject =>
  definedMembers(form === 'kinds' ? { kind, ...members } : members)

/** 1.0 accepts both alphabets of base64; clients of 0.3 read the standard one. */
const toBase64 = (value: Json): Json => {
  if (typeof value !== 'string') return value
  const standard = value.replaceAll('-', '+').replaceAll('_', '/')
  return standard.padEnd(Math.ceil(standard.length / 4) * 4, '=')
}

const readers: Readonly<Record<Form, (part: JsonObject) => ReadPart>> = {
  kinds: readV03('kinds'),
  'proto 0.3': readV03('proto 0.3'),
  'proto 1.0': readV1,
}

const writers: Readonly<Record<Form, (content: Content) => WrittenPart>> = {
  kinds: writeV03('kinds'),
  'proto 0.3': writeV03('proto 0.3'),
  'proto 1.0': writeV1,
}
