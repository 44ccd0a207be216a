import * as v from 'valibot'
import { isDeeperThan, isJsonObject, type Json, type JsonObject, parseJson } from '../../json/index.ts'
import { MAX_ELICITATION_LENGTH, MAX_JSON_DEPTH } from '../../limits.ts'
import type { Elicitation, ElicitResult } from '../client/index.ts'
import { isWebUrl, type StatusMessage } from './results.ts'

/** Whether an elicitation is one that this host can put to a caller. */
export const isAskable = (elicitation: Elicitation): boolean => {
  const text = JSON.stringify(elicitation)
  if (text.length > MAX_ELICITATION_LENGTH || isDeeperThan(text, MAX_JSON_DEPTH)) return false
  return !('url' in elicitation) || isWebUrl(elicitation.url)
}

/** Returns the status message that puts an elicitation to the caller, with what was wrong with the last answer. */
export const elicitationMessage = (elicitation: Elicitation, problem?: string): StatusMessage => {
  const text = problem === undefined ? elicitation.message : `${problem}\n\n${elicitation.message}`
  const content: JsonObject =
    'url' in elicitation
      ? { url: elicitation.url }
      : { data: { requestedSchema: elicitation.requestedSchema }, mediaType: 'application/json' }
  return { parts: [{ text, mediaType: 'text/plain' }, content], metadata: { reason: 'MCP_ELICITATION' } }
}

/** Words that refuse an answer, as the whole text of a message. */
const refusals: ReadonlyMap<string, 'decline' | 'cancel'> = new Map([
  ['decline', 'decline'],
  ['cancel', 'cancel'],
])

const example = 'Answer with data, such as {"action": "accept", "content": {…}}, or with "decline" or "cancel".'

/**
 * Reads a message of A2A 1.0 as the result of an elicitation. Data is its content, or `{action, content}` as MCP has it; a text may be
 * the same as JSON, `decline` or `cancel`, or the value of the only member that is requested.
 */
export const readElicitResult = (
  { parts }: JsonObject,
  elicitation: Elicitation,
): { answer: ElicitResult } | { problem: string } => {
  const given = Array.isArray(parts) ? parts.filter(isJsonObject) : []
  const data = given.find(part => part.data !== undefined)?.data
  const text = given.flatMap(part => (typeof part.text === 'string' ? [part.text.trim()] : [])).join('\n')
  if (data !== undefined) return isJsonObject(data) ? readData(data, elicitation) : { problem: example }
  const refusal = refusals.get(text.toLowerCase())
  if (refusal) return { answer: { action: refusal } }
  const parsed = text.startsWith('{') ? parseJson(text) : undefined
  if (parsed && 'value' in parsed && isJsonObject(parsed.value)) return readData(parsed.value, elicitation)
  return text === '' ? { problem: example } : readText(text, elicitation)
}

const readData = (data: JsonObject, elicitation: Elicitation): { answer: ElicitResult } | { problem: string } => {
  const { action, content = {}, ...others } = data
  const names = 'url' in elicitation ? {} : propertiesOf(elicitation.requestedSchema)
  const isAnswer = typeof action === 'string' && !Object.hasOwn(names, 'action') && Object.keys(others).length === 0
  if (!isAnswer) return accept(data, elicitation)
  if (action === 'decline' || action === 'cancel') return { answer: { action } }
  return action === 'accept' && isJsonObject(content) ? accept(content, elicitation) : { problem: example }
}

const readText = (text: string, elicitation: Elicitation): { answer: ElicitResult } | { problem: string } => {
  const properties = 'url' in elicitation ? {} : propertiesOf(elicitation.requestedSchema)
  const names = Object.keys(properties)
  // There is nothing to answer but whether to go on.
  if (names.length === 0)
    return booleans.get(text.toLowerCase()) === false ? { answer: { action: 'decline' } } : accept({}, elicitation)
  const { required } = 'url' in elicitation ? {} : elicitation.requestedSchema
  const [name, ...others] = names.length > 1 && Array.isArray(required) ? required : names
  if (typeof name !== 'string' || others.length > 0) return { problem: example }
  return accept({ [name]: toValue(text, properties[name]) }, elicitation)
}

const propertiesOf = ({ properties }: JsonObject): JsonObject => (isJsonObject(properties) ? properties : {})

const booleans: ReadonlyMap<string, boolean> = new Map([
  ...['true', 'yes', 'y', 'ok'].map(word => [word, true] as const),
  ...['false', 'no', 'n'].map(word => [word, false] as const),
])

/** Values of a list that are written as one text. */
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
  const given = text.toLowerCase()
  if (type === 'boolean') return booleans.get(given) ?? text
  const isGiven = (name: Json | undefined): boolean => typeof name === 'string' && name.toLowerCase() === given
  const choices = choicesOf(schema) ?? []
  return (choices.find(({ title }) => isGiven(title)) ?? choices.find(({ value }) => isGiven(value)))?.value ?? text
}

/** Returns the values that a schema lists, with their titles; undefined if it lists none. */
const choicesOf = (schema: JsonObject): { value: Json; title: Json | undefined }[] | undefined => {
  const { enum: values, enumNames, oneOf, anyOf } = schema
  const titles = Array.isArray(enumNames) ? enumNames : []
  if (Array.isArray(values)) return values.map((value, index) => ({ value, title: titles[index] }))
  const choices = [oneOf ?? anyOf ?? []].flat().map(choice => (isJsonObject(choice) ? choice : {}))
  const listed = choices.flatMap(({ const: value, title }) => (value === undefined ? [] : [{ value, title }]))
  return listed.length > 0 && listed.length === choices.length ? listed : undefined
}

/** What MCP allows as a member of an answer. */
const ContentValue = v.union([v.string(), v.number(), v.boolean(), v.array(v.string())])
const Content = v.record(v.string(), ContentValue)

const accept = (content: JsonObject, elicitation: Elicitation): { answer: ElicitResult } | { problem: string } => {
  if ('url' in elicitation) return { answer: { action: 'accept' } }
  const { output, success } = v.safeParse(Content, content)
  if (!success) return { problem: example }
  const properties = propertiesOf(elicitation.requestedSchema)
  const required = new Set([elicitation.requestedSchema.required ?? []].flat().map(String))
  const problems = [...new Set([...required, ...Object.keys(properties)])].flatMap(name => {
    const value = Object.hasOwn(output, name) ? output[name] : undefined
    if (value === undefined) return required.has(name) ? `${name} is required.` : []
    const problem = findProblem(value, Object.hasOwn(properties, name) ? properties[name] : undefined)
    return problem === undefined ? [] : `${name} ${problem}.`
  })
  return problems.length > 0 ? { problem: problems.join('\n') } : { answer: { action: 'accept', content: output } }
}

type ContentValue = v.InferOutput<typeof ContentValue>

const isOfType: Readonly<Record<string, (value: ContentValue) => boolean>> = {
  string: value => typeof value === 'string',
  number: value => typeof value === 'number',
  integer: Number.isInteger,
  boolean: value => typeof value === 'boolean',
  array: Array.isArray,
}

/**
 * Returns what is wrong with a member of an answer, by the keywords that MCP defines for it; `format` is for the
 * server.
 */
const findProblem = (value: ContentValue, schema: Json | undefined): string | undefined => {
  if (!isJsonObject(schema)) return undefined
  const { type } = schema
  if (typeof type === 'string' && Object.hasOwn(isOfType, type) && !isOfType[type]?.(value))
    return `must be of type ${type}`
  const choices = choicesOf(Array.isArray(value) && isJsonObject(schema.items) ? schema.items : schema)
  const allowed = choices && new Set(choices.map(choice => choice.value))
  if (allowed && ![value].flat().every(each => allowed.has(each)))
    return `must be one of ${JSON.stringify([...allowed])}`
  if (typeof value === 'boolean') return undefined
  if (typeof value === 'number') return outOfRange(value, schema.minimum, schema.maximum)
  return typeof value === 'string'
    ? outOfRange(countCharacters(value), schema.minLength, schema.maxLength, ' characters long')
    : outOfRange(value.length, schema.minItems, schema.maxItems, ' items long')
}

/** JSON Schema counts Unicode characters, not UTF-16 code units. */
const countCharacters = (text: string): number => text.replace(/[^\0-\uffff]/gu, ' ').length

const outOfRange = (size: number, least?: Json, most?: Json, unit = ''): string | undefined => {
  if (typeof least === 'number' && size < least) return `must be at least ${least}${unit}`
  return typeof most === 'number' && size > most ? `must be at most ${most}${unit}` : undefined
}
