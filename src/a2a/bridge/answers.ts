import type { Protocol } from '../../card/model/index.ts'
import { isJsonObject, type Json, type JsonObject, omit } from '../../json/index.ts'
import { type Form, formOf, formOfResult, type ResultName, readWrapped, resultKinds, resultNames } from '../forms.ts'
import { type OperationName, operations } from '../operations.ts'
import { type AnswerPlace, isRestError } from '../results.ts'
import { translateError } from './answer-errors.ts'
import { translateObject } from './objects.ts'
import { translateTaskPushConfig } from './push-configs.ts'
import { isPresent, type Loss, type Translation } from './translation.ts'

/**
 * How an answer is translated: from the protocol of the agent to that of the caller, who gets `id` over JSON-RPC. `task` is the one
 * that the call names.
 */
type AnswerTranslation = {
  operation: OperationName
  from: Protocol
  to: Protocol
  id: Json
  task?: Json | undefined
}

/** An answer for the caller. Its response has the `status`; an event with an error has a type of its own over HTTP+JSON. */
type TranslatedAnswer = { body: Json; status: number; isError: boolean; losses: Loss[] }

/** Translates an answer or event of an agent, which must have the shape that its version requires. */
export const translateAnswer = (
  answer: Json,
  place: AnswerPlace,
  status: number,
  { operation, from, to, id, task }: AnswerTranslation,
): TranslatedAnswer => {
  const body = isJsonObject(answer) ? answer : {}
  const write = (result: JsonObject): JsonObject => ({ jsonrpc: '2.0', id, ...result })
  if (isError(body, place, from)) {
    const error = translateError(body, { from, to, place, status })
    if (to.binding !== 'JSONRPC') return { ...error, isError: true }
    // Over JSON-RPC, the status is not part of the error, but an agent may have its own.
    return { ...error, isError: true, body: write(error.body), status: from.binding === 'JSONRPC' ? status : 200 }
  }
  const result = (from.binding === 'JSONRPC' ? body.result : answer) ?? null
  const translation: Translation = { from: formOfResult(from, result), to: formOf(to), losses: [] }
  const translated = translateResult(operation, result, translation, task)
  return {
    body: to.binding === 'JSONRPC' ? write({ result: translated }) : translated,
    status: 200,
    isError: false,
    losses: translation.losses,
  }
}

/** Over HTTP+JSON, the status of a response marks an error, and nothing in it. */
const isError = (body: JsonObject, place: AnswerPlace, { binding }: Protocol): boolean =>
  binding === 'JSONRPC' ? body.error !== undefined : isRestError(body, place)

const translateResult = (
  operation: OperationName,
  result: Json,
  translation: Translation,
  task: Json | undefined,
): Json => {
  switch (operation) {
    case 'deletePushConfig':
      return translation.to === 'kinds' ? null : {}
    case 'listPushConfigs':
      return translatePushConfigs(result, translation, task)
    case 'listTasks':
    case 'extendedCard':
      return result
  }
  if (!isJsonObject(result)) return result
  if (operation === 'getTask' || operation === 'cancel') return translateObject('task', result, translation)
  if (operations[operation].needs === 'pushNotifications') return translateTaskPushConfig(result, translation, task)
  return translateWrapped(result, translation)
}

/** The form with `kind` has a list; ProtoJSON an object with pages, which is empty if there are none. */
const translatePushConfigs = (result: Json, translation: Translation, task: Json | undefined): Json => {
  const page = isJsonObject(result) ? result : {}
  const configs = Array.isArray(result) ? result : page.configs
  const translated = (Array.isArray(configs) ? configs : []).map(config =>
    isJsonObject(config) ? translateTaskPushConfig(config, translation, task) : config,
  )
  if (translation.to === 'proto 1.0') return { ...page, configs: translated }
  if (translation.to === 'proto 0.3') {
    if (isPresent(page.kind)) translation.losses.push('*')
    return { ...omit(page, 'kind'), configs: translated }
  }
  const others = Object.keys(page).filter(name => name !== 'configs' && isPresent(page[name]))
  translation.losses.push(...new Set(others.map(name => (/^next_?page_?token$/i.test(name) ? 'nextPageToken' : '*'))))
  return translated
}

/** Translates one of several objects: in the form with `kind` it is the value itself, in ProtoJSON its only member. */
const translateWrapped = (result: JsonObject, translation: Translation): JsonObject => {
  const { from, to, losses } = translation
  const found = unwrap(result, from)
  if (!found) return result
  if (from !== 'kinds' && Object.values(result).filter(isPresent).length > 1) losses.push('*')
  const object = translateObject(found.name, found.object, translation)
  return to === 'kinds' ? object : { [found.name]: object }
}

const unwrap = (result: JsonObject, from: Form): { name: ResultName; object: JsonObject } | undefined => {
  for (const name of resultNames) {
    const object =
      from !== 'kinds' ? readWrapped(result, name, from) : result.kind === resultKinds[name] ? result : null
    if (isJsonObject(object)) return { name, object }
  }
  return undefined
}
