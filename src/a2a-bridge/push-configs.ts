import type { Form } from '../a2a/result-shapes.ts'
import { isJsonObject, type Json, type JsonObject, omit } from '../json/json.ts'
import { definedMembers, protoNames, readProto, type Translation } from './translation.ts'

/** Translates a push configuration; `path` ends in a period. */
export const translatePushConfig = (config: JsonObject, { from, to, losses }: Translation, path = ''): JsonObject => {
  const { authentication } = config
  const isRewritten = isJsonObject(authentication) && (from === 'proto 1.0') !== (to === 'proto 1.0')
  const lose = (name: string) => losses.push(path + name)
  // 1.0 has the tenant in each request, 0.3 has none.
  if (to !== 'proto 1.0' && (config.tenant ?? '') !== '') lose('tenant')
  return definedMembers({
    ...(to === 'proto 1.0' ? config : omit(config, 'tenant')),
    ...(isRewritten && {
      authentication: to === 'proto 1.0' ? toOneScheme(authentication, lose) : toSchemes(authentication),
    }),
  })
}

/** 1.0 has one scheme, 0.3 a list of them. */
const toOneScheme = (authentication: JsonObject, lose: (name: string) => void): JsonObject => {
  const { schemes } = authentication
  const [scheme = '', ...others] = Array.isArray(schemes) ? schemes : []
  if (others.length > 0) lose('authentication.schemes')
  return { scheme, ...omit(authentication, 'schemes') }
}

const toSchemes = (authentication: JsonObject): JsonObject => ({
  schemes: [authentication.scheme ?? ''].filter(scheme => scheme !== ''),
  ...omit(authentication, 'scheme'),
})

/** Translates the push configuration of a task, which is nested in 0.3, and whose task is in its `name` over HTTP. */
export const translateTaskPushConfig = (object: JsonObject, translation: Translation): JsonObject => {
  const { from, to } = translation
  const { taskId, config } = from === 'proto 1.0' ? readV1(object) : readV03(object, from)
  const written = translatePushConfig(config, translation)
  if (to === 'proto 1.0') return { taskId, ...written }
  if (to === 'kinds') return { taskId, pushNotificationConfig: written }
  return { name: `tasks/${toId(taskId)}/pushNotificationConfigs/${toId(config.id)}`, pushNotificationConfig: written }
}

type TaskPushConfig = { taskId: Json; config: JsonObject }

const toId = (id: Json | undefined): string => (typeof id === 'string' ? id : '')

const readV1 = (object: JsonObject): TaskPushConfig => ({
  taskId: readProto(object, 'taskId') ?? '',
  config: omit(object, ...protoNames('taskId')),
})

/** Over HTTP, the official clients of Python wrap the object in `config`, and name the task in `parent`. */
const readV03 = (object: JsonObject, form: Form): TaskPushConfig => {
  const wrapped = form !== 'kinds' && isJsonObject(object.config) ? object.config : object
  const name = [wrapped.name, object.parent].find(each => toId(each) !== '')
  const [, ofTask, ofConfig] = /^tasks\/([^/]+)(?:\/pushNotificationConfigs\/([^/]+))?/.exec(toId(name)) ?? []
  const config = readProto(wrapped, 'pushNotificationConfig')
  const id = readProto(object, 'configId') ?? ofConfig
  return {
    taskId: readProto(wrapped, 'taskId') ?? readProto(object, 'taskId') ?? ofTask ?? '',
    config: { ...(id !== undefined && { id }), ...(isJsonObject(config) && config) },
  }
}
