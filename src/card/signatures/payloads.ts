import { canonicalizeAgentCard } from '@a2a-js/sdk'
import type { Json, JsonObject } from '../../json/index.ts'
import { asObject, canonicalJson, isJsonObject, jsonEntries, mapMembers, omit } from '../../json/index.ts'
import { cardMembers, type Members, type PayloadRule } from '../model/index.ts'
import { toCurrentForm } from './legacy-form.ts'

type Definition = {
  /** The source of the rule: a section of the A2A specification, and the issues that show who follows it. */
  source: string
  /** The parts that a signature by this rule does not cover; undefined if it covers the whole card. */
  omits?: string
  /** Returns the signed text of a card without signatures; `proto` returns that of this rule. May throw for no card. */
  write: (card: JsonObject, proto: () => string | undefined) => string | undefined
}

/** Every rule, in one table. A card is signed by those that the verifiers of today follow. */
export const payloads: Readonly<Record<PayloadRule, Definition>> = {
  wire: {
    source: 'A2A 1.0 §8.4.1 (RFC 8785), read as in A2A #2249 and #2122; any library for JWS',
    write: canonicalJson,
  },
  served: {
    source: 'A2A 1.0 §8.4.1: default values of fields without presence of their own are left out (A2A #2249)',
    omits: 'default values of fields that are not required',
    write: card => canonicalJson(servedScope(card)),
  },
  proto: {
    source: 'A2A 1.0 §8.4.2 and §8.4.3, read as in A2A #2122; a2a-python 1.2 and later, a2a-js 1.3',
    omits: 'empty values and fields that A2A 1.0 does not define',
    // The rule is what this function does: the SDK whose verifier is the most used one.
    write: card => canonicalizeAgentCard(toCurrentForm(card) as never),
  },
  'proto-ascii': {
    source: 'A2A 1.0 §8.4.2, as a2a-python up to 1.1 has it: ASCII only, names in the order of code points',
    omits: 'empty values and fields that A2A 1.0 does not define',
    write: (_, proto) => toPythonJson(proto()),
  },
}

/** Returns a function that writes the text that a rule covers, each at most once; undefined where the rule cannot. */
export const createPayloadWriter = (card: JsonObject): ((rule: PayloadRule) => string | undefined) => {
  const unsigned = omit(card, 'signatures')
  const written = new Map<PayloadRule, string | undefined>()
  const write = (rule: PayloadRule): string | undefined => {
    const proto = () => write('proto')
    const text = written.has(rule) ? written.get(rule) : attempt(() => payloads[rule].write(unsigned, proto))
    written.set(rule, text)
    return text
  }
  return write
}

/** Returns the text that a signature of a card covers by one rule; undefined for a document that it cannot read. */
export const writePayload = (rule: PayloadRule, card: JsonObject): string | undefined => createPayloadWriter(card)(rule)

/** Returns what `write` returns; undefined if it throws: the SDK reads members that a hostile document leaves out. */
export const attempt = (write: () => string | undefined): string | undefined => {
  try {
    return write()
  } catch {
    return undefined
  }
}

/** Returns a card without authored default values of fields without presence, which the specification does not sign. */
export const servedScope = (card: JsonObject): JsonObject => asObject(reduce(card, cardMembers.card))

/** A list has the members in each of its items. */
const reduce = (value: Json, members: Members | undefined): Json => {
  if (members && Array.isArray(value)) return value.map(item => reduce(item, members))
  if (!members || !isJsonObject(value)) return value
  return mapMembers(value, (inner, name) => {
    const member = members.get(name) ?? members.get('*')
    return member?.presence === 'plain' && isDefault(inner) ? undefined : reduce(inner, member?.inner)
  })
}

const isDefault = (value: Json): boolean =>
  value === '' || value === false || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)

/** Returns canonical JSON, if there is any, as Python writes it. Most texts are the same in both, and not parsed. */
const toPythonJson = (text: string | undefined): string | undefined =>
  text === undefined || (isAscii.test(text) && !mayHaveNumber.test(text)) ? text : pythonJson(JSON.parse(text) as Json)

const isAscii = /^[\x20-\x7e]*$/
/** Also matches some texts in strings. */
const mayHaveNumber = /[:[,]-?\d/

/** Serializes JSON as Python's `json.dumps(…, sort_keys=True, separators=(',', ':'))` does. */
const pythonJson = (value: Json): string => {
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(',')}]`
  if (typeof value === 'number') return pythonNumber(value)
  if (!isJsonObject(value)) return escapeNonAscii(JSON.stringify(value))
  const members = jsonEntries(value)
    .sort(([left], [right]) => compareCodePoints(left, right))
    .map(([name, member]) => `${escapeNonAscii(JSON.stringify(name))}:${pythonJson(member)}`)
  return `{${members.join(',')}}`
}

const escapeNonAscii = (text: string): string =>
  text.replace(/[^\x20-\x7e]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/**
 * Writes a number as Python's `repr` does. The numbers of a card are in `params` of extensions, which protobuf reads as
 * doubles: whole ones end with `.0`, and the exponent has two digits.
 */
const pythonNumber = (value: number): string => {
  const exponent = Number(value.toExponential().split('e')[1])
  if (exponent < -4 || exponent >= 16) return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2')
  return Number.isInteger(value) ? `${value}.0` : String(value)
}

const compareCodePoints = (left: string, right: string): number => {
  const [a, b] = [[...left], [...right]]
  const index = a.findIndex((character, index) => character !== b[index])
  if (index === -1) return a.length - b.length
  return (a[index]?.codePointAt(0) ?? 0) - (b[index]?.codePointAt(0) ?? -1)
}
