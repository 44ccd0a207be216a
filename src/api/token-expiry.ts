const day = 86_400
/** In seconds: KV keeps nothing for less than a minute, and nobody knows who holds a token in ten years. */
const least = 60
const most = 3650 * day

const form = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/

/** When a token ends, in ms since 1970, or null for never: from seconds, or from a date (its beginning in UTC) or a time with its zone. */
export const parseExpiry = (
  expires: string | number | null,
  now: number,
): { at: number | null } | { refused: string } => {
  if (expires === null) return { at: null }
  const at = typeof expires === 'number' ? now + expires * 1000 : timeOf(expires)
  if (Number.isNaN(at))
    return { refused: 'must be seconds from now, or a date such as 2027-01-31 or 2027-01-31T12:00:00Z' }
  if (typeof expires === 'number' && !Number.isInteger(expires)) return { refused: 'must be whole seconds' }
  if (at < now + least * 1000) return { refused: `must be at least ${least} seconds from now` }
  if (at > now + most * 1000) return { refused: `must be at most ${most / day} days from now; leave it out for no end` }
  return { at }
}

/** A day that its month has not is no date, though `Date` takes it for one of the next. */
const timeOf = (text: string): number => {
  const date = form.exec(text)?.[1]
  if (date === undefined) return Number.NaN
  const midnight = Date.parse(date)
  return new Date(midnight || 0).toISOString().startsWith(date) ? Date.parse(text) : Number.NaN
}
