import { collectStrings, type StringValue } from '../../json/tree.ts'
import { type Rule, rule } from './rule.ts'

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
const queryCredential = /[?&][\w-]*(?:key|token|secret|password|sig|signature)=([^?&#\s]{10,})/gi

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

const urlContainsSecret = (text: string): boolean =>
  [...text.matchAll(urlPassword)].some(([, password = '']) => looksReal(password)) ||
  [...text.matchAll(queryCredential)].some(([, value = '']) => looksRandom(value))

const containsSecret = (text: string): boolean =>
  privateKey.test(text) ||
  (text.match(token) ?? []).some(found => tokenFormats.some(format => format.test(found)) && looksReal(found)) ||
  (text.includes('://') && urlContainsSecret(text))

const isSecret = ({ name, value }: StringValue): boolean =>
  !publicName.test(value) &&
  secretMembers.some(
    ([pattern, minLength, isChosen]) =>
      value.length >= minLength && pattern.test(name) && (isChosen ? looksReal : looksRandom)(value),
  )

/** Rules about what must not be public. */
export const secrets: readonly Rule[] = [
  rule(
    'secret',
    'error',
    'looks like a key, token or password, and cards are public: remove it and revoke it',
    ({ authored }) =>
      collectStrings(authored)
        .filter(text => containsSecret(text.value) || isSecret(text))
        .map(({ pointer }) => pointer()),
  ),
]
