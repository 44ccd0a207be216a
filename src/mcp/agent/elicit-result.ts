import * as v from 'valibot'
import { asObject, isDeeperThan, isJsonObject, type Json, type JsonObject, parseJson } from '../../json/index.ts'
import { MAX_ELICITATION_LENGTH, MAX_JSON_DEPTH } from '../../limits.ts'
import type { Elicitation, ElicitResult } from '../client/index.ts'
import { isWebUrl, type StatusMessage } from './tool-outcome.ts'

/** Checks whether this host can pass an elicitation on to a caller. */
export const isAskable = (elicitation: Elicitation): boolean => {
  const text = JSON.stringify(elicitation)
  if (text.length > MAX_ELICITATION_LENGTH || isDeeperThan(text, MAX_JSON_DEPTH)) return false
  return !('url' in elicitation) || isWebUrl(elicitation.url)
}

/** Returns the status message with an elicitation, and with what was wrong with the last answer. */
export const elicitationMessage = (elicitation: Elicitation, problem?: string): StatusMessage => {
  const text = problem === undefined ? elicitation.message : `${problem}\n\n${elicitation.message}`
  const content: JsonObject =
    'url' in elicitation
      ? { url: elicitation.url }
      : { data: { requestedSchema: elicitation.requestedSchema }, mediaType: 'application/json' }
  return { parts: [{ text, mediaType: 'text/plain' }, content], metadata: { reason: 'MCP_ELICITATION' } }
}

const example = 'Answer with data, such as {"action": "accept", "content": {…}}, or with "decline" or "cancel".'

type ReadResult = { answer: ElicitResult } | { problem: string }

/**
 * Reads a message of A2A 1.0 as the result of an elicitation. Data is its content, or `{action, content}` as in MCP; a
 * text may be the same as JSON, `decline` or `cancel`, or the value of the only member that is requested.
 */
export const readElicitResult = ({ parts }: JsonObject, elicitation: Elicitation): ReadResult => {
  const given = Array.isArray(parts) ? parts.filter(isJsonObject) : []
  const data = given.find(part => part.data !== undefined)?.data
  const text = given.flatMap(part => (typeof part.text === 'string' ? [part.text.trim()] : [])).join('\n')
  if (data !== undefined) return isJsonObject(data) ? readData(data, elicitation) : { problem: example }
  const word = text.toLowerCase()
  if (word === 'decline' || word === 'cancel') return { answer: { action: word } }
  const parsed = text.startsWith('{') ? parseJson(text) : undefined
  if (parsed && 'value' in parsed && isJsonObject(parsed.value)) return readData(parsed.value, elicitation)
  return text === '' ? { problem: example } : readText(text, elicitation)
}

const readData = (data: JsonObject, elicitation: Elicitation): ReadResult => {
  const { action, content = {}, ...others } = data
  const isMember = Object.hasOwn(propertiesOf(elicitation), 'action')
  if (typeof action !== 'string' || isMember || Object.keys(others).length > 0) return accept(data, elicitation)
  if (action === 'decline' || action === 'cancel') return { answer: { action } }
  return action === 'accept' && isJsonObject(content) ? accept(content, elicitation) : { problem: example }
}

const readText = (text: string, elicitation: Elicitation): ReadResult => {
  const properties = propertiesOf(elicitation)
  const names = Object.keys(properties)
  // There is nothing to answer but whether to go on.
  if (names.length === 0) return toBoolean(text) === false ? { answer: { action: 'decline' } } : accept({}, elicitation)
  const { required } = 'url' in elicitation ? {} : elicitation.requestedSchema
  const [name, ...others] = names.length > 1 && Array.isArray(required) ? required : names
  if (typeof name !== 'string' || others.length > 0) return { problem: example }
  return accept({ [name]: toValue(text, properties[name]) }, elicitation)
}

const propertiesOf = (elicitation: Elicitation): JsonObject =>
  'url' in elicitation ? {} : asObject(elicitation.requestedSchema.properties)

const toBoolean = (text: string): boolean | undefined =>
  /^(?:true|yes|y|ok)$/i.test(text) || (/^(?:false|no|n)$/i.test(text) ? false : undefined)

const MAX_LISTED_VALUES = 100

/** Returns the value that a text stands for in a member of this schema, or the text itself. */
const toValue = (text: string, schema: Json | undefined): Json => {
  if (!isJsonObject(schema)) return text
  const { type, items } = schema
  if (type === 'number' || type === 'integer') return Number.isFinite(Number(text)) ? Number(text) : text
  if (type === 'array') {
    const texts = text.split(',', MAX_LISTED_VALUES + 1)
    return texts.length > MAX_LISTED_VALUES ? text : texts.map(each => toValue(each.trim(), items))
  }
  if (type === 'boolean') return toBoolean(text) ?? text
  const given = text.toLowerCase()
  const isGiven = (name: Json | undefined): boolean => typeof name === 'string' && name.toLowerCase() === given
  const choices = choicesOf(schema) ?? []
  return (choices.find(({ title }) => isGiven(title)) ?? choices.find(({ value }) => isGiven(value)))?.value ?? text
}

const choicesOf = (schema: JsonObject): { value: Json; title: Json | undefined }[] | undefined => {
  const { enum: values, enumNames, oneOf, anyOf } = schema
  const titles = Array.isArray(enumNames) ? enumNames : []
  if (Array.isArray(values)) return values.map((value, index) => ({ value, title: titles[index] }))
  const choices = [oneOf ?? anyOf ?? []].flat().map(asObject)
  const listed = choices.flatMap(({ const: value, title }) => (value === undefined ? [] : [{ value, title }]))
  return listed.length > 0 && listed.length === choices.length ? listed : undefined
}

/** The members of an answer that MCP allows. */
const ContentValue = v.union([v.string(), v.number(), v.boolean(), v.array(v.string())])
type ContentValue = v.InferOutput<typeof ContentValue>
const Content = v.record(v.string(), ContentValue)

const accept = (content: JsonObject, elicitation: Elicitation): ReadResult => {
  if ('url' in elicitation) return { answer: { action: 'accept' } }
  const { output, success } = v.safeParse(Content, content)
  if (!success) return { problem: example }
  const properties = propertiesOf(elicitation)
  const required = new Set([elicitation.requestedSchema.required ?? []].flat().map(String))
  const problems = [...new Set([...required, ...Object.keys(properties)])].flatMap(name => {
    const value = Object.hasOwn(output, name) ? output[name] : undefined
    if (value === undefined) return required.has(name) ? `${name} is required.` : []
    const problem = findProblem(value, Object.hasOwn(properties, name) ? properties[name] : undefined)
    return problem === undefined ? [] : `${name} ${problem}.`
  })
  return problems.length > 0 ? { problem: problems.join('\n') } : { answer: { action: 'accept', content: output } }
}

const TYPES: readonly string[] = ['string', 'number', 'integer', 'boolean', 'array']

/** Returns what is wrong with a member of an answer, by the keywords of MCP; the server checks `format`. */
const findProblem = (value: ContentValue, schema: Json | undefined): string | undefined => {
  if (!isJsonObject(schema)) return undefined
  const { type } = schema
  const types = [Array.isArray(value) ? 'array' : typeof value, ...(Number.isInteger(value) ? ['integer'] : [])]
  if (typeof type === 'string' && TYPES.includes(type) && !types.includes(type)) return `must be of type ${type}`
  const choices = choicesOf(Array.isArray(value) && isJsonObject(schema.items) ? schema.items : schema)
  const allowed = choices && new Set(choices.map(choice => choice.value))
  if (allowed && ![value].flat().every(each => allowed.has(each)))
    return `must be one of ${JSON.stringify([...allowed])}`
  if (typeof value === 'boolean') return undefined
  if (typeof value === 'number') return outOfRange(value, schema.minimum, schema.maximum)
  // JSON Schema counts Unicode characters, not UTF-16 code units.
  return typeof value === 'string'
    ? outOfRange(value.replace(/[^\0-\uffff]/gu, ' ').length, schema.minLength, schema.maxLength, ' characters long')
    : outOfRange(value.length, schema.minItems, schema.maxItems, ' items long')
}

const outOfRange = (size: number, least?: Json, most?: Json, unit = ''): string | undefined => {
  if (typeof least === 'number' && size < least) return `must be at least ${least}${unit}`
  return typeof most === 'number' && size > most ? `must be at most ${most}${unit}` : undefined
}
