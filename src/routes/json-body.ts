import type { Json } from '../card/json.ts'
import { limits } from '../card/limits.ts'
import { parseJson } from '../card/parse-json.ts'
import { boundedBody } from '../http/bounded-body.ts'
import { isJsonType } from '../http/json-type.ts'
import { HttpError } from '../http/problem.ts'

/** Reads a request's JSON body: its media type first, never more than the limit, then its syntax and depth. */
export const jsonBody = async (request: Request): Promise<Json> => {
  if (!isJsonType(request.headers.get('Content-Type')))
    throw new HttpError(
      415,
      'unsupported-media-type',
      'Send the card or manifest as JSON, with `Content-Type: application/json`.',
    )
  const bytes = await boundedBody(request, limits.bodyBytes)
  if (bytes === undefined) throw tooLarge()
  const parsed = parseJson(decode(bytes))
  if ('value' in parsed) return parsed.value
  throw new HttpError(parsed.refused === 'too-deep' ? 422 : 400, parsed.refused, parsed.detail)
}

const tooLarge = () =>
  new HttpError(
    413,
    'too-large',
    `The body is larger than ${limits.bodyBytes / 1024} KiB, the most that this host takes.`,
  )

const decode = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    throw new HttpError(400, 'not-json', 'The body is not UTF-8 text; JSON always is.')
  }
}
