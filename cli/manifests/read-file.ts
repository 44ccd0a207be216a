import { readFileSync, type Stats, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Diagnostic, type ParsedFile, type Position, parseFile } from '../../src/card/file/index.ts'
import { decodeUtf8 } from '../../src/json/index.ts'
import { MAX_FILE_BYTES } from '../context.ts'
import { isSystemError } from '../failure.ts'

/** Reads and parses a file. Returns a reason, a clause, if the path is no file to read. */
export const readFile = (file: string, cwd: string): ParsedFile | { problems: Diagnostic[] } | { reason: string } => {
  const bytes = readBytes(resolve(cwd, file))
  if ('reason' in bytes) return bytes
  const decoded = 'message' in bytes ? bytes : decodeText(bytes)
  if (typeof decoded === 'string') return parseFile(file, decoded)
  return { problems: [{ file, line: 1, column: 1, pointer: '', ...decoded }] }
}

const readBytes = (path: string): Buffer | { message: string } | { reason: string } => {
  try {
    const stats = statSync(path)
    if (stats.size > MAX_FILE_BYTES) return { message: `is larger than ${MAX_FILE_BYTES / 2 ** 20} MiB` }
    const reason = describeSpecialFile(stats)
    return reason === undefined ? readFileSync(path) : { reason }
  } catch (error) {
    if (isSystemError(error)) return { message: `cannot be read: ${error.message}` }
    throw error
  }
}

/** Returns what a path is if it is no file to read. Opening a FIFO would wait for a writer, so none of these is opened. */
const describeSpecialFile = (stats: Stats): string | undefined => {
  if (stats.isDirectory()) return 'it is a link to a folder; name that folder to read it'
  if (stats.isFIFO()) return 'it is a FIFO'
  if (stats.isSocket()) return 'it is a socket'
  return stats.isCharacterDevice() || stats.isBlockDevice() ? 'it is a device' : undefined
}

/** Byte order marks of other encodings. The one of UTF-32 begins with the one of UTF-16. */
const OTHER_MARKS = [
  ['UTF-32', [0xff, 0xfe, 0, 0]],
  ['UTF-32', [0, 0, 0xfe, 0xff]],
  ['UTF-16', [0xff, 0xfe]],
  ['UTF-16', [0xfe, 0xff]],
] as const

/** Decodes UTF-8. Any other encoding is refused: a decoder would replace what it cannot read, and that would be published. */
const decodeText = (bytes: Buffer): string | (Partial<Position> & { message: string }) => {
  const [other] = OTHER_MARKS.find(([, mark]) => mark.every((byte, index) => bytes[index] === byte)) ?? []
  if (other !== undefined) return { message: `is ${other}, not UTF-8: save it as UTF-8` }
  // Some editors write UTF-16 without its mark. No card has a NUL character.
  if (bytes.includes(0)) return { message: 'has NUL characters, as UTF-16 does: save it as UTF-8' }
  const decoded = decodeUtf8(bytes)
  if ('text' in decoded) return decoded.text
  const { line, column, message } = decoded
  return { line, column, message: `is not UTF-8: ${message}; save it as UTF-8` }
}
