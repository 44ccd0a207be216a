import { type Compiled, compile } from '../../src/card/compile/index.ts'
import {
  createSourceMap,
  type Diagnostic,
  emptyMessage,
  type InvalidFile,
  type ParsedFile,
  type SourceMap,
} from '../../src/card/file/index.ts'
import { containsSecret, createRedaction, findDisallowedSecrets } from '../../src/card/lint/index.ts'
import { readManifest } from '../../src/card/manifest/index.ts'
import { agentIdPattern, type CardError, type Issue } from '../../src/card/model/index.ts'
import { isJsonObject, type JsonObject, omit, type Pointer } from '../../src/json/index.ts'
import { MAX_BODY_BYTES } from '../../src/limits.ts'
import { suggestField, suggestMisspelling } from '../did-you-mean.ts'
import { isExternalAgents, readExternalAgents } from './external-agents.ts'
import { applyDefaults, type Defaults } from './folder-defaults.ts'
import { agentIdFor, type ManifestSource, normalizeDocument } from './normalize.ts'

/** A file, or an entry of one, that can be sent to a host. */
export type Draft = {
  file: string
  id: string
  manifest: JsonObject
  sourceMap: SourceMap
  /** Whether it is internal only because its front matter has no `exposed`. */
  unexposed: boolean
  /** Absent if the host has to fetch the card. */
  compiled?: Compiled
}

/** A finding of the linter, and where it is in the owner's files. */
export type LocatedIssue = { issue: Issue; at: Diagnostic }

/** The host for which files are read, and the places that may have what looks like a secret in any of them. */
export type ReadOptions = { origin: string; allowSecrets: readonly Pointer[] }

/** Turns a file into what is sent to the host at `origin`, and checks it with the host's own code. */
export const readDrafts = (
  source: ParsedFile,
  defaults: Defaults | undefined,
  options: ReadOptions,
): (Draft | InvalidFile)[] => {
  const toDraft = (written: ManifestSource): Draft | InvalidFile => readDraft(written, source, defaults, options)
  if (isExternalAgents(source))
    return readExternalAgents(source).map(entry => ('problems' in entry ? entry : toDraft(entry)))
  const { file, value, markdown } = source
  if (isJsonObject(value)) return [toDraft(normalizeDocument(file, value, markdown))]
  const message = value === null ? emptyMessage(markdown) : NOT_AN_OBJECT
  return [{ file, problems: [{ file, line: 1, column: 1, pointer: '', message }] }]
}

const NOT_AN_OBJECT =
  'must be an object: one card or manifest in each file, with a space after each colon, as in `name: Weather`'

/** Returns what the linter found in a draft. */
export const locateIssues = ({ compiled, sourceMap }: Draft): LocatedIssue[] =>
  (compiled?.report.issues ?? []).map(issue => ({
    issue,
    at: sourceMap.locateError({ pointer: `/card${issue.pointer}`, message: issue.message }),
  }))

/** Returns where a place in the card of an agent is written; for a card that the host fetches, where its source is named. */
export const locateInCard = ({ compiled, sourceMap }: Draft, { pointer, message }: CardError): Diagnostic => {
  if (compiled) return sourceMap.locateError({ pointer: `/card${pointer}`, message })
  const isOwn = pointer.startsWith('/card/')
  return { ...sourceMap.locateError({ pointer: isOwn ? pointer : '/upstream', message }), pointer }
}

/** Whether a file can be sent. */
export const isDraft = (item: Draft | InvalidFile): item is Draft => 'manifest' in item

const readDraft = (
  { label, mapping, unexposed, ...written }: ManifestSource,
  source: ParsedFile,
  defaults: Defaults | undefined,
  { origin, allowSecrets }: ReadOptions,
): Draft | InvalidFile => {
  const sourceMap = createSourceMap(source, mapping, defaults?.sources ?? [])
  const redact = createRedaction([source.value, defaults?.manifest])
  const locate = (errors: readonly CardError[]): Diagnostic[] =>
    redact(errors.map(error => suggestMisspelling(error, written.manifest)))
      .map(suggestField)
      .map(sourceMap.locateError)
  const named = agentIdFor(source.file, written.manifest.id)
  const manifest = applyDefaults(defaults?.manifest ?? {}, omit(written.manifest, 'id'))
  const errors = [...written.errors, ...checkSize(manifest)]
  const isAllowed = (secret: CardError): boolean =>
    [secret.pointer, sourceMap.locateError(secret).pointer].some(pointer => allowSecrets.includes(pointer))
  const checkAs = (id: string): Checked => (errors.length > 0 ? { errors } : check(manifest, { id, origin, isAllowed }))
  const problemsOf = (result: Checked): Diagnostic[] => {
    if ('manifest' in result) return []
    if ('errors' in result) return locate(result.errors)
    return locate(result.secrets).map(problem => ({ ...problem, rule: 'secret' }))
  }
  if ('message' in named)
    return {
      file: label,
      problems: [...locate([{ pointer: '/id', message: named.message }]), ...problemsOf(checkAs(VALID_ID))],
    }
  const { id } = named
  const result = checkAs(id)
  if ('manifest' in result) return { file: label, id, sourceMap, unexposed, ...result }
  // An invalid id is the only error that the host finds: the rest of the file is checked with another.
  const others = agentIdPattern.test(id) || errors.length > 0 ? [] : problemsOf(checkAs(VALID_ID))
  return {
    file: label,
    ...(!containsSecret(id, 'id') && { id }),
    problems: [...problemsOf(result), ...others],
  }
}

/** An id with which the rest of a file is checked whose own is invalid. */
const VALID_ID = 'agent'

type CheckContext = { id: string; origin: string; isAllowed: (secret: CardError) => boolean }

type Checked = Pick<Draft, 'manifest' | 'compiled'> | { errors: CardError[] } | { secrets: CardError[] }

/** Checks a manifest, to which the allowed secrets are added. */
const check = (manifest: JsonObject, context: CheckContext): Checked => {
  const result = checkAsHost(manifest, context)
  if ('errors' in result) return result
  const { secrets, ...checked } = result
  if (secrets.length === 0) return { manifest, ...checked }
  if (!secrets.every(context.isAllowed))
    return {
      secrets: secrets
        .filter(secret => !context.isAllowed(secret))
        .map(({ pointer, message }) => ({ pointer, message: `${message}, or run with --allow-secret ${pointer}` })),
    }
  const declared = Array.isArray(manifest.allowSecrets) ? manifest.allowSecrets : []
  const allowSecrets = [...declared, ...secrets.map(({ pointer }) => pointer)]
  return check({ ...manifest, allowSecrets }, { ...context, isAllowed: () => false })
}

const checkAsHost = (
  manifest: JsonObject,
  { id, origin }: CheckContext,
): { compiled?: Compiled; secrets: CardError[] } | { errors: CardError[] } => {
  // The id is checked too. It is not sent: the URL has it.
  const result = compile({ ...manifest, id }, { id, requestOrigin: origin })
  if ('compiled' in result) return { compiled: result.compiled, secrets: result.compiled.secrets }
  const parsed = readManifest({ ...manifest, id }, id)
  if ('errors' in parsed) return parsed
  const { card, mcp } = parsed.manifest.upstream
  return card === undefined && mcp === undefined ? result : { secrets: findDisallowedSecrets(parsed) }
}

const checkSize = (manifest: JsonObject): CardError[] => {
  const bytes = Buffer.byteLength(JSON.stringify(manifest))
  if (bytes <= MAX_BODY_BYTES) return []
  const advice = 'link to icons and documents instead of including them'
  return [{ pointer: '', message: `has ${bytes} bytes; the limit is ${MAX_BODY_BYTES}: ${advice}` }]
}
