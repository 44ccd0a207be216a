import * as v from 'valibot'
import { matches } from './schema.ts'

/** The name of a host; `*` is any other. */
export const hostname = v.pipe(
  v.string('must be a host name'),
  matches(
    /^(?:\*|(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*)$/,
    'must be a host name in lower case, without scheme, port or path; or "*"',
  ),
)
