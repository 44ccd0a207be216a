import { collectNames, collectStrings, isJsonObject, type Json, mapMembers, type Pointer } from '../../json/index.ts'
import { listTiers, type Manifest, type ParsedManifest } from '../manifest/index.ts'
import { type Finding, toSlug } from '../model/index.ts'
import { presentEndpointFields } from '../read/index.ts'
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

/** Finds what looks like a secret in a document. A secret name has the pointer of its object. */
const collectSecrets = (document: Json): { pointer: () => Pointer; parts: string[] }[] =>
  [...collectStrings(document), ...collectNames(document)]
    .filter(mayBeSecret)
    .map(({ value, name, pointer }) => {
      return { pointer, parts: isSecretMember(name, value) ? [value] : secretsInText(value) }
    })
    .filter(({ parts }) => parts.length > 0)

/** Recognizes what may look real, which has a digit: most texts of a card have none. */
const mayBeSecret = ({ value }: { value: string }): boolean => /\d/.test(value) || value.includes('PRIVATE KEY')

/** Returns whether a value, the member `name` of an object, contains what looks like a secret. */
export const containsSecret = (value: Json, name = ''): boolean => collectSecrets({ [name]: value }).length > 0

/** Returns a value, the member `name` of an object, or `[secret]` if it contains what looks like one. */
export const hideSecret = (value: string, name?: string): string => (containsSecret(value, name) ? '[secret]' : value)

const findSecrets = (value: Json): Pointer[] => [...new Set(collectSecrets(value).map(({ pointer }) => pointer()))]

/** The beginning of messages about a secret, up to the pointer that `allowSecrets` needs after a false alarm. */
const problem = 'looks like a key, token or password: remove it and revoke it, or, if it is none,'

/**
 * Finds what looks like a secret in the cards of a manifest, the extended ones included, and is not named in
 * `allowSecrets`: such a manifest is not registered. Pointers are into the document, as those of errors, and no message
 * repeats a value.
 */
export const findDisallowedSecrets = (parsed: Pick<ParsedManifest, 'manifest' | 'errorPointer'>): Finding[] => {
  const { manifest, errorPointer } = parsed
  const { card, upstream } = manifest
  const isBare = errorPointer('') === '' && upstream.card === undefined && upstream.mcp === undefined
  return [
    ...findSecrets(card).map(errorPointer),
    ...findInAddress(manifest),
    ...listTiers(manifest).flatMap(([, overlay]) =>
      findSecrets(overlay?.patch ?? null).map(pointer => `${overlay?.pointer}${pointer}`),
    ),
  ]
    .filter(pointer => !isAllowed(manifest, pointer))
    .map(found => {
      // The name of a member may be a secret.
      const pointer = secretsInText(found).reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), found)
      const action = isBare
        ? `register a manifest with the card under \`card\`, and "/card${pointer}" in \`allowSecrets\``
        : `add "${pointer}" to \`allowSecrets\``
      return { pointer, message: `${problem} ${action}` }
    })
}

const isAllowed = ({ allowSecrets = [] }: Manifest, pointer: Pointer): boolean => allowSecrets.includes(pointer)

/** Finds a secret in the address of `upstream` that a card without an endpoint of its own shows. A gateway hides it. */
const findInAddress = ({ card, route, upstream: { url, mcp } }: Manifest): Pointer[] =>
  route === 'gateway' || presentEndpointFields(card).length > 0
    ? []
    : findSecrets(url === undefined ? { mcp } : { url }).map(pointer => `/upstream${pointer}`)

/** Finds the same in one card, with pointers into the card as authored. */
const findInCard = ({ authored, manifest, errorPointer }: LintContext): Pointer[] => {
  const isUrlAdded = presentEndpointFields(manifest.card).length === 0
  const written = findSecrets(authored).filter(pointer => !(isUrlAdded && pointer === '/url'))
  return [
    ...written.filter(pointer => !isAllowed(manifest, errorPointer(pointer))),
    ...findInAddress(manifest).flatMap(pointer => (isAllowed(manifest, pointer) ? [] : ['/url'])),
  ]
}

/** Rules about what must not be public. */
export const secrets: readonly Rule[] = [
  /**
   * The card contains no key, token or password: nothing that looks like one, and no real-looking value of a member
   * such as `password`. Placeholders, and places that `allowSecrets` names, are fine. Reason: Cards are public and
   * cached everywhere. Such a card is not registered (docs/cards.md#secrets).
   */
  error('secret', `${problem} name its place in \`allowSecrets\`. The card is not registered`, findInCard),
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
export const createRedaction = (documents: readonly (Json | undefined)[]): (<Value>(value: Value) => Value) => {
  const starts = new Map<string, string[]>()
  const secrets = documents.flatMap(document => collectSecrets(document ?? null).flatMap(({ parts }) => parts))
  for (const secret of secrets)
    for (const text of new Set([secret, JSON.stringify(secret).slice(1, -1), toSlug(secret, secret)])) {
      const start = text.slice(0, MIN_REDACTED_LENGTH)
      const same = starts.get(start) ?? []
      starts.set(start, same)
      if (same.length < MAX_COMPARED) same.push(text)
    }
  // The strings of a list are pointers.
  const redact = (value: Json, name = 'pointer'): Json => {
    if (typeof value === 'string') return REDACTED.has(name) ? redactText(value, starts) : value
    if (Array.isArray(value)) return value.map(item => redact(item))
    return isJsonObject(value) ? mapMembers(value, redact) : value
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
