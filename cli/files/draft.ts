import { type Compiled, compile } from '../../src/card/compile/index.ts'
import { readManifest } from '../../src/card/manifest/manifest.ts'
import type { CardError } from '../../src/card/model/report.ts'
import { isJsonObject, type JsonObject, omit, type Pointer } from '../../src/json/json.ts'
import { MAX_BODY_BYTES } from '../../src/limits.ts'
import { idOf } from './agent-id.ts'
import { authoredManifest, exposureErrors } from './authored-manifest.ts'
import type { BadFile } from './bad-file.ts'
import type { Defaults } from './defaults-file.ts'
import { externalAgents, isExternalAgents } from './external-agents.ts'
import { holdsNothing } from './holds-nothing.ts'
import { inherit } from './inherit.ts'
import { type Places, placesOf, withCardAt } from './places.ts'
import type { Source } from './source.ts'
import type { Written } from './written.ts'

/**
 * A file, or an entry of one, that can be sent. `compiled` is absent where the card itself is fetched by the host; `unexposed`: it is internal
 * only because it does not say that it is exposed.
 */
export type Draft = {
  file: string
  id: string
  manifest: JsonObject
  places: Places
  unexposed: boolean
  compiled?: Compiled
}

/** Makes of a file what is sent to the host at `origin`, and checks it with the host's own code. */
export const readDrafts = (source: Source, defaults: Defaults | undefined, origin: string): (Draft | BadFile)[] => {
  if (isExternalAgents(source))
    return externalAgents(source).map(written =>
      'problems' in written ? written : readDraft(written, source, defaults, origin),
    )
  const { file, value, markdown } = source
  if (!isJsonObject(value))
    return [bad(file, [{ pointer: '', message: value === null ? nothing(markdown) : noObject }])]
  const { manifest, cardAt, unexposed } = authoredManifest(value, markdown)
  const written = {
    label: file,
    manifest,
    authoredAt: withCardAt(cardAt),
    unexposed,
    errors: exposureErrors(value, markdown),
  }
  return [readDraft(written, source, defaults, origin)]
}

const nothing = (markdown: boolean): string => holdsNothing(markdown ? 'front matter' : 'file')

const noObject = 'must be an object: a card or a manifest'

const readDraft = (
  { label, authoredAt, unexposed, ...written }: Written,
  source: Source,
  defaults: Defaults | undefined,
  origin: string,
): Draft | BadFile => {
  const places = placesOf(source, authoredAt, defaults?.source)
  const named = idOf(source.file, written.manifest.id)
  if ('message' in named) return bad(label, [{ pointer: '/id', message: named.message }], places)
  const { id } = named
  const manifest = inherit(defaults?.manifest ?? {}, omit(written.manifest, 'id'))
  const errors = [...written.errors, ...sizeErrors(manifest)]
  const result = errors.length > 0 ? { errors } : check(manifest, id, origin)
  if ('errors' in result) return { ...bad(label, result.errors, places), id }
  return { file: label, id, manifest, places, unexposed, ...result }
}

const check = (
  manifest: JsonObject,
  id: string,
  requestOrigin: string,
): { compiled?: Compiled } | { errors: CardError[] } => {
  // The id is checked with the rest: it is not sent, as the address says it.
  const result = compile({ ...manifest, id }, { id, requestOrigin })
  if ('compiled' in result) return result
  const read = readManifest({ ...manifest, id }, id)
  if ('errors' in read) return read
  const { card, mcp } = read.manifest.upstream
  return card === undefined && mcp === undefined ? result : {}
}

const sizeErrors = (manifest: JsonObject): CardError[] => {
  const bytes = Buffer.byteLength(JSON.stringify(manifest))
  if (bytes <= MAX_BODY_BYTES) return []
  return [{ pointer: '', message: `is ${bytes} bytes long; at most ${MAX_BODY_BYTES} are allowed` }]
}

const bad = (file: string, errors: CardError[], places?: Places): BadFile => ({
  file,
  problems: errors.map(error => places?.problem(error) ?? { file, line: 1, column: 1, ...error }),
})

/** Whether a file can be sent. */
export const isDraft = (read: Draft | BadFile): read is Draft => 'manifest' in read

/** A place in the card of a draft, as the host names it in reports. */
export const inCard = (place: Pointer): Pointer => `/card${place}`
