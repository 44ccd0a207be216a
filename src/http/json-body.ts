import { findDuplicateName } from '../json/duplicate-names.ts'
import type { Json } from '../json/json.ts'
import { parseJson } from '../json/parse.ts'
import { decodeUtf8 } from '../json/utf8.ts'
import { MAX_BODY_BYTES } from '../limits.ts'
import { readBytes } from './body.ts'
import { HttpError } from './errors.ts'
import { isJsonType } from './media-type.ts'

/**
 * Reads the JSON body of a request to the registry. Checks its media type first, then its size, encoding, depth and syntax, and that no
 * object has a name twice: it would not be clear which of the values the sender meant.
 */
export const readJson = async (request: Request): Promise<Json> => {
  if (!isJsonType(request.headers.get('Content-Type')))
    throw new HttpError(415, 'unsupported-media-type', 'Send JSON, with `Content-Type: application/json`.')
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
  const parsed = parseJson(text)
  if ('refused' in parsed) throw new HttpError(parsed.refused === 'too-deep' ? 422 : 400, parsed.refused, parsed.detail)
  rejectDuplicateNames(text)
  return parsed.value
}

const bodyErrors = {
  'too-large': (maxBytes: number) => new HttpError(413, 'too-large', `The body is larger than ${maxBytes / 1024} KiB.`),
  incomplete: () => new HttpError(400, 'incomplete-body', 'The request ended before its body was complete.'),
}

/** How much of a pointer an error repeats. */
const MAX_POINTER_LENGTH = 200

const rejectDuplicateNames = (text: string): void => {
  const duplicate = findDuplicateName(text)
  if (duplicate === undefined) return
  const { line } = duplicate
  const pointer = duplicate.pointer.slice(0, MAX_POINTER_LENGTH).toWellFormed()
  const message = `is in its object twice, for the second time in line ${line}`
  throw new HttpError(422, 'duplicate-name', `${pointer} ${message}: remove one of the two.`, {
    errors: [{ pointer, message }],
  })
}
