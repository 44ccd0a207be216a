import { HttpError } from './errors.ts'

/** More than the limit of a minute takes; the detail says of what. */
export const tooManyRequests = (detail: string): HttpError =>
  new HttpError(429, 'too-many-requests', `${detail} Try again in a minute.`, { headers: { 'Retry-After': '60' } })
