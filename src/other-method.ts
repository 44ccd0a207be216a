import { HttpError } from './http/errors.ts'

/** A path that is known, asked in another way than it takes. */
export const otherMethod = (method: string, allowed: readonly string[]): HttpError =>
  new HttpError(405, 'method-not-allowed', `This path takes ${allowed.join(', ')}, not ${method}.`, {
    headers: { Allow: allowed.join(', ') },
  })
