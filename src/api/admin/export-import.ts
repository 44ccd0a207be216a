import { createHash } from 'node:crypto'
import { actorOf } from '../../auth/index.ts'
import { problem } from '../../http/index.ts'
import { FREE_IMPORT_BYTES, MAX_IMPORT_BYTES, MAX_IMPORT_LINE_BYTES, MAX_IMPORT_RATIO } from '../../limits.ts'
import { purgeLists } from '../../registry/edge/index.ts'
import { EXPORT_TYPE, type ImportReply, parseTrailer, type Trailer } from '../../registry/move/index.ts'
import { getRegistry } from '../../registry/store/index.ts'
import { type Content, endpoint, flag, json, otherBody, withContent } from '../contract/index.ts'
import { anyObject, ImportResult } from '../schemas/index.ts'

const exportLines: Content = { [EXPORT_TYPE]: { each: anyObject('A line of an export.') } }

/**
 * `GET /export`: all that this host has registered, as lines of JSON. The Registry is read one page at a time, as fast
 * as the client reads. If that fails, the file has no last line, and no host imports it.
 */
export const exportHost = endpoint(
  {
    tag: 'administration',
    summary: 'Export all that is registered',
    access: 'admin',
    responses: { 200: withContent('The export. Without its last line, it is incomplete.', exportLines) },
  },
  ({ request, env }) => {
    const registry = getRegistry(env)
    const hash = createHash('sha256')
    let lines = 0
    let cursor: Parameters<typeof registry.exportPage>[0]
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
    return { body: request.method === 'HEAD' ? null : stream }
  },
)

/** `POST /import`: registers all of an export on this host, which must be empty; or nothing, if anything is wrong. */
export const importHost = endpoint(
  {
    tag: 'administration',
    summary: 'Import an export into an empty host',
    access: 'admin',
    query: { tokens: flag('Whether its tokens are imported. Each is valid, whoever wrote it into the file.', true) },
    headers: {
      'Content-Encoding': { description: 'How the file is compressed.', schema: { enum: ['gzip', 'identity'] } },
    },
    body: otherBody('stream', exportLines, MAX_IMPORT_BYTES),
    responses: { 201: json('All of it was imported.', ImportResult) },
    problems: ['invalid-import', 'export-too-new', 'host-not-empty', 'import-interrupted', 'unsupported-encoding'],
    limits: ['WRITE_LIMIT'],
  },
  async ({ request, env, ctx, query, caller }) => {
    const file = new ImportedFile(request)
    const imported = runImport(file, actorOf(caller), query.tokens, env)
    const { agents, revisions, tokens } = await imported.catch(async error => {
      await file.discard()
      throw error
    })
    purgeLists(ctx)
    return { body: { agents, revisions, tokens } }
  },
)

const runImport = async (file: ImportedFile, actor: string, withTokens: boolean, env: Env) => {
  const registry = getRegistry(env)
  const begun = await registry.importStep({ step: 'begin', withTokens })
  if (begun.outcome !== 'begun') throw rejectionError(begun)
  const { session } = begun
  try {
    const digest = await stageLines(file, async lines => {
      const staged = await registry.importStep({ step: 'stage', session, lines })
      if (staged.outcome !== 'staged') throw rejectionError(staged)
    })
    const result = await registry.importStep({ step: 'commit', session, actor, digest })
    if (result.outcome !== 'imported') throw rejectionError(result)
    return result
  } catch (error) {
    // If this fails as well, the next import deletes what is staged.
    await registry.importStep({ step: 'abandon', session }).catch(() => undefined)
    throw error
  }
}

/** The file of an import, decompressed as far as its size allows. */
class ImportedFile {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  /** Bytes as they were sent. */
  #sent = 0
  /** Bytes after decompression. */
  #size = 0

  constructor({ body, headers }: Request) {
    if (body === null) throw invalidImport('The file is empty')
    const encoding = headers.get('Content-Encoding')?.toLowerCase() ?? 'identity'
    if (encoding !== 'identity' && encoding !== 'gzip')
      throw problem('unsupported-encoding', 'An import may have the Content-Encoding gzip, and no other.', {
        headers: { 'Accept-Encoding': 'gzip' },
      })
    const counter = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        this.#sent += chunk.byteLength
        controller.enqueue(chunk)
      },
    })
    const sent = body.pipeThrough(counter)
    this.#reader = (encoding === 'gzip' ? sent.pipeThrough(new DecompressionStream('gzip')) : sent).getReader()
  }

  /** Returns the next bytes; undefined at the end. */
  async read(): Promise<Uint8Array | undefined> {
    const { value } = await this.#reader.read().catch(() => {
      throw invalidImport('The file broke off, or is not compressed as its Content-Encoding declares')
    })
    this.#size += value?.byteLength ?? 0
    if (this.#size > MAX_IMPORT_BYTES) throw tooLarge(`The file has more than ${MAX_IMPORT_BYTES} bytes`)
    // Few bytes must not cause much work. Those of an export become up to about 100 times as many, where agents have
    // many revisions.
    if (this.#size > FREE_IMPORT_BYTES + MAX_IMPORT_RATIO * this.#sent)
      throw tooLarge(`The file becomes more than ${MAX_IMPORT_RATIO} times as large when it is decompressed`)
    return value
  }

  /** Reads the rest: where the connection is closed while it is written to, a client may not see the response. */
  async discard(): Promise<void> {
    try {
      while (await this.read());
    } catch {
      // The file has no rest, or none that can be decompressed.
    }
  }
}

const NEWLINE = 0x0a

/** Stages the lines of a file in parts, and checks them against the last one. Returns the digest of the others. */
const stageLines = async (file: ImportedFile, stage: (lines: string) => Promise<void>): Promise<string> => {
  const hash = createHash('sha256')
  let lines = 0
  let rest: Uint8Array = new Uint8Array()
  let trailer: Trailer | undefined
  for await (const chunk of readChunks(file)) {
    const bytes: Uint8Array = await new Blob([rest, chunk]).bytes()
    const end = bytes.lastIndexOf(NEWLINE) + 1
    rest = bytes.slice(end)
    if (rest.byteLength > MAX_IMPORT_LINE_BYTES) throw tooLarge(`A line has more than ${MAX_IMPORT_LINE_BYTES} bytes`)
    if (end === 0) continue
    if (trailer) throw invalidImport('There are lines after the last one')
    const complete = bytes.subarray(0, end)
    const lastLine = complete.lastIndexOf(NEWLINE, -2) + 1
    trailer = parseTrailer(decode(complete.subarray(lastLine, -1)))
    const before = trailer ? complete.subarray(0, lastLine) : complete
    hash.update(before)
    for (const text of splitSteps(decode(before))) {
      lines += text.split('\n').length - 1
      await stage(text)
    }
  }
  if (!trailer || rest.byteLength > 0) throw invalidImport('The file is incomplete: its last line is missing')
  const digest = hash.digest('hex')
  if (trailer.lines !== lines || trailer.sha256 !== digest)
    throw invalidImport('The file was changed: its content does not match its last line')
  return digest
}

/** Lines that the Registry stages before other requests to it get their turn. */
const LINES_PER_STEP = 1000

function* splitSteps(text: string): Iterable<string> {
  let start = 0
  for (let count = 1, end = 0; end < text.length; count++) {
    end = text.indexOf('\n', end) + 1
    if (count % LINES_PER_STEP > 0 && end < text.length) continue
    yield text.slice(start, end)
    start = end
  }
}

/** Collects the chunks of a file, which can be of one byte each, into larger ones. */
async function* readChunks(file: ImportedFile): AsyncIterable<Uint8Array> {
  const parts: Uint8Array[] = []
  let size = 0
  for (let value = await file.read(); value; value = await file.read()) {
    parts.push(value)
    size += value.byteLength
    if (parts.length < MAX_PARTS && size < CHUNK_BYTES) continue
    yield new Blob(parts.splice(0)).bytes()
    size = 0
  }
  yield new Blob(parts).bytes()
}

const CHUNK_BYTES = 256 * 1024
const MAX_PARTS = 4096

const decode = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw invalidImport('The file is not UTF-8')
  }
}

const NOTHING = 'Nothing was imported.'

const invalidImport = (message: string) => problem('invalid-import', `${NOTHING} ${message}.`)

const tooLarge = (message: string) => problem('too-large', `${NOTHING} ${message}.`)

const rejectionError = (rejection: ImportReply) => {
  switch (rejection.outcome) {
    case 'invalid':
      return invalidImport(rejection.message)
    case 'too-new':
      return problem('export-too-new', `${NOTHING} Version ${rejection.version} needs a newer host: upgrade it.`)
    case 'not-empty':
      return problem('host-not-empty', `${NOTHING} This host has agents, tokens or a history: use a new one.`)
    default:
      return problem('import-interrupted', `${NOTHING} Another import has begun, or the host was restarted.`)
  }
}
