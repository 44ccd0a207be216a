import type { Json } from './json.ts'
import type { Reading } from './reading.ts'

/** Reads a list of media types, or one written without its list. Odd modes such as "text" are kept. */
export const readModes = (modes: Json, canonical: string, reading: Reading): Json => {
  if (typeof modes !== 'string') return modes
  reading.convert(reading.authored(canonical), 'one media type, read as a list')
  return [modes]
}
