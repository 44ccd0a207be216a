import { test as isMediaTypeName, parse as parseMediaType } from 'media-typer'
import type { Json } from '../card/json.ts'
import { limits } from '../card/limits.ts'
import { parseJson } from '../card/parse-json.ts'
import { HttpError } from '../http/problem.ts'

/** Reads a request's JSON body: its media type first, never more than the limit, then its syntax and depth. */
export const jsonBody = async (request: Request): Promise<Json> => {
  if (!isJson(request.headers.get('Content-Type')))
    throw new HttpError(
      415,
      'unsupported-media-type',
      'Send the card or manifest as JSON, with `Content-Type: application/json`.',
    )
  const parsed = parseJson(decode(await boundedBytes(request, limits.bodyBytes)))
  if ('value' in parsed) return parsed.value
  throw new HttpError(parsed.refused === 'too-deep' ? 422 : 400, parsed.refused, parsed.detail)
}

const isJson = (header: string | null): boolean => {
  const name = header?.split(';', 1)[0]?.trim() ?? ''
  if (!isMediaTypeName(name)) return false
  const { type, subtype, suffix } = parseMediaType(name)
  return suffix === 'json' || (type === 'application' && subtype === 'json')
}

const tooLarge = () =>
  new HttpError(
    413,
    'too-large',
    `The body is larger than ${limits.bodyBytes / 1024} KiB, the most that this host takes.`,
  )

const boundedBytes = async (request: Request, most: number): Promise<Uint8Array> => {
  if (Number(request.headers.get('Content-Length') ?? 0) > most) throw tooLarge()
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength
    if (size > most) throw tooLarge()
    chunks.push(chunk)
  }
  return new Blob(chunks).bytes()
}

const decode = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    throw new HttpError(400, 'not-json', 'The body is not UTF-8 text; JSON always is.')
  }
}
