import {
  collectNames,
  collectStrings,
  formatPointer,
  type Json,
  type Pointer,
  type StringValue,
} from '../../json/index.ts'
import { listTiers, type Manifest, type ParsedManifest } from '../manifest/index.ts'
import { type CardError, type Note, toSlug } from '../model/index.ts'
import { presentEndpointFields } from '../read/index.ts'
import { type LintContext, type Rule, rule } from './rule.ts'

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

/** Members whose value is a secret, unless it is a public name. People choose passwords; other secrets are random. */
const secretMembers: readonly (readonly [name: RegExp, minLength: number, isChosen: boolean])[] = [
  [/(?:password|passwd|passphrase|secret)$/i, 6, true],
  [/(?:token|(?:api|access|private|secret)[_-]?key|credentials?)$/i, 10, false],
]

const placeholder = /x{4}|\*{3}|\.{3}|…|your|example|placeholder|change|redacted|dummy|sample|insert|replace|[<>{}$\s]/i

/** Names of headers and environment variables, blockchain addresses and URIs. */
const publicName = /^(?:x-.*|[A-Z\d]+(?:_[A-Z\d]+)+|0x[\da-fA-F]{40}|[a-z][a-z\d]*:.*)$/

const looksReal = (value: string): boolean =>
  /\d/.test(value) && /[a-z]/i.test(value) && new Set(value).size >= 6 && !placeholder.test(value)

/** Random text mixes letters and digits; names and versions do not. */
const looksRandom = (value: string): boolean =>
  looksReal(value) && (value.match(/\d(?=[a-z])|[a-z](?=\d)/gi) ?? []).length > 2

const secretsInUrls = (text: string): string[] => [
  ...[...text.matchAll(urlPassword)].flatMap(([, password = '']) => (looksReal(password) ? [password] : [])),
  ...[...text.matchAll(queryCredential)].flatMap(([, value = '']) => (looksRandom(value) ? [value] : [])),
]

const secretsInText = (text: string): string[] => [
  ...(privateKey.test(text) ? [text.slice(text.search(privateKey))] : []),
  ...(text.match(token) ?? []).filter(found => tokenFormats.some(format => format.test(found)) && looksReal(found)),
  ...[...text.matchAll(headerCredential)].flatMap(([, value = '']) => (looksRandom(value) ? [value] : [])),
  ...(text.includes('://') ? secretsInUrls(text) : []),
]

const isSecretMember = ({ name, value }: Pick<StringValue, 'name' | 'value'>): boolean =>
  !publicName.test(value) &&
  secretMembers.some(
    ([pattern, minLength, isChosen]) =>
      value.length >= minLength && pattern.test(name) && (isChosen ? looksReal : looksRandom)(value),
  )

/** What looks like a secret in a document. A name is in place of its object, as its pointer would have the secret. */
type Secret = { pointer: () => Pointer; parts: string[] }

const collectSecrets = (document: Json): Secret[] =>
  [
    ...collectStrings(document)
      .filter(({ value }) => mayContainSecret(value))
      .map(text => ({
        pointer: text.pointer,
        parts: isSecretMember(text) ? [text.value] : secretsInText(text.value),
      })),
    ...collectNames(document)
      .filter(({ value }) => mayContainSecret(value))
      .map(({ value, pointer }) => ({ pointer, parts: secretsInText(value) })),
  ].filter(({ parts }) => parts.length > 0)

/** What looks real has a digit, and most texts of a card have none. */
const mayContainSecret = (text: string): boolean => /\d/.test(text) || text.includes('PRIVATE KEY')

/** Whether a value, the member `name` of an object, contains what looks like a secret. */
export const containsSecret = (value: Json, name = ''): boolean => collectSecrets({ [name]: value }).length > 0

/** Returns a value, the member `name` of an object, or what messages have in its place if it contains what looks like a secret. */
export const hideSecret = (value: string, name?: string): string => (containsSecret(value, name) ? '[secret]' : value)

const findSecrets = (document: Json): Pointer[] => [
  ...new Set(collectSecrets(document).map(({ pointer }) => pointer())),
]

/** What is wrong with a secret, and what to do about a false alarm, up to the pointer that `allowSecrets` needs. */
const problem = 'looks like a key, token or password: remove it and revoke it, or, if it is none,'

/**
 * Finds what looks like a secret in the cards of a manifest, the extended ones included, and is not named in `allowSecrets`: such a
 * manifest is not registered. Pointers are into the document, as those of errors, and no message repeats a value.
 */
export const findDisallowedSecrets = ({
  manifest,
  errorPointer,
}: Pick<ParsedManifest, 'manifest' | 'errorPointer'>): CardError[] => {
  const { card, upstream } = manifest
  const isBare = errorPointer('') === '' && upstream.card === undefined && upstream.mcp === undefined
  const pointers = [
    ...findSecrets(card).map(errorPointer),
    ...findInAddress(manifest),
    ...listTiers(manifest).flatMap(([, overlay]) =>
      overlay ? findSecrets(overlay.patch).map(pointer => overlay.pointer + pointer) : [],
    ),
  ]
  return pointers
    .filter(pointer => !isAllowed(manifest, pointer))
    .map(withoutSecrets)
    .map(pointer => ({
      pointer,
      message: isBare
        ? `${problem} register a manifest with the card under \`card\`, and "/card${pointer}" in \`allowSecrets\``
        : `${problem} add "${pointer}" to \`allowSecrets\``,
    }))
}

/** Removes the names of members that look like secrets from a pointer. */
const withoutSecrets = (pointer: Pointer): Pointer =>
  secretsInText(pointer).reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), pointer)

const isAllowed = ({ allowSecrets = [] }: Manifest, pointer: Pointer): boolean => allowSecrets.includes(pointer)

/** Finds a secret in the address of `upstream` that a card without an endpoint of its own shows. A gateway hides it. */
const findInAddress = ({ card, route, upstream: { url, mcp } }: Manifest): Pointer[] => {
  if (route === 'gateway' || presentEndpointFields(card).length > 0) return []
  const address = url === undefined ? { mcp } : { url }
  return findSecrets(address).map(pointer => formatPointer('upstream') + pointer)
}

/** Finds the same in one card, with pointers into the card as authored. */
const findInCard = ({ authored, manifest, errorPointer }: LintContext): Pointer[] => {
  const isUrlAdded = presentEndpointFields(manifest.card).length === 0
  return [
    ...findSecrets(authored).filter(
      pointer => !(isUrlAdded && pointer === '/url') && !isAllowed(manifest, errorPointer(pointer)),
    ),
    ...findInAddress(manifest).flatMap(pointer => (isAllowed(manifest, pointer) ? [] : ['/url'])),
  ]
}

/** Rules about what must not be public. */
export const secrets: readonly Rule[] = [
  rule('secret', 'error', `${problem} name its place in \`allowSecrets\`. The card is not registered`, findInCard),
]

/** The beginning of a secret that no message may have: messages cut long values. */
const MIN_REDACTED_LENGTH = 8

/** The shortest secret that is recognized, a password. */
const MIN_SECRET_LENGTH = 6

/** Secrets with one beginning that a text is compared with; of others, everything up to a space or quote is removed. */
const MAX_COMPARED = 20

/**
 * Returns a function that replaces the secrets of documents in the notes and errors about them, which may repeat values as JSON or
 * as an id, and only their beginning.
 */
export const createRedaction = (
  documents: readonly (Json | undefined)[],
): (<Entry extends Note>(entries: readonly Entry[]) => Entry[]) => {
  const starts = new Map<string, string[]>()
  const secrets = documents.flatMap(document => collectSecrets(document ?? null).flatMap(({ parts }) => parts))
  for (const secret of secrets)
    for (const text of new Set([secret, JSON.stringify(secret).slice(1, -1), toSlug(secret, secret)])) {
      const start = text.slice(0, MIN_REDACTED_LENGTH)
      const same = starts.get(start) ?? []
      starts.set(start, same)
      if (same.length < MAX_COMPARED) same.push(text)
    }
  return entries =>
    starts.size === 0
      ? [...entries]
      : entries.map(entry => ({
          ...entry,
          pointer: redact(entry.pointer, starts),
          message: redact(entry.message, starts),
        }))
}

const redact = (message: string, starts: ReadonlyMap<string, readonly string[]>): string => {
  let result = ''
  for (let at = 0; at < message.length; ) {
    const length = secretLengthAt(at, message, starts)
    result += length === 0 ? message[at] : '[secret]'
    at += Math.max(1, length)
  }
  return result
}

/** Returns the length of the secret, or of its beginning, at an index of a message; 0 for none. */
const secretLengthAt = (at: number, message: string, starts: ReadonlyMap<string, readonly string[]>): number => {
  for (let length = MIN_REDACTED_LENGTH; length >= MIN_SECRET_LENGTH; length--) {
    const secrets = starts.get(message.slice(at, at + length))
    if (secrets === undefined) continue
    const word = /^[^\s"/]*/.exec(message.slice(at))?.[0].length ?? 0
    return Math.max(word, ...secrets.map(secret => commonLength(secret, message.slice(at))))
  }
  return 0
}

const commonLength = (left: string, right: string): number => {
  let length = 0
  while (length < left.length && left[length] === right[length]) length++
  return length
}
