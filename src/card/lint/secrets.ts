import { collectStrings, type StringValue } from '../../json/tree.ts'
import { type Rule, rule } from './rule.ts'

/** Tokens that are known by how they begin: of model hosts, code hosts, payment, mail, chat and cloud services; JWTs. */
const shapes: readonly RegExp[] = [
  /^(?:sk-|gph_|hf_|npm_|glpat-|[a-z\d]+_live_|[rs]k_test_|SG\.|gh[pousr]_|github_pat_|AIza|cc_[a-z\d]+_)[\w-]{16,}/i,
  /^A(?:KIA|SIA)[\dA-Z]{16}(?![\dA-Z])/,
  /^xox[a-z]-[\w-]{10,}/,
  /^eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/,
]

/** Shapes are tried at the beginning of a whole token only, so that a long text is read once. */
const token = /[\w.-]{15,}/g

const privateKey = /-----BEGIN (?:[A-Z]+ ){0,3}PRIVATE KEY/
const inUrl = /:\/\/[^\s/@:]+:([^\s/@]+)@/g
const inQuery = /[?&][\w-]*(?:key|token|secret|password|sig|signature)=([^?&#\s]{10,})/gi

/** Members whose value is a secret, if it is not a name: [name, fewest characters, whether people choose it]. */
const members: readonly (readonly [name: RegExp, fewest: number, chosen: boolean])[] = [
  [/(?:password|passwd|passphrase|secret)$/i, 6, true],
  [/(?:token|(?:api|access|private|secret)[_-]?key|credentials?)$/i, 10, false],
]

const placeholder = /x{4}|\*{3}|\.{3}|…|your|example|placeholder|change|redacted|dummy|sample|insert|replace|[<>{}$\s]/i

/** Names of headers and of environment variables, addresses on a chain, and URIs. */
const publicName = /^(?:x-.*|[A-Z\d]+(?:_[A-Z\d]+)+|0x[\da-fA-F]{40}|[a-z][a-z\d]*:.*)$/

const looksReal = (value: string): boolean =>
  /\d/.test(value) && /[a-z]/i.test(value) && new Set(value).size >= 6 && !placeholder.test(value)

/** Chance mixes letters and digits; names and versions do not. */
const looksRandom = (value: string): boolean =>
  looksReal(value) && (value.match(/\d(?=[a-z])|[a-z](?=\d)/gi) ?? []).length > 2

const addressHoldsSecret = (text: string): boolean =>
  [...text.matchAll(inUrl)].some(([, password = '']) => looksReal(password)) ||
  [...text.matchAll(inQuery)].some(([, value = '']) => looksRandom(value))

const holdsSecret = (text: string): boolean =>
  privateKey.test(text) ||
  (text.match(token) ?? []).some(found => shapes.some(shape => shape.test(found)) && looksReal(found)) ||
  (text.includes('://') && addressHoldsSecret(text))

const isSecret = ({ name, value }: StringValue): boolean =>
  !publicName.test(value) &&
  members.some(
    ([pattern, fewest, chosen]) =>
      value.length >= fewest && pattern.test(name) && (chosen ? looksReal : looksRandom)(value),
  )

/** What must never be public. */
export const secrets: readonly Rule[] = [
  rule(
    'secret',
    'error',
    'looks like a key, token or password, and cards are public: take it out and revoke it',
    ({ authored }) =>
      collectStrings(authored)
        .filter(text => holdsSecret(text.value) || isSecret(text))
        .map(({ pointer }) => pointer()),
  ),
]
