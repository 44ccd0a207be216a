import { HttpError } from './errors.ts'

/** What this host knows of its agents cannot be read now; the log says why. */
export const serviceUnavailable = (): HttpError =>
  new HttpError(503, 'unavailable', 'This host cannot look up its agents now. Try again in a moment.', {
    headers: { 'Retry-After': '10' },
  })
