import { type OperationName, operations } from '../a2a/operations.ts'
import type { Form } from '../a2a/result-shapes.ts'
import { type AnswerPlace, formOfResult } from '../a2a/results.ts'
import type { Protocol } from '../card/model/calls.ts'
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts'
import { translateError } from './answer-errors.ts'
import { type ObjectName, translateObject } from './objects.ts'
import { translateTaskPushConfig } from './push-configs.ts'
import { formOf } from './requests.ts'
import { type Loss, readProto, type Translation } from './translation.ts'

/** How an answer is translated: from the protocol of the agent to that of the caller, who gets `id` over JSON-RPC. */
export type AnswerTranslation = { operation: OperationName; from: Protocol; to: Protocol; id: Json }

/** An answer for the caller. Over HTTP+JSON, it is sent with `status`. */
export type TranslatedAnswer = { body: Json; status: number; losses: Loss[] }

/** Translates an answer or event of an agent, which must have the shape that its version requires. */
export const translateAnswer = (
  answer: Json,
  place: AnswerPlace,
  status: number,
  { operation, from, to, id }: AnswerTranslation,
): TranslatedAnswer => {
  const body = isJsonObject(answer) ? answer : {}
  if (isError(body, place, from)) {
    const error = translateError(body, { from, to, place, status })
    return {
      body: to.binding === 'JSONRPC' ? { jsonrpc: '2.0', id, ...error.body } : error.body,
      status: error.status,
      losses: [],
    }
  }
  const result = (from.binding === 'JSONRPC' ? body.result : answer) ?? null
  const translation: Translation = { from: formOfResult(from, result), to: formOf(to), losses: [] }
  const translated = translateResult(operation, result, translation)
  return {
    body: to.binding === 'JSONRPC' ? { jsonrpc: '2.0', id, result: translated } : translated,
    status: 200,
    losses: translation.losses,
  }
}

const isError = (body: JsonObject, place: AnswerPlace, { binding }: Protocol): boolean => {
  if (place === 'error-response' || (body.error ?? null) !== null)
    return binding === 'HTTP+JSON' || body.error !== undefined
  return binding === 'HTTP+JSON' && place === 'event' && typeof body.message === 'string'
}

const translateResult = (operation: OperationName, result: Json, translation: Translation): Json => {
  switch (operation) {
    case 'deletePushConfig':
      return translation.to === 'kinds' ? null : {}
    case 'listPushConfigs':
      return translatePushConfigs(result, translation)
    case 'listTasks':
    case 'extendedCard':
      return result
  }
  if (!isJsonObject(result)) return result
  if (operation === 'getTask' || operation === 'cancel') return translateObject('task', result, translation)
  if (operations[operation].needs === 'pushNotifications') return translateTaskPushConfig(result, translation)
  return translateWrapped(result, translation)
}

/** The form with `kind` has a list; ProtoJSON an object with pages, which is empty if there are none. */
const translatePushConfigs = (result: Json, translation: Translation): Json => {
  const page = isJsonObject(result) ? result : {}
  const configs = Array.isArray(result) ? result : page.configs
  const translated = (Array.isArray(configs) ? configs : []).map(config =>
    isJsonObject(config) ? translateTaskPushConfig(config, translation) : config,
  )
  if (translation.to !== 'kinds') return { ...page, configs: translated }
  if ((readProto(page, 'nextPageToken') ?? '') !== '') translation.losses.push('nextPageToken')
  return translated
}

const KINDS = {
  task: 'task',
  message: 'message',
  statusUpdate: 'status-update',
  artifactUpdate: 'artifact-update',
} as const satisfies Partial<Record<ObjectName, string>>
type WrappedName = keyof typeof KINDS

/** Translates one of several objects: in the form with `kind` it is the value itself, in ProtoJSON its only member. */
const translateWrapped = (result: JsonObject, translation: Translation): JsonObject => {
  const found = unwrap(result, translation.from)
  if (!found) return result
  const object = translateObject(found.name, found.object, translation)
  return translation.to === 'kinds' ? object : { [found.name]: object }
}

const unwrap = (result: JsonObject, from: Form): { name: WrappedName; object: JsonObject } | undefined => {
  for (const name of Object.keys(KINDS) as WrappedName[]) {
    const wrapped = readProto(result, name) ?? (name === 'message' && from === 'proto 0.3' ? result.msg : undefined)
    const object = from !== 'kinds' ? wrapped : result.kind === KINDS[name] ? result : undefined
    if (isJsonObject(object)) return { name, object }
  }
  return undefined
}
