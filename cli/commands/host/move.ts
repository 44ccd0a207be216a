import { createHash } from 'node:crypto'
import { createReadStream, existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { createGzip } from 'node:zlib'
import { MAX_IMPORT_BYTES, MAX_IMPORT_LINE_BYTES } from '../../../src/limits.ts'
import { parseTrailer } from '../../../src/registry/move/shared.ts'
import { HostError } from '../../client/index.ts'
import type { Context } from '../../context.ts'
import { ExitCode, UsageError } from '../../exit-codes.ts'
import { createPart } from '../../manifests/index.ts'
import {
  type AddCommand,
  addConnectionOptions,
  addHostOptions,
  connect,
  type HostFlags,
  interruptSignal,
} from '../../options.ts'
import { formatCount } from '../../terminal.ts'

type ImportFlags = HostFlags & { withoutTokens?: true }

/** Adds `export` and `import`, which move all that a host has registered to another one. */
export const addMove: AddCommand = (program, context, exit) => {
  addConnectionOptions(program.command('export'), 'admin')
    .description('write all that the host has registered into a file, its history, tokens and audit included')
    .argument('[file]', 'a new file; default: stdout')
    .action(async (file: string | undefined, flags: HostFlags) => exit(await exportHost(file, flags, context)))
  addHostOptions(program.command('import'), 'admin')
    .description('register all of an export on a host that is empty')
    .argument('<file>', 'what `sync-card export` wrote')
    .option('--without-tokens', 'import no tokens: anyone who can edit the file can add one')
    .action(async (file: string, flags: ImportFlags) => exit(await importFile(file, flags, context)))
}

const exportHost = async (file: string | undefined, flags: HostFlags, context: Context): Promise<number> => {
  const { terminal, cwd } = context
  const path = file === undefined ? undefined : resolve(cwd, file)
  if (path !== undefined && existsSync(path)) throw new UsageError(`${file} exists already: name a new file.`)
  const stream = await connect(flags, context).openExport()
  const signal = interruptSignal(context)
  const check = new ExportCheck()
  const lines = decodeLines(stream, check, signal)
  if (path === undefined) for await (const line of lines) terminal.raw(line)
  else await writeFile(path, lines, check)
  if (signal.aborted) return ExitCode.interrupted
  const problem = check.findProblem()
  if (problem !== undefined) throw new HostError(`the export broke off: ${problem}`)
  terminal.info(
    `Exported ${formatCount(check.lines, 'line')}. Keep the file secret: it has internal cards and manifests.`,
  )
  return ExitCode.ok
}

/** Writes a file that has its name only once it is complete, and that nobody else can read. */
const writeFile = async (path: string, lines: AsyncIterable<string>, check: ExportCheck): Promise<void> => {
  const part = createPart(path, '', 0o600)
  try {
    for await (const line of lines) part.write(`${line}\n`)
    if (check.findProblem() === undefined) part.complete()
  } finally {
    part.remove()
  }
}

/** Yields the lines of a stream until it ends or the user interrupts the program, and has them checked. */
async function* decodeLines(
  stream: ReadableStream<Uint8Array>,
  check: ExportCheck,
  signal: AbortSignal,
): AsyncIterable<string> {
  const decoder = new TextDecoder()
  const reader = stream.getReader()
  let rest = ''
  let bytes = 0
  try {
    signal.addEventListener('abort', () => reader.cancel().catch(() => undefined))
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const chunk = next.value
      check.update(chunk)
      // Only the chunk is searched: a line may have thousands of them.
      const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n')
      rest += first
      for (const line of others) {
        yield rest
        rest = line
      }
      bytes += chunk.byteLength
      if (bytes > MAX_IMPORT_BYTES || rest.length > MAX_IMPORT_LINE_BYTES)
        throw new HostError('the export, or a line of it, is longer than any that a host imports')
    }
  } catch (error) {
    // The check finds what is missing.
    if (!(error instanceof TypeError)) throw error
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

const importFile = async (file: string, flags: ImportFlags, context: Context): Promise<number> => {
  const { terminal, cwd } = context
  const path = resolve(cwd, file)
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) throw new UsageError(`There is no file ${file}.`)
  const check = new ExportCheck()
  for await (const chunk of createReadStream(path)) check.update(chunk)
  const problem = check.findProblem()
  if (problem !== undefined) {
    terminal.error(`${file} is not a complete export: ${problem}. Nothing was imported.`)
    return ExitCode.rejected
  }
  const compressed = createReadStream(path).pipe(createGzip())
  const result = await connect(flags, context).importFile(toStream(compressed), !flags.withoutTokens)
  const { agents, revisions, tokens } = result
  if (flags.json) terminal.out(JSON.stringify(result))
  else
    terminal.report(
      `Imported ${formatCount(agents, 'agent')} with ${formatCount(revisions, 'revision')}, and ${formatCount(tokens, 'token')}.`,
    )
  return ExitCode.ok
}

/** Returns a stream as `fetch` takes it. */
const toStream = (readable: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> => {
  const chunks = readable[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>({
    pull: async controller => {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
  })
}

const NEWLINE = 0x0a
/** Longer than the last line of an export can be. */
const MAX_TRAILER_BYTES = 256

/** Checks an export against its last line as it is read. */
class ExportCheck {
  readonly #hash = createHash('sha256')
  #tail = Buffer.alloc(0)
  /** Lines before the last one. */
  lines = 0

  /** Adds bytes of the file. */
  update(chunk: Uint8Array): void {
    const bytes = Buffer.concat([this.#tail, chunk])
    const end = Math.max(0, bytes.byteLength - MAX_TRAILER_BYTES)
    this.#add(bytes.subarray(0, end))
    this.#tail = bytes.subarray(end)
  }

  /** Returns why the file is not complete; undefined if it is. */
  findProblem(): string | undefined {
    const start = this.#tail.lastIndexOf(NEWLINE, -2) + 1
    const trailer = this.#tail.at(-1) === NEWLINE ? parseTrailer(this.#tail.subarray(start, -1).toString()) : undefined
    if (!trailer) return 'its last line is missing'
    this.#add(this.#tail.subarray(0, start))
    this.#tail = this.#tail.subarray(start)
    this.#digest ??= this.#hash.digest('hex')
    return trailer.lines === this.lines && trailer.sha256 === this.#digest
      ? undefined
      : 'its content does not match its last line'
  }

  #digest: string | undefined

  #add(bytes: Buffer): void {
    if (bytes.byteLength === 0) return
    this.#hash.update(bytes)
    for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) this.lines++
  }
}
