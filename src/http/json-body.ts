import type { Json } from '../json/json.ts'
import { parseJson } from '../json/parse.ts'
import { limits } from '../limits.ts'
import { readText } from './bounded-text.ts'
import { HttpError } from './errors.ts'
import { isJsonType } from './json-type.ts'

/** Reads a request's JSON body: its media type first, never more than the limit, then its syntax and depth. */
export const readJson = async (request: Request): Promise<Json> => {
  if (!isJsonType(request.headers.get('Content-Type')))
    throw new HttpError(415, 'unsupported-media-type', 'Send JSON, with `Content-Type: application/json`.')
  const body = await readText(request, limits.bodyBytes)
  if ('failed' in body) throw body.failed === 'too-large' ? tooLarge() : notText()
  const parsed = parseJson(body.text)
  if ('value' in parsed) return parsed.value
  throw new HttpError(parsed.refused === 'too-deep' ? 422 : 400, parsed.refused, parsed.detail)
}

const tooLarge = () =>
  new HttpError(
    413,
    'too-large',
    `The body is larger than ${limits.bodyBytes / 1024} KiB, the most that this host takes.`,
  )

const notText = () => new HttpError(400, 'not-json', 'The body is not UTF-8 text; JSON always is.')
