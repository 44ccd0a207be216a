import type { Json, JsonObject, Pointer, StringValue } from '../../json/index.ts'
import { collectStrings, isJsonObject, mapMembers, omit } from '../../json/index.ts'
import { type LocatedManifest, listTiers } from '../manifest/index.ts'
import { type Finding, type Issue, toSlug } from '../model/index.ts'
import { hasEndpoint } from '../read/index.ts'
import { error, type LintContext, type Rule } from './rule.ts'

/** Tokens with a known prefix: of model hosts, code hosts, payment, mail, chat and cloud services; JWTs. */
const tokenFormats: readonly RegExp[] = [
  /^(?:sk-|gph_|hf_|npm_|glpat-|[a-z\d]+_live_|[rs]k_test_|SG\.|gh[pousr]_|github_pat_|AIza|cc_[a-z\d]+_)[\w-]{16,}/i,
  /^A(?:KIA|SIA)[\dA-Z]{16}(?![\dA-Z])/,
  /^xox[a-z]-[\w-]{10,}/,
  /^eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/,
]

/** A whole token: formats are tested at its start only, which keeps the search linear. */
const token = /[\w.-]{15,}/g

const privateKey = /-----BEGIN (?:[A-Z]+ ){0,3}PRIVATE KEY/
const urlPassword = /:\/\/[^\s/@:]+:([^\s/@]+)@/g
const queryCredential = /[?&#][\w-]*(?:key|token|secret|password|sig|signature)=([^?&#\s]{10,})/gi
const headerCredential = /\b(?:bearer|basic) ([\w.~+/-]{16,}=*)/gi

const dummy = /x{4}|\*{3}|\.{3}|your|example|placeholder|change|redacted|dummy|sample|insert|replace|[…<>{}$\s]/i

/** Names of headers and environment variables, blockchain addresses and URIs. */
const publicName = /^(?:x-.*|[A-Z\d]+(?:_[A-Z\d]+)+|0x[\da-fA-F]{40}|[a-z][a-z\d]*:.*)$/

const looksReal = (value: string): boolean =>
  /\d/.test(value) && /[a-z]/i.test(value) && new Set(value).size >= 6 && !dummy.test(value)

/** Random text mixes letters and digits; names and versions do not. */
const looksRandom = (value: string): boolean =>
  looksReal(value) && (value.match(/\d(?=[a-z])|[a-z](?=\d)/gi) ?? []).length > 2

/** Members whose value is a secret, unless it is a public name. People choose passwords; other secrets are random. */
const secretMembers: readonly (readonly [name: RegExp, minLength: number, looksSecret: (value: string) => boolean])[] =
  [
    [/(?:password|passwd|passphrase|secret)$/i, 6, looksReal],
    [/(?:token|(?:api|access|private|secret)[_-]?key|credentials?)$/i, 10, looksRandom],
  ]

const findMatches = (text: string, pattern: RegExp, isSecret: (value: string) => boolean): string[] =>
  [...text.matchAll(pattern)].flatMap(([found, value = found]) => (isSecret(value) ? [value] : []))

/** The shortest text that contains a secret: `://a:`, a password of 6 characters and `@`. */
const MIN_TEXT_LENGTH = 12

const secretsInText = (text: string): string[] => [
  ...(privateKey.test(text) ? [text.slice(text.search(privateKey))] : []),
  ...findMatches(text, token, found => tokenFormats.some(format => format.test(found)) && looksReal(found)),
  ...findMatches(text, headerCredential, looksRandom),
  ...(text.includes('://')
    ? [...findMatches(text, urlPassword, looksReal), ...findMatches(text, queryCredential, looksRandom)]
    : []),
]

const isSecretMember = (name: string, value: string): boolean =>
  !publicName.test(value) &&
  secretMembers.some(
    ([pattern, minLength, looksSecret]) => value.length >= minLength && pattern.test(name) && looksSecret(value),
  )

/** A place that contains what looks like a secret, and the texts there that do. A name has the place of its object. */
export type Secret = { pointer: () => Pointer; parts: string[] }

/** Finds what looks like a secret in a document. */
export const collectSecrets = (document: Json): Secret[] => {
  const names: StringValue[] = []
  return [...collectStrings(document, names), ...names].flatMap(({ value, name, pointer }) => {
    // What looks real has a digit, and most texts of a card have none.
    if (!/\d/.test(value) && !value.includes('PRIVATE KEY')) return []
    const isMember = isSecretMember(name, value)
    const parts = isMember ? [value] : value.length < MIN_TEXT_LENGTH ? [] : secretsInText(value)
    return parts.length > 0 ? [{ pointer, parts }] : []
  })
}

/** Returns whether a value, the member `name` of an object, contains what looks like a secret. */
export const containsSecret = (value: Json, name = ''): boolean => collectSecrets({ [name]: value }).length > 0

/** Returns a value, the member `name` of an object, or `[secret]` if it contains what looks like one. */
export const hideSecret = (value: string, name?: string): string => (containsSecret(value, name) ? '[secret]' : value)

/** What looks like a secret in a manifest. */
export type ManifestSecrets = {
  found: readonly Secret[]
  /** Those that are not in its card. */
  foundBeside: readonly Secret[]
  /** The places that are served, in extended cards too, and that `allowSecrets` does not name: it is not registered. */
  disallowed: LintContext['disallowed']
  /** What to do about each of these. Pointers are those of errors, and no message repeats a value. */
  secrets: Finding[]
}

/** Searches the card of a manifest for secrets, and the rest of it unless that was searched before. */
export const searchManifest = (
  { manifest, source, errorPointer }: Pick<LocatedManifest, 'manifest' | 'source' | 'errorPointer'>,
  foundBeside: readonly Secret[] = collectSecrets(omit(manifest as JsonObject, 'card')),
): ManifestSecrets => {
  const { card, route, upstream, allowSecrets = [] } = manifest
  // A card without an endpoint of its own shows the address of `upstream`. A gateway hides it.
  const hasAddress = route !== 'gateway' && !hasEndpoint(card)
  const address = hasAddress ? [upstream.url === undefined ? '/upstream/mcp' : '/upstream/url'] : []
  const parts = ['/card', ...address, ...listTiers(manifest).flatMap(([, overlay]) => overlay?.pointer ?? [])]
  const found = [...collectSecrets({ card }), ...foundBeside]
  const places = [...new Set(found.map(({ pointer }) => pointer()))]
  const served = parts.flatMap(part =>
    places
      .filter(place => place === part || place.startsWith(`${part}/`))
      .map(place => {
        const inPart = place.slice(part.length)
        return { part, inPart, pointer: part === '/card' ? errorPointer(inPart) : place }
      }),
  )
  const disallowed = served.filter(({ pointer }) => !allowSecrets.includes(pointer))
  const isBare = errorPointer('') === '' && source === undefined
  return { found, foundBeside, disallowed, secrets: disallowed.map(({ pointer }) => describeSecret(pointer, isBare)) }
}

/** The beginning of messages about a secret, up to the pointer that `allowSecrets` needs after a false alarm. */
const problem = 'looks like a key, token or password: remove it and revoke it, or, if it is none,'

const describeSecret = (found: Pointer, isBare: boolean): Finding => {
  // The name of a member may be a secret.
  const pointer = secretsInText(found).reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), found)
  const action = isBare
    ? `register a manifest with the card under \`card\`, and "/card${pointer}" in \`allowSecrets\``
    : `add "${pointer}" to \`allowSecrets\``
  return { pointer, message: `${problem} ${action}` }
}

const summary = `${problem} name its place in \`allowSecrets\`. The card is not registered`

/** Returns the issues with the disallowed secrets in one overlay of a manifest. */
export const findOverlaySecrets = (overlay: Pointer, { disallowed }: Pick<ManifestSecrets, 'disallowed'>): Issue[] =>
  disallowed.flatMap(({ part, inPart }) =>
    part === overlay ? [{ rule: 'secret', severity: 'error', pointer: part + inPart, message: summary }] : [],
  )

/** Rules about what must not be public. */
export const secrets: readonly Rule[] = [
  /**
   * The card contains no key, token or password: nothing that looks like one, and no real-looking value of a member
   * such as `password`. Placeholders, and places that `allowSecrets` names, are fine. Reason: Cards are public and
   * cached everywhere. Such a card is not registered (docs/guide/owners.md#write-a-card).
   */
  error('secret', summary, ({ disallowed }) =>
    // The card shows the address of `upstream` as its own.
    disallowed.flatMap(({ part, inPart }) => (part === '/card' ? inPart : part.startsWith('/upstream') ? '/url' : [])),
  ),
]

// Messages cut long values, so the beginning of a secret is looked for. The shortest, a password, has 6 characters.
const MIN_REDACTED_LENGTH = 8
const MIN_SECRET_LENGTH = 6

/** The members of findings that quote documents. */
const REDACTED = new Set(['message', 'pointer'])

/** Secrets with one beginning that a text is compared with; of others, everything up to a space or quote is removed. */
const MAX_COMPARED = 20

/**
 * Creates a function that replaces the secrets of documents in the messages and pointers of a value about them, which
 * may repeat them as JSON or as an id, and only their beginning.
 */
export const createRedaction = (documents: readonly (Json | undefined)[]): (<Value>(value: Value) => Value) =>
  redactSecrets(documents.flatMap(document => collectSecrets(document ?? null)))

/** Creates the same function from the secrets themselves. */
export const redactSecrets = (found: readonly Secret[]): (<Value>(value: Value) => Value) => {
  const starts = new Map<string, string[]>()
  for (const secret of found.flatMap(({ parts }) => parts))
    for (const text of new Set([secret, JSON.stringify(secret).slice(1, -1), toSlug(secret, secret)])) {
      const start = text.slice(0, MIN_REDACTED_LENGTH)
      const same = starts.get(start) ?? []
      starts.set(start, same)
      if (same.length < MAX_COMPARED) same.push(text)
    }
  // The strings of a list are pointers.
  const redact = (value: Json, name = 'pointer'): Json | undefined => {
    if (typeof value === 'string') return REDACTED.has(name) ? redactText(value, starts) : value
    if (Array.isArray(value)) return value.map(item => redact(item) ?? null)
    if (!isJsonObject(value)) return value
    if (name !== 'change') return mapMembers(value, redact)
    // A change without what looks like a secret would be another one.
    const text = JSON.stringify(value)
    return redactText(text, starts) === text ? value : undefined
  }
  return value => (starts.size === 0 ? value : (redact(value as Json) as typeof value))
}

const redactText = (text: string, starts: ReadonlyMap<string, readonly string[]>): string => {
  let result = ''
  for (let at = 0; at < text.length; ) {
    const length = secretLength(text.slice(at), starts)
    result += length === 0 ? text[at] : '[secret]'
    at += Math.max(1, length)
  }
  return result
}

/** Returns the length of the secret, or of its beginning, with which a text begins; 0 for none. */
const secretLength = (text: string, starts: ReadonlyMap<string, readonly string[]>): number => {
  for (let length = MIN_REDACTED_LENGTH; length >= MIN_SECRET_LENGTH; length--) {
    const secrets = starts.get(text.slice(0, length))
    if (secrets === undefined) continue
    const word = /^[^\s"/]*/.exec(text)?.[0].length ?? 0
    return Math.max(word, ...secrets.map(secret => commonLength(secret, text)))
  }
  return 0
}

const commonLength = (left: string, right: string): number => {
  let length = 0
  while (length < left.length && left[length] === right[length]) length++
  return length
}
