/** The format of an export, in the first line of each. */
export const EXPORT_FORMAT = 'calling-card-export'

/** The version of the format. A host reads files of this version only. */
export const EXPORT_VERSION = 1

/** The media type of an export: one JSON document a line. */
export const EXPORT_TYPE = 'application/x-ndjson'

/** The last line of an export: how many lines are before it, and their SHA-256, line breaks included. */
export type Trailer = { end: true; lines: number; sha256: string }

/** Parses the last line of an export; undefined for any other line. */
export const parseTrailer = (line: string): Trailer | undefined => {
  const [, lines, sha256 = ''] = /^\{"end":true,"lines":(\d{1,15}),"sha256":"([0-9a-f]{64})"\}$/.exec(line) ?? []
  return lines === undefined ? undefined : { end: true, lines: Number(lines), sha256 }
}
