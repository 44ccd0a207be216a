import { scopeChallenge } from '../auth/require.ts'
import { HttpError } from '../http/errors.ts'

/** What a writer is told of what is not a writer's to change; `what` is the beginning of a sentence. */
export const adminRequired = (what: string): HttpError =>
  new HttpError(403, 'forbidden', `${what} needs a token with the scope \`admin\`.`, {
    headers: { 'WWW-Authenticate': scopeChallenge('admin') },
  })
