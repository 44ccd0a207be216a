import { createHash } from 'node:crypto'
import { actorOf } from '../../auth/principal.ts'
import { audited } from '../../auth/refusals.ts'
import { requireScope } from '../../auth/require.ts'
import { HttpError } from '../../http/errors.ts'
import type { Handler } from '../../http/handler.ts'
import { CORS_HEADERS, PRIVATE_NO_STORE } from '../../http/headers.ts'
import { jsonResponse } from '../../http/responses.ts'
import { MAX_IMPORT_BYTES, MAX_IMPORT_LINE_BYTES } from '../../limits.ts'
import { purgeLists } from '../../registry/edge/write-through.ts'
import type { ExportCursor } from '../../registry/move/export.ts'
import { EXPORT_TYPE, parseTrailer, type Trailer } from '../../registry/move/format.ts'
import type { Imported } from '../../registry/move/import.ts'
import { getRegistry } from '../../registry/store/client.ts'
import type { ImportReply } from '../../registry/store/imports.ts'

/**
 * `GET /export`: all that this host has registered, as lines of JSON. The Registry is read one page at a time, as fast as the client
 * reads. If that fails, the file has no last line, and no host imports it.
 */
export const getExport: Handler = async (request, env, ctx) => {
  await requireScope({ request, env, ctx }, 'admin', '*')
  const registry = getRegistry(env)
  const hash = createHash('sha256')
  let lines = 0
  let cursor: ExportCursor | undefined
  const stream = new ReadableStream<Uint8Array>(
    {
      pull: async controller => {
        const page = await registry.exportPage(cursor)
        hash.update(page.lines)
        lines += page.lines.split('\n').length - 1
        cursor = page.next
        controller.enqueue(new TextEncoder().encode(page.lines))
        if (cursor) return
        const trailer: Trailer = { end: true, lines, sha256: hash.digest('hex') }
        controller.enqueue(new TextEncoder().encode(`${JSON.stringify(trailer)}\n`))
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  // HEAD must not read the Registry for nothing.
  return new Response(request.method === 'HEAD' ? null : stream, {
    headers: { ...CORS_HEADERS, 'Content-Type': EXPORT_TYPE, 'Cache-Control': PRIVATE_NO_STORE },
  })
}

/** `POST /import`: registers all of an export on this host, which must be empty; or nothing, if anything does not fit. */
export const postImport: Handler = audited(async (request, env, ctx) => {
  const principal = await requireScope({ request, env, ctx }, 'admin', '*')
  const reader = decompress(request).getReader()
  const { agents, revisions, tokens } = await runImport(reader, actorOf(principal), env).catch(async error => {
    // Where the connection is closed while it is written to, a client may not see the response.
    await discard(reader)
    throw error
  })
  purgeLists(ctx)
  return jsonResponse({ agents, revisions, tokens }, 201, { 'Cache-Control': PRIVATE_NO_STORE })
})

const runImport = async (reader: Reader, actor: string, env: Env): Promise<Imported> => {
  const registry = getRegistry(env)
  const begun = await registry.importStep({ step: 'begin' })
  if (begun.outcome !== 'begun') throw rejectionError(begun)
  const { session } = begun
  try {
    const digest = await stageLines(reader, async lines => {
      const staged = await registry.importStep({ step: 'stage', session, lines })
      if (staged.outcome !== 'staged') throw rejectionError(staged)
    })
    const result = await registry.importStep({ step: 'commit', session, actor, digest })
    if (result.outcome !== 'imported') throw rejectionError(result)
    return result
  } finally {
    await registry.importStep({ step: 'abandon', session })
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array>

/** Reads the rest of a file that is refused. */
const discard = async (reader: Reader): Promise<void> => {
  try {
    for (let size = 0; size < MAX_IMPORT_BYTES; ) {
      const { done, value } = await reader.read()
      if (done) return
      size += value.byteLength
    }
  } catch {
    // The file has no rest, or none that can be decompressed.
  }
}

const decompress = ({ body, headers }: Request): ReadableStream<Uint8Array> => {
  if (body === null) throw invalidImport('The file is empty')
  const encoding = headers.get('Content-Encoding')?.toLowerCase() ?? 'identity'
  if (encoding === 'identity') return body
  if (encoding === 'gzip') return body.pipeThrough(new DecompressionStream('gzip'))
  throw new HttpError(415, 'unsupported-encoding', 'An import may have the Content-Encoding gzip, and no other.', {
    headers: { 'Accept-Encoding': 'gzip' },
  })
}

const NEWLINE = 0x0a

/**
 * Passes the lines of a file on, many at a time, and checks them against its last line, which it leaves out. Returns the digest of the
 * others.
 */
const stageLines = async (reader: Reader, stage: (lines: string) => Promise<void>): Promise<string> => {
  const hash = createHash('sha256')
  let lines = 0
  let size = 0
  let rest: Uint8Array = new Uint8Array()
  let trailer: Trailer | undefined
  for await (const chunk of readChunks(reader)) {
    size += chunk.byteLength
    if (size > MAX_IMPORT_BYTES) throw tooLarge(`The file has more than ${MAX_IMPORT_BYTES} bytes`)
    const bytes = concat(rest, chunk)
    const end = bytes.lastIndexOf(NEWLINE) + 1
    rest = bytes.slice(end)
    if (rest.byteLength > MAX_IMPORT_LINE_BYTES) throw tooLarge(`A line has more than ${MAX_IMPORT_LINE_BYTES} bytes`)
    if (end === 0) continue
    if (trailer) throw invalidImport('There are lines after the last one')
    const complete = bytes.subarray(0, end)
    const lastLine = complete.lastIndexOf(NEWLINE, -2) + 1
    trailer = parseTrailer(decode(complete.subarray(lastLine, -1)))
    const before = trailer ? complete.subarray(0, lastLine) : complete
    if (before.byteLength === 0) continue
    const text = decode(before)
    hash.update(before)
    lines += text.split('\n').length - 1
    await stage(text)
  }
  if (!trailer || rest.byteLength > 0) throw invalidImport('The file is incomplete: its last line is missing')
  const digest = hash.digest('hex')
  if (trailer.lines !== lines || trailer.sha256 !== digest)
    throw invalidImport('The file was changed: its content does not match its last line')
  return digest
}

/** Collects the chunks of a stream, which can be of one byte each, into larger ones. */
async function* readChunks(reader: Reader): AsyncIterable<Uint8Array> {
  const parts: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done, value } = await reader.read().catch(() => {
      throw invalidImport('The file broke off, or is not compressed as its Content-Encoding declares')
    })
    if (value) {
      parts.push(value)
      size += value.byteLength
    }
    if (size > 0 && (done || size >= CHUNK_BYTES || parts.length >= MAX_PARTS)) {
      yield concat(...parts.splice(0))
      size = 0
    }
    if (done) return
  }
}

const CHUNK_BYTES = 256 * 1024
const MAX_PARTS = 4096

const concat = (...parts: readonly Uint8Array[]): Uint8Array => {
  const whole = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0))
  let offset = 0
  for (const part of parts) {
    whole.set(part, offset)
    offset += part.byteLength
  }
  return whole
}

const decode = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw invalidImport('The file is not UTF-8')
  }
}

const invalidImport = (message: string): HttpError =>
  new HttpError(422, 'invalid-import', `Nothing was imported. ${message}.`)

const tooLarge = (message: string): HttpError => new HttpError(413, 'too-large', `Nothing was imported. ${message}.`)

const rejectionError = (rejection: ImportReply): HttpError => {
  switch (rejection.outcome) {
    case 'invalid':
      return invalidImport(rejection.message)
    case 'too-new':
      return new HttpError(
        422,
        'export-too-new',
        `Nothing was imported. The export has version ${rejection.version} of the format, which this host is too old for: upgrade it first.`,
      )
    case 'not-empty':
      return new HttpError(
        409,
        'host-not-empty',
        'Nothing was imported. This host has agents, tokens or a history: import into a host that was just deployed.',
      )
    default:
      return new HttpError(
        409,
        'import-interrupted',
        'Nothing was imported. Another import has begun, or the host was restarted.',
      )
  }
}
