import { decodeUtf8, findSyntaxMistake, isJsonType, type Json, parseUnambiguous } from '../json/index.ts'
import { MAX_BODY_BYTES } from '../limits.ts'
import { readBytes } from './body.ts'
import { matchesIfNoneMatch, strongEtag } from './conditional.ts'
import { CORS_HEADERS, PRIVATE_NO_STORE } from './headers.ts'
import { problem } from './http-error.ts'

/** Reads the JSON body of a request, and checks its media type, size, encoding, depth, syntax and unique names. */
export const readJson = async (request: Request): Promise<Json> => {
  if (!isJsonType(request.headers.get('Content-Type')))
    throw problem(
      'unsupported-media-type',
      'Send JSON, with `Content-Type: application/json`. sync-card converts YAML and Markdown.',
    )
  return parseJsonText(await readBodyText(request, MAX_BODY_BYTES))
}

/** Reads a body of at most `maxBytes` that must be UTF-8. */
export const readBodyText = async (request: Request, maxBytes: number): Promise<string> => {
  const body = await readBytes(request, maxBytes)
  if ('failed' in body)
    throw body.failed === 'incomplete'
      ? problem('incomplete-body', 'The request ended before its body was complete.')
      : problem(
          'too-large',
          `The body is larger than ${maxBytes / 1024} KiB. ` +
            'A card links to icons and documents instead of containing them.',
        )
  const decoded = decodeUtf8(body.bytes)
  if ('text' in decoded) return decoded.text
  const { message, line } = decoded
  throw problem('not-json', `The body is not UTF-8 text, as JSON must be: ${message}, in line ${line}.`)
}

/** Parses a JSON document that a client sent, with the same checks. */
export const parseJsonText = (text: string): Json => {
  const parsed = parseUnambiguous(text)
  if ('value' in parsed) return parsed.value
  const { refused, detail } = parsed
  if ('pointer' in parsed)
    throw problem(refused, detail, { errors: [{ pointer: parsed.pointer, message: parsed.message }] })
  if (text.trim() === '') throw problem(refused, detail)
  const { message, line, column } = findSyntaxMistake(text)
  throw problem(refused, message.replace(/\.$/, ` (line ${line}, column ${column}).`))
}

/** Responds to a GET of a document or text: 304 if the client has it. `shared` is its caching without credentials. */
export const respondWithDocument = async (document: unknown, headers: Headers, type: string, shared: string) => {
  const body = typeof document === 'string' ? document : JSON.stringify(document)
  const etag = await strongEtag(new TextEncoder().encode(body))
  const caching = headers.has('Authorization') ? PRIVATE_NO_STORE : shared
  const common = { ...CORS_HEADERS, 'Cache-Control': caching, ETag: etag }
  return matchesIfNoneMatch(headers.get('If-None-Match'), etag)
    ? new Response(null, { status: 304, headers: common })
    : new Response(body, { headers: { ...common, 'Content-Type': type } })
}
