/** Decodes a segment of a path; undefined if its percent-encoding is invalid. */
export const decodeSegment = (segment: string): string | undefined => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

const timeForm = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/

/**
 * Parses a date, which begins in UTC, or a time with its zone, into ms since 1970. Returns NaN for anything else, and
 * for a day that its month does not have, which `Date` would take for one of the next month.
 */
export const parseTime = (text: string): number => {
  const date = timeForm.exec(text)?.[1]
  if (date === undefined) return Number.NaN
  const midnight = Date.parse(date)
  return new Date(midnight || 0).toISOString().startsWith(date) ? Date.parse(text) : Number.NaN
}
