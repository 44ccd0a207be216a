import { createHash } from 'node:crypto'
import { createReadStream, existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { ReadableStream } from 'node:stream/web'
import { createGzip } from 'node:zlib'
import { MAX_IMPORT_BYTES, MAX_IMPORT_LINE_BYTES } from '../../../src/limits.ts'
import { EXPORT_TYPE, parseTrailer } from '../../../src/registry/move/shared.ts'
import { ApiError } from '../../client/index.ts'
import { type Context, interruptSignal } from '../../context.ts'
import { CommandError, ExitCode, HostError, InterruptedError, UsageError } from '../../errors.ts'
import { createPart } from '../../manifests/index.ts'
import { type AddCommand, addConnectionOptions, addHostOptions, connect, type HostFlags } from '../../options.ts'
import { formatCount } from '../../terminal.ts'

type ImportFlags = HostFlags & { withoutTokens?: true }

/** Adds `export` and `import`, which move all that a host has registered to another one. */
export const addMove: AddCommand = (program, context) => {
  addConnectionOptions(program.command('export'), 'admin')
    .description('write everything that is registered on the host into a file, including history, tokens and audit')
    .argument('[file]', 'a new file; default: stdout')
    .action((file: string | undefined, flags: HostFlags) => exportHost(file, flags, context))
  addHostOptions(program.command('import'), 'admin')
    .description('register everything in an export on an empty host')
    .argument('<file>', 'a file that `sync-card export` has written')
    .option('--without-tokens', 'do not import tokens, because anyone who can edit the file can add one')
    .action((file: string, flags: ImportFlags) => importFile(file, flags, context))
}

const exportHost = async (file: string | undefined, flags: HostFlags, context: Context): Promise<void> => {
  const { terminal, cwd } = context
  if (file !== undefined && existsSync(resolve(cwd, file)))
    throw new UsageError(`${file} exists already: name a new file.`)
  const { client } = connect(flags, context)
  const { status, headers, body: stream } = await client.openExport()
  if (stream === null || headers.get('Content-Type') !== EXPORT_TYPE) throw client.explain(new ApiError({ status }))
  const signal = interruptSignal(context)
  const check: ExportCheck = { lines: 0 }
  // Nobody else can read the file.
  const part = file === undefined ? undefined : createPart(file, cwd, 0o600)
  try {
    for await (const line of readLines(stream.pipeThrough(new TransformStream(), { signal }), check))
      if (part) part.write(`${line}\n`)
      else terminal.raw(line)
    if (signal.aborted) throw new InterruptedError()
    if (check.problem !== undefined) throw new HostError(`the export broke off: ${check.problem}`)
    part?.complete()
  } finally {
    part?.remove()
  }
  const lines = formatCount(check.lines, 'line')
  terminal.info(`Exported ${lines}. Keep the file secret: it has internal cards and manifests.`)
}

/** The number of lines of an export before its last, and why it is not complete. */
type ExportCheck = { lines: number; problem?: string | undefined }

/** Yields the lines of an export until it ends or is interrupted, and checks them against the last. */
async function* readLines(chunks: AsyncIterable<Uint8Array>, check: ExportCheck): AsyncIterable<string> {
  const hash = createHash('sha256')
  let last: string | undefined
  const add = (line: string): void => {
    if (last !== undefined) {
      hash.update(`${last}\n`)
      check.lines++
    }
    last = line
  }
  const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true })
  let rest = ''
  let bytes = 0
  try {
    for await (const chunk of chunks) {
      // Only the chunk is searched: a line may have thousands of them.
      const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n')
      rest += first
      for (const line of others) {
        add(rest)
        yield rest
        rest = line
      }
      bytes += chunk.byteLength
      if (bytes > MAX_IMPORT_BYTES || rest.length > MAX_IMPORT_LINE_BYTES) {
        check.problem = 'the export, or a line of it, is longer than any that a host imports'
        return
      }
    }
    rest += decoder.decode()
  } catch (error) {
    // After an error of the network, the check finds what is missing.
    if (!(error instanceof TypeError || (error instanceof Error && error.name === 'AbortError'))) throw error
  }
  // A line without its end is not the last line.
  if (rest !== '') add('')
  const trailer = parseTrailer(last ?? '')
  const isEqual = trailer?.lines === check.lines && trailer.sha256 === hash.digest('hex')
  if (!isEqual) check.problem = trailer ? 'its content does not match its last line' : 'its last line is missing'
}

const importFile = async (file: string, flags: ImportFlags, context: Context): Promise<void> => {
  const { terminal, cwd } = context
  const path = resolve(cwd, file)
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) throw new UsageError(`There is no file ${file}.`)
  const check: ExportCheck = { lines: 0 }
  for await (const _ of readLines(createReadStream(path), check));
  if (check.problem !== undefined)
    throw new CommandError(
      ExitCode.rejected,
      `${file} is not a complete export: ${check.problem}. Nothing was imported.`,
    )
  const { client } = connect(flags, context)
  // The file is opened only for a host that is there.
  await client.getHealth()
  const query = flags.withoutTokens ? { tokens: false } : {}
  // The types of Node.js and of Workers differ, the class is one.
  const compressed = ReadableStream.from(createReadStream(path).pipe(createGzip())) as unknown
  const result = await client.call('POST /import', { query, stream: compressed as globalThis.ReadableStream })
  const agents = `${formatCount(result.agents, 'agent')} with ${formatCount(result.revisions, 'revision')}`
  if (flags.json) terminal.out(JSON.stringify(result))
  else terminal.report(`Imported ${agents}, and ${formatCount(result.tokens, 'token')}.`)
}
