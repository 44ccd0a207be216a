import { isDeeperThan, type Json } from '../../json/index.ts'
import { MAX_JSON_DEPTH } from '../../limits.ts'

/** The format of an export, in the first line of each. */
export const EXPORT_FORMAT = 'calling-card-export'

/** The version of the format. A host reads files of this version only. */
export const EXPORT_VERSION = 1

/** The media type of an export: one JSON document a line. */
export const EXPORT_TYPE = 'application/x-ndjson'

/** Parses JSON; undefined for any other text, and for JSON that nests too deep. */
export const parseJson = (text: string): Json | undefined => {
  if (isDeeperThan(text, MAX_LINE_DEPTH)) return undefined
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** A drift and a list of changes contain parts of manifests, and a line contains a row. */
const MAX_LINE_DEPTH = 2 * MAX_JSON_DEPTH

/** The last line of an export: how many lines are before it, and their SHA-256, line breaks included. */
export type Trailer = { end: true; lines: number; sha256: string }

/** Parses the last line of an export; undefined for any other line. */
export const parseTrailer = (line: string): Trailer | undefined => {
  const [, lines, sha256 = ''] = /^\{"end":true,"lines":(\d{1,15}),"sha256":"([0-9a-f]{64})"\}$/.exec(line) ?? []
  return lines === undefined ? undefined : { end: true, lines: Number(lines), sha256 }
}
