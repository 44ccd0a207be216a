import { basename, extname } from 'node:path'
import { type Compiled, compile, parseManifest } from '../../src/card/compile/index.ts'
import type { Diagnostic, InvalidFile, ParsedFile, SourceMap } from '../../src/card/file/index.ts'
import { createSourceMap, emptyMessage } from '../../src/card/file/index.ts'
import { containsSecret, createRedaction } from '../../src/card/lint/index.ts'
import { agentIdPattern, type Finding, type Issue, toSlug } from '../../src/card/model/index.ts'
import { isJsonObject, type Json, type JsonObject, omit, type Pointer } from '../../src/json/index.ts'
import { MAX_BODY_BYTES } from '../../src/limits.ts'
import { suggestField, suggestMisspelling } from '../did-you-mean.ts'
import { applyDefaults, type Defaults } from './folder-defaults.ts'
import { isExternalAgents, type ManifestSource, normalizeDocument, readExternalAgents } from './manifest-source.ts'

/** A file, or an entry of one, that can be sent to a host. */
export type Draft = Pick<ManifestSource, 'manifest' | 'unexposed'> & {
  file: string
  id: string
  sourceMap: SourceMap
  /** Absent if the host has to fetch the card. */
  compiled?: Compiled
}

/** A finding of the linter, and where it is in the owner's files. */
export type LocatedIssue = { issue: Issue; at: Diagnostic }

/** The host for which files are read, and the places that may have what looks like a secret in any of them. */
export type ReadOptions = { origin: string; allowSecrets: readonly Pointer[] }

/** Turns a file into what is sent to the host at `origin`, and checks it with the host's own code. */
export const readDrafts = (source: ParsedFile, defaults: Defaults, options: ReadOptions): (Draft | InvalidFile)[] => {
  const toDraft = (written: ManifestSource): Draft | InvalidFile => readDraft(written, source, defaults, options)
  if (isExternalAgents(source))
    return readExternalAgents(source).map(entry => ('manifest' in entry ? toDraft(entry) : entry))
  const { file, value, markdown } = source
  if (isJsonObject(value)) return [toDraft(normalizeDocument(file, value, markdown))]
  const message = value === null ? emptyMessage(markdown) : NOT_AN_OBJECT
  return [{ file, problems: [{ file, line: 1, column: 1, pointer: '', message }] }]
}

const NOT_AN_OBJECT =
  'must be an object: one card or manifest in each file, with a space after each colon, as in `name: Weather`'

/** Returns what the linter found in a draft. */
export const locateIssues = (draft: Draft): LocatedIssue[] =>
  (draft.compiled?.report.issues ?? []).map(issue => ({ issue, at: locateInCard(draft, issue) }))

/** Returns where a place in the card of an agent is written; for a card that the host fetches, where its source is. */
export const locateInCard = ({ compiled, sourceMap }: Draft, { pointer, message }: Finding): Diagnostic => {
  if (compiled) return sourceMap.locateError({ pointer: `/card${pointer}`, message })
  const isOwn = pointer.startsWith('/card/')
  return { ...sourceMap.locateError({ pointer: isOwn ? pointer : '/upstream', message }), pointer }
}

/** Checks whether a file can be sent. */
export const isDraft = (item: Draft | InvalidFile): item is Draft => 'manifest' in item

const readDraft = (written: ManifestSource, source: ParsedFile, defaults: Defaults, options: ReadOptions) => {
  const { label, mapping, unexposed } = written
  const { origin, allowSecrets } = options
  const sourceMap = createSourceMap(source, mapping, defaults.sources)
  const redact = createRedaction([source.value, defaults.manifest])
  const locate = (errors: readonly FoundError[]): Diagnostic[] =>
    redact(errors.map(error => suggestMisspelling(error, written.manifest))).map(error => ({
      ...sourceMap.locateError(suggestField(error)),
      ...(error.rule !== undefined && { rule: error.rule }),
    }))
  const manifest = applyDefaults(defaults.manifest, omit(written.manifest, 'id'))
  const errors = [...written.errors, ...checkSize(manifest)]
  const isAllowed = (secret: Finding): boolean =>
    [secret.pointer, sourceMap.locateError(secret).pointer].some(pointer => allowSecrets.includes(pointer))
  const checkAs = (id: string): Checked => (errors.length > 0 ? { errors } : check(manifest, { id, origin, isAllowed }))
  const findProblems = (result: Checked): Diagnostic[] => ('errors' in result ? locate(result.errors) : [])
  const named = agentIdFor(source.file, written.manifest.id)
  if (typeof named !== 'string')
    return { file: label, problems: [...locate([{ pointer: '/id', ...named }]), ...findProblems(checkAs(VALID_ID))] }
  const result = checkAs(named)
  if ('manifest' in result) return { file: label, id: named, sourceMap, unexposed, ...result }
  // An invalid id is the only error that the host finds: the rest of the file is checked with another.
  const others = agentIdPattern.test(named) || errors.length > 0 ? [] : findProblems(checkAs(VALID_ID))
  const id = containsSecret(named, 'id') ? {} : { id: named }
  return { file: label, ...id, problems: [...findProblems(result), ...others] }
}

const agentIdFor = (file: string, declared: Json | undefined): string | { message: string } => {
  if (declared !== undefined) return typeof declared === 'string' ? declared : { message: 'must be a string' }
  const extension = extname(file)
  const name = basename(file, extension)
  if (agentIdPattern.test(name)) return name
  const id = toSlug(name, 'my-agent')
  const advice = `name the file ${id}${extension}, or write \`id: ${id}\` in a manifest`
  return { message: `"${name}" is not a valid id (lowercase letters, digits and hyphens): ${advice}` }
}

/** An id with which the rest of a file is checked whose own is invalid. */
const VALID_ID = 'agent'

type FoundError = Finding & { rule?: string }

type CheckContext = { id: string; origin: string; isAllowed: (secret: Finding) => boolean }

type Checked = Pick<Draft, 'manifest' | 'compiled'> | { errors: FoundError[] }

/** Checks a manifest as the host does, and adds the allowed secrets to it. */
const check = (manifest: JsonObject, { id, origin, isAllowed }: CheckContext): Checked => {
  // The id is checked too. It is not sent: the URL has it.
  const parsed = parseManifest({ ...manifest, id }, { id, requestOrigin: origin })
  if ('errors' in parsed) return parsed
  const { secrets, source } = parsed
  const refused = secrets.filter(secret => !isAllowed(secret))
  if (refused.length > 0) {
    const advise = ({ pointer, message }: Finding) => `${message}, or run with --allow-secret ${pointer}`
    return { errors: refused.map(secret => ({ ...secret, message: advise(secret), rule: 'secret' })) }
  }
  if (secrets.length > 0) {
    const declared = Array.isArray(manifest.allowSecrets) ? manifest.allowSecrets : []
    const allowSecrets = [...declared, ...secrets.map(({ pointer }) => pointer)]
    return check({ ...manifest, allowSecrets }, { id, origin, isAllowed: () => false })
  }
  // Only the host can fetch a card.
  if (source) return { manifest }
  const result = compile(parsed)
  return 'errors' in result ? result : { manifest, compiled: result.compiled }
}

const checkSize = (manifest: JsonObject): Finding[] => {
  const bytes = Buffer.byteLength(JSON.stringify(manifest))
  if (bytes <= MAX_BODY_BYTES) return []
  const advice = 'link to icons and documents instead of including them'
  return [{ pointer: '', message: `has ${bytes} bytes; the limit is ${MAX_BODY_BYTES}: ${advice}` }]
}
