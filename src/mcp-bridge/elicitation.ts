import * as v from 'valibot'
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts'
import { isDeeperThan, parseJson } from '../json/parse.ts'
import { MAX_JSON_DEPTH, MAX_TOOL_ARGUMENTS_LENGTH, MAX_TOOL_SCHEMA_LENGTH } from '../limits.ts'
import type { Elicitation, ElicitResult } from '../mcp/elicitation.ts'
import { isWebUrl, type StatusMessage } from './results.ts'
import { validateArguments } from './validate-arguments.ts'

/** Whether an elicitation is one that this host can put to a caller. */
export const isAskable = (elicitation: Elicitation): boolean => {
  const text = JSON.stringify(elicitation)
  if (text.length > MAX_TOOL_SCHEMA_LENGTH || isDeeperThan(text, MAX_JSON_DEPTH)) return false
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
  return text === '' || text.length > MAX_TOOL_ARGUMENTS_LENGTH ? { problem: example } : readText(text, elicitation)
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

/** Returns the value that a text stands for in a member of this schema, which validation judges. */
const toValue = (text: string, schema: Json | undefined): Json => {
  const { type, items, oneOf, anyOf, enum: values, enumNames } = isJsonObject(schema) ? schema : {}
  if (type === 'number' || type === 'integer') return Number.isFinite(Number(text)) ? Number(text) : text
  if (type === 'boolean') return booleans.get(text.toLowerCase()) ?? text
  if (type === 'array') {
    const texts = text.split(',')
    return texts.length > MAX_LISTED_VALUES ? text : texts.map(each => toValue(each.trim(), items))
  }
  const choices = oneOf ?? anyOf
  const titled = Array.isArray(choices)
    ? choices.find(each => isJsonObject(each) && isSame(each.title, text))
    : undefined
  if (isJsonObject(titled) && titled.const !== undefined) return titled.const
  const index = Array.isArray(enumNames) ? enumNames.findIndex(each => isSame(each, text)) : -1
  return (Array.isArray(values) ? (values[index] ?? values.find(each => isSame(each, text))) : undefined) ?? text
}

const isSame = (value: Json | undefined, text: string): boolean =>
  typeof value === 'string' && value.toLowerCase() === text.toLowerCase()

/** What MCP allows as content of an answer. */
const Content = v.record(v.string(), v.union([v.string(), v.number(), v.boolean(), v.array(v.string())]))

const accept = (content: JsonObject, elicitation: Elicitation): { answer: ElicitResult } | { problem: string } => {
  if ('url' in elicitation) return { answer: { action: 'accept' } }
  const text = JSON.stringify(content)
  const { output, success } = v.safeParse(Content, content)
  if (!success || text.length > MAX_TOOL_ARGUMENTS_LENGTH) return { problem: example }
  const { violations } = validateArguments(text, elicitation.requestedSchema)
  const problems = violations.map(
    ({ path, description }) => `${path === '' ? 'The answer' : path.slice(1)} ${description}.`,
  )
  return problems.length > 0 ? { problem: problems.join('\n') } : { answer: { action: 'accept', content: output } }
}
