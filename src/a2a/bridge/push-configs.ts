import { isJsonObject, type Json, type JsonObject, omit, toText } from '../../json/index.ts'
import { type Form, protoNames, readProto } from '../forms.ts'
import { isPlainObject } from '../jsonrpc.ts'
import { definedMembers, isPresent, type Translation } from './translation.ts'

/** Translates a push configuration; `path` ends in a period. */
export const translatePushConfig = (config: JsonObject, { from, to, losses }: Translation, path = ''): JsonObject => {
  const { authentication } = config
  const isRewritten = isPlainObject(authentication) && (from === 'proto 1.0') !== (to === 'proto 1.0')
  const lose = (name: string) => losses.push(path + name)
  // 1.0 has the tenant and the task in each configuration, 0.3 has neither.
  const ofTask = to === 'proto 1.0' ? [] : ['tenant', ...protoNames('taskId')].filter(name => isPresent(config[name]))
  for (const name of ofTask) lose(name)
  return definedMembers({
    ...omit(config, ...ofTask),
    ...(isRewritten && {
      authentication: to === 'proto 1.0' ? toOneScheme(authentication, lose) : toSchemes(authentication, lose),
    }),
  })
}

/** 1.0 has one scheme, 0.3 a list of them. */
const toOneScheme = (authentication: JsonObject, lose: (name: string) => void): JsonObject => {
  const { schemes } = authentication
  const [scheme = '', ...others] = Array.isArray(schemes) ? schemes : []
  if (others.length > 0) lose('authentication.schemes')
  if (isPresent(authentication.scheme)) lose('authentication.*')
  return { ...omit(authentication, 'schemes'), scheme }
}

const toSchemes = (authentication: JsonObject, lose: (name: string) => void): JsonObject => {
  if (isPresent(authentication.schemes)) lose('authentication.*')
  const { scheme } = authentication
  return { ...omit(authentication, 'scheme'), schemes: isPresent(scheme) ? [scheme ?? null] : [] }
}

/**
 * Translates the push configuration of a task, which is nested in 0.3, and whose task is in its `name` over HTTP. `ofCall` is the task
 * that the call names: some agents leave it out of their answers.
 */
export const translateTaskPushConfig = (
  object: JsonObject,
  translation: Translation,
  ofCall: Json | undefined = '',
): JsonObject => {
  const { from, to } = translation
  const { taskId = ofCall, config } = from === 'proto 1.0' ? readV1(object, translation) : readV03(object, translation)
  const written = translatePushConfig(config, translation)
  if (to === 'proto 1.0') return { ...written, taskId }
  if (to === 'kinds') return { taskId, pushNotificationConfig: written }
  const ids = [toText(taskId), toText(config.id)]
  if (ids.some(id => id.includes('/'))) translation.losses.push('name')
  return { name: `tasks/${ids.join('/pushNotificationConfigs/')}`, pushNotificationConfig: written }
}

/** Returns the task and id that are in the name of a push configuration of 0.3. */
export const namesInPushConfig = (name: Json | undefined): { taskId?: string; id?: string } => {
  const [, taskId, id] = /^tasks\/([^/]+)(?:\/pushNotificationConfigs\/([^/]+))?/.exec(toText(name)) ?? []
  return { ...(taskId !== undefined && { taskId }), ...(id !== undefined && { id }) }
}

type TaskPushConfig = { taskId?: Json | undefined; config: JsonObject }

const readV1 = (object: JsonObject, { losses }: Translation): TaskPushConfig => {
  const taskId = readProto(object, 'taskId')
  if (isPresent(taskId) && !isId(taskId)) losses.push('taskId')
  return { taskId: isId(taskId) ? taskId : undefined, config: omit(object, ...protoNames('taskId')) }
}

const isId = (value: Json | undefined): boolean => typeof value === 'string' && value !== ''

/**
 * Over HTTP, what creates a configuration is wrapped in `config`, and names the task in the path and in `parent`; the official
 * JavaScript client sends the configuration itself.
 */
const readV03 = (object: JsonObject, { from, losses }: Translation): TaskPushConfig => {
  const isWrapped = from === 'proto 0.3' && readProto(object, 'pushNotificationConfig') === undefined
  const wrapped = isWrapped && isJsonObject(object.config) ? object.config : object
  const ofName = namesInPushConfig([wrapped.name, object.parent].find(isPresent))
  const config = readProto(wrapped, 'pushNotificationConfig')
  const id = [readProto(object, 'configId'), ofName.id].find(isPresent)
  const known = new Set(KNOWN_V03[from === 'kinds' ? from : 'proto 0.3'])
  if (wrapped === object) known.delete('config')
  if ([...Object.keys(wrapped), ...Object.keys(object)].some(name => !known.has(name))) losses.push('*')
  return {
    taskId: [readProto(object, 'taskId'), readProto(wrapped, 'taskId'), ofName.taskId].find(isId),
    config: withId(isPlainObject(config) ? config : {}, id),
  }
}

const withId = (config: JsonObject, id: Json | undefined): JsonObject =>
  isPresent(config.id) || id === undefined ? config : { ...config, id }

/** The names around a push configuration of 0.3. */
const KNOWN_V03: Readonly<Record<Exclude<Form, 'proto 1.0'>, readonly string[]>> = {
  kinds: ['taskId', 'pushNotificationConfig'],
  'proto 0.3': ['config', 'name', 'parent', ...['taskId', 'configId', 'pushNotificationConfig'].flatMap(protoNames)],
}
