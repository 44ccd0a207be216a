import type { Json } from '../../json/json.ts'
import type { Pointer } from '../../json/pointer.ts'
import type { Provenance } from './provenance.ts'

/** Reads a list of media types, or one written without its list. Odd modes such as "text" are kept. */
export const readModes = (modes: Json, at: Pointer, reading: Provenance): Json => {
  if (typeof modes !== 'string') return modes
  reading.noteConversion(at, 'one media type, read as a list')
  reading.mapWhole(at, at)
  return [modes]
}
