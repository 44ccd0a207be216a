import type { CallError } from '../../a2a/index.ts'
import { parseJsonLossless } from '../../a2a/start.ts'
import { type BodyText, readText } from '../../http/start.ts'
import type { Json } from '../../json/index.ts'
import { essence, isJsonType } from '../../json/start.ts'
import { MAX_CALL_BYTES, MAX_REFUSED_CALL_BYTES } from '../../limits.ts'

/** Checks whether a request declares a body that is small enough to be read even if the call is refused. */
export const hasSmallBody = ({ headers }: Request): boolean =>
  Number(headers.get('Content-Length') ?? MAX_CALL_BYTES) <= MAX_REFUSED_CALL_BYTES

/** Reads and parses the body of a call. The value of an empty body that is `optional` is null. */
export const readCallBody = async (
  request: Request,
  { optional = false } = {},
): Promise<{ value: Json } | CallError> => {
  const { headers } = request
  // A POST without a body has a length of 0 and no content type.
  if (optional && (headers.get('Content-Length') === '0' || request.body === null)) return { value: null }
  if (!isAcceptedType(headers)) return { kind: 'content-type', offered: headers.get('Content-Type') }
  const read = await readText(request, MAX_CALL_BYTES)
  if ('failed' in read) return BODY_ERRORS[read.failed]
  return read.text === '' && optional ? { value: null } : parseJsonLossless(read.text)
}

const BODY_ERRORS: Record<Extract<BodyText, { failed: string }>['failed'], CallError> = {
  'too-large': { kind: 'too-large', maxBytes: MAX_CALL_BYTES },
  'not-utf-8': { kind: 'not-json', detail: 'The body is not UTF-8 text, as JSON must be.' },
  // The client has disconnected: this error is for the log.
  incomplete: { kind: 'aborted' },
}

/** Accepts JSON, and what `curl -d` declares, as GopherHole's examples do, if `Authorization` requires a preflight. */
const isAcceptedType = (headers: Headers): boolean => {
  const type = headers.get('Content-Type')
  return isJsonType(type) || (essence(type) === 'application/x-www-form-urlencoded' && headers.has('Authorization'))
}
