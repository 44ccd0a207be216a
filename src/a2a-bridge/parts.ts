import type { Form } from '../a2a/result-shapes.ts'
import { isJsonObject, type Json, type JsonObject, omit } from '../json/json.ts'
import { definedMembers, protoNames, readProto, type Translation } from './translation.ts'

/** Translates a part, which must have the shape of its form; `path` ends in a period. */
export const translatePart = (part: JsonObject, { from, to, losses }: Translation, path: string): JsonObject => {
  const { others, ...read } = readers[from](part)
  const { written, lost } = writers[to](read)
  losses.push(...lost.map(name => path + name))
  for (const name of Object.keys(others))
    if (Object.hasOwn(written, name) || name === '__proto__') losses.push(`${path}*`)
    else written[name] = others[name]
  return written
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

/** A part as it is read, with its members that the specification does not know. */
type ReadPart = Content & { others: JsonObject }

/** A part as it is written, and the names of what its form cannot express. */
type WrittenPart = { written: JsonObject; lost: string[] }

/** Set in the metadata of a part of 0.3 whose `data` is `{value}`: 0.3 has only objects there. The official SDK does the same. */
const WRAPPED = 'data_part_compat'

// 1.0

const readV1 = (part: JsonObject): ReadPart => {
  const kind = (['text', 'raw', 'url'] as const).find(name => (part[name] ?? null) !== null) ?? 'data'
  return {
    kind,
    value: part[kind] ?? null,
    filename: part.filename ?? undefined,
    mediaType: part.mediaType ?? part.media_type ?? undefined,
    metadata: part.metadata ?? undefined,
    others: omit(part, 'text', 'raw', 'url', 'data', 'filename', 'mediaType', 'media_type', 'metadata'),
  }
}

const writeV1 = ({ kind, value, filename, mediaType, metadata, ofFile }: Content): WrittenPart => {
  const isWrapped = kind === 'data' && isJsonObject(metadata) && metadata[WRAPPED] === true && isJsonObject(value)
  const unwrapped = isWrapped ? omit(metadata, WRAPPED) : metadata
  return {
    written: definedMembers({
      [kind]: isWrapped ? (value.value ?? null) : value,
      filename,
      mediaType,
      metadata: isWrapped && isJsonObject(unwrapped) && Object.keys(unwrapped).length === 0 ? undefined : unwrapped,
    }),
    lost: Object.keys(ofFile ?? {}).length > 0 ? ['file.*'] : [],
  }
}

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
    const { file, text, data } = part
    const metadata = part.metadata ?? undefined
    const others = omit(part, 'file', 'text', 'data', 'metadata', ...(form === 'kinds' ? ['kind'] : []))
    if (isJsonObject(file) && part.kind !== 'text' && part.kind !== 'data') {
      const names = FILE_CONTENTS[form]
      const kind = readProto(file, names.raw) === undefined ? 'url' : 'raw'
      const known = [...Object.values(names), 'mimeType', 'name'].flatMap(protoNames)
      return {
        kind,
        value: readProto(file, names[kind]) ?? null,
        filename: file.name ?? undefined,
        mediaType: readProto(file, 'mimeType'),
        metadata,
        ofFile: omit(file, ...known),
        others,
      }
    }
    if (part.kind !== 'data' && (text ?? null) !== null) return { kind: 'text', value: text ?? null, metadata, others }
    const value = form === 'kinds' ? data : isJsonObject(data) ? data.data : undefined
    return { kind: 'data', value: value ?? {}, metadata, others }
  }

const writeV03 =
  (form: FormV03) =>
  ({ kind, value, filename, mediaType, metadata, ofFile }: Content): WrittenPart => {
    if (kind === 'raw' || kind === 'url') {
      const file = definedMembers({
        [FILE_CONTENTS[form][kind]]: kind === 'raw' ? toBase64(value) : value,
        name: filename,
        mimeType: mediaType,
        ...ofFile,
      })
      return { written: withKind(form, 'file', { file, metadata }), lost: [] }
    }
    const implied = kind === 'text' ? 'text/plain' : 'application/json'
    const lost = [
      ...(filename === undefined ? [] : ['filename']),
      ...(mediaType === undefined || mediaType === implied ? [] : ['mediaType']),
    ]
    if (kind === 'text') return { written: withKind(form, 'text', { text: value, metadata }), lost }
    const isWrapped = !isJsonObject(value) || JSON.isRawJSON(value)
    const data = isWrapped ? { value } : value
    const flagged = isWrapped ? { ...(isJsonObject(metadata) && metadata), [WRAPPED]: true } : metadata
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
