/**
 * The bytes of a body, as its sender tells them before; null where that is not to be relied on: they are other bytes than will be
 * read, or HTTP goes by the chunks (RFC 9112 §6.3), and the length may be a lie.
 */
export const declaredContentLength = ({ headers }: Request | Response): number | null => {
  const length = headers.get('Content-Length')
  return length === null || headers.has('Content-Encoding') || headers.has('Transfer-Encoding') ? null : Number(length)
}
