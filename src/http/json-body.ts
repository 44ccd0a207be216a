import {
  decodeUtf8,
  findSyntaxMistake,
  isJsonType,
  type Json,
  parseUnambiguous,
  type SyntaxMistake,
} from '../json/index.ts'
import { MAX_BODY_BYTES } from '../limits.ts'
import { readBytes } from './body.ts'
import { HttpError } from './errors.ts'

/**
 * Reads the JSON body of a request to the registry. Checks its media type first, then its size, encoding, depth and syntax, and that no
 * object has a name twice.
 */
export const readJson = async (request: Request): Promise<Json> => {
  if (!isJsonType(request.headers.get('Content-Type')))
    throw new HttpError(
      415,
      'unsupported-media-type',
      'Send JSON, with `Content-Type: application/json`. sync-card converts YAML and Markdown.',
    )
  return parseJsonText(await readBodyText(request, MAX_BODY_BYTES))
}

/** Reads a body of at most `maxBytes` that must be UTF-8. */
export const readBodyText = async (request: Request, maxBytes: number): Promise<string> => {
  const body = await readBytes(request, maxBytes)
  if ('failed' in body) throw bodyErrors[body.failed](maxBytes)
  const decoded = decodeUtf8(body.bytes)
  if ('message' in decoded)
    throw new HttpError(
      400,
      'not-json',
      `The body is not UTF-8 text, as JSON must be: ${decoded.message}, in line ${decoded.line}.`,
    )
  return decoded.text
}

/** Parses a JSON document that a client sent, with the same checks. */
export const parseJsonText = (text: string): Json => {
  const parsed = parseUnambiguous(text)
  if ('value' in parsed) return parsed.value
  const { refused } = parsed
  const isAmbiguous = 'pointer' in parsed
  const detail = isAmbiguous || text.trim() === '' ? parsed.detail : describeMistake(findSyntaxMistake(text))
  const errors = isAmbiguous ? { errors: [{ pointer: parsed.pointer, message: parsed.message }] } : {}
  throw new HttpError(refused === 'not-json' ? 400 : 422, refused, detail, errors)
}

const describeMistake = ({ line, column, message }: SyntaxMistake): string =>
  message.replace(/\.$/, ` (line ${line}, column ${column}).`)

const bodyErrors = {
  'too-large': (maxBytes: number) =>
    new HttpError(
      413,
      'too-large',
      `The body is larger than ${maxBytes / 1024} KiB. A card links to icons and documents instead of containing them.`,
    ),
  incomplete: () => new HttpError(400, 'incomplete-body', 'The request ended before its body was complete.'),
}
