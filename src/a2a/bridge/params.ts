import { formOf, lineOf, versions } from '../../card/model/index.ts'
import { isJsonObject, isPlainObject, type Json, type JsonObject, jsonEntries, omit, toText } from '../../json/index.ts'
import { invalidParam, type Refusal } from '../call-error.ts'
import { foldName } from '../message.ts'
import type { Shape } from '../objects/index.ts'
import { forEachShape, namesInPushConfig, protoNames, readMember, readProto, shapes } from '../objects/index.ts'
import { type A2ACall, listsTasks, type OperationName, operationNames, operations } from '../operations.ts'
import { checkMessage, messageOf } from '../sent-message.ts'
import { everyName, isPresent, type Loss, type Translation, translateObject } from './objects.ts'

/** The parameters of a call, whatever its version and binding. */
export type Params = {
  task?: Json | undefined
  /** The id of a push configuration. */
  config?: Json | undefined
  message?: JsonObject | undefined
  configuration?: JsonObject | undefined
  pushConfig?: JsonObject | undefined
  /** All others, which have the same names everywhere. */
  others: JsonObject
}

/** Returns an object without the members that are undefined. */
export const definedMembers = (members: JsonObject): JsonObject => Object.fromEntries(jsonEntries(members))

/** Returns the task that a call about a task names. */
const taskOf = ({ task, pushConfig }: Params): Json | undefined =>
  task ?? (pushConfig && (readProto(pushConfig, 'taskId') ?? namesInPushConfig(pushConfig.name).taskId))

const isId = (value: Json | undefined): boolean => typeof value === 'string' && value !== ''

/** Returns the parameters that name a task and a push configuration. */
export const idParams = (operation: OperationName, { members }: Shape) => {
  const { task } = operations[operation]
  return task === 'taskId' ? [...members.pushConfigParams.values()] : task === 'id' ? [{ key: task, alias: task }] : []
}

/** Rejects parameters that agents of one version might read in another way than those of the other. */
export const checkParams = (call: A2ACall, read: Params, from: Shape): Refusal => {
  const { sends, task, pushConfig } = operations[call.operation]
  if (sends) return checkMessage(call) ?? checkConfiguration(call.params, from)
  if (task === undefined) return undefined
  const [ofTask, ofConfig] = idParams(call.operation, shapes[formOf(call)])
  if (!isId(taskOf(read)))
    return invalidParam((pushConfig !== 'params' && ofTask?.key) || task, 'must be the id of a task')
  return pushConfig === 'id' && !isId(read.config)
    ? invalidParam(ofConfig?.key ?? pushConfig, 'must be the id of a push configuration')
    : undefined
}

const checkConfiguration = ({ configuration }: JsonObject, from: Shape): Refusal => {
  if ((configuration ?? null) === null) return undefined
  if (!isPlainObject(configuration)) return invalidParam('configuration', 'must be an object')
  const member = from.members.configuration.get('taskPushNotificationConfig')
  const pushConfig = readMember(configuration, member)
  return pushConfig === undefined || isPlainObject(pushConfig)
    ? undefined
    : invalidParam(`configuration.${member?.key}`, 'must be an object')
}

/** Reads the parameters of a call. */
export const readParams = (call: A2ACall): Params => {
  const { operation, params } = call
  const { sends, pushConfig } = operations[operation]
  if (sends) {
    const message = messageOf(params)
    const { configuration } = params
    return {
      ...(isJsonObject(message) && { message }),
      ...(isJsonObject(configuration) && { configuration }),
      others: omit(params, ...everyName.sendParams),
    }
  }
  if (pushConfig === 'params') return { pushConfig: params, others: {} }
  const shape = shapes[formOf(call)]
  const ids = idParams(operation, shape)
  const [task, config] = ids.map(member => readMember(params, member))
  // In 0.2, a configuration has the id of its task.
  const isShared = shape.hasKinds && operation === 'getPushConfig'
  // Over HTTP, the path has what 0.3 also has in a name.
  const known = [...ids.flatMap(({ key, alias }) => [key, alias]), ...(shape.twin ? ['name', 'parent'] : [])]
  return { task, config: config ?? (isShared ? task : undefined), others: omit(params, ...known) }
}

/** Translates parameters for an agent. Leaves out those that its binding and version do not have. */
export const translateParams = (operation: OperationName, params: Params, translation: Translation): Params => {
  const { message, configuration, pushConfig } = params
  return {
    ...params,
    task: taskOf(params),
    ...(message && { message: translateObject('message', message, translation, 'message.') }),
    ...(operations[operation].sends && {
      configuration: translateConfiguration(configuration, translation, operations[operation].streams !== true),
    }),
    ...(pushConfig && { pushConfig: translateTaskPushConfig(pushConfig, translation) }),
    others: supportedOthers(operation, params.others, translation),
  }
}

/**
 * Translates the configuration of a message. A call that names neither `blocking` nor `returnImmediately` waits in both
 * versions, as at the official servers. Where `waits` is set, a call of 0.3 states it, because some agents do not.
 */
const translateConfiguration = (configuration: JsonObject | undefined, translation: Translation, waits: boolean) => {
  const { from, to, losses } = translation
  const given = configuration ?? {}
  const known = [...everyName.configuration]
  if (known.some(name => !from.names.configuration.has(name) && isPresent(given[name]))) losses.push('configuration.*')
  const returns = returnsImmediately(configuration, from)
  // Over HTTP, a configuration of 0.3 without `blocking` does not wait.
  const isStated = waits || returns || (!to.hasKinds && configuration !== undefined)
  const translated = omit(given, ...known)
  for (const [name, source] of from.members.configuration) {
    const { key, is } = to.members.configuration.get(name) ?? {}
    const value = readMember(given, source)
    if (key === undefined) {
      if (isPresent(value)) losses.push(`configuration.${name}`)
    } else if (is === 'wait') translated[key] = key === name ? returns || undefined : isStated ? !returns : undefined
    else if (is !== 'pushConfig') translated[key] = value
    else if (isJsonObject(value))
      translated[key] = translatePushConfig(value, translation, `configuration.${source.key}.`)
  }
  const written = definedMembers(translated)
  return Object.keys(written).length > 0 ? written : undefined
}

/** ProtoJSON leaves out what is false: over HTTP, a configuration of 0.3 without `blocking` does not wait. */
const returnsImmediately = (configuration: JsonObject | undefined, from: Shape): boolean => {
  const member = from.members.configuration.get('returnImmediately')
  if (!configuration || !member) return false
  const value = readMember(configuration, member)
  if (member.key === member.name) return value === true
  return from.hasKinds ? value === false : value !== true
}

/** Returns the parameters that a protocol has for an operation, and reports the others that have a value. */
const supportedOthers = (operation: OperationName, others: JsonObject, { to, losses }: Translation): JsonObject => {
  const unsupported = unsupportedParams[to.form][operation]
  const namesTask = !operations[operation].sends && !listsTasks(operation)
  // No operation on a task has an object or a list, except for its metadata.
  const mayHideId = (name: string, value: Json): boolean =>
    ID_NAMES.includes(foldName(name)) || (name !== 'metadata' && (Array.isArray(value) || isPlainObject(value)))
  const lost = new Set<Loss>()
  const supported = jsonEntries(others).filter(([name, value]) => {
    const isUnsupported = unsupported.includes(name)
    if (!isUnsupported && !(namesTask && mayHideId(name, value))) return true
    if (isPresent(value)) lost.add(isUnsupported ? name : '*')
    return false
  })
  losses.push(...lost)
  return Object.fromEntries(supported)
}

/** The names of the parameters of each operation that a form lacks. */
const unsupportedParams = forEachShape(({ line, version }) => {
  const unsupportedIn = (operation: OperationName): string[] =>
    Object.entries(operations[operation].params ?? {}).flatMap(([name, { forms = line, since = version }]) =>
      forms.some(form => line.includes(form)) && lineOf(version).includes(since) ? [] : protoNames(name),
    )
  const tenant = versions[version].hasTenants ? [] : ['tenant']
  const entries = operationNames.map(operation => [operation, [...unsupportedIn(operation), ...tenant]])
  return Object.fromEntries(entries) as Record<OperationName, readonly string[]>
})

/** The folded names of ids in any form: one that the caller's version lacks could be another task in the agent's. */
const ID_NAMES = ['id', 'ids', 'taskid', 'taskids', 'name', 'parent', 'configid', 'pushnotificationconfigid']

// Push configurations

/** Translates a push configuration; `path` ends in a period. */
const translatePushConfig = (config: JsonObject, translation: Translation, path = ''): JsonObject => {
  const { authentication } = config
  const { names } = translation.to
  // 1.0 has the tenant and the task in each configuration, 0.3 has neither.
  const foreign = [...everyName.pushConfig].filter(name => !names.pushConfig.has(name) && isPresent(config[name]))
  translation.losses.push(...foreign.map(name => path + name))
  return {
    ...omit(config, ...foreign),
    ...(isPlainObject(authentication) && { authentication: translateSchemes(authentication, translation, path) }),
  }
}

/** Translates an authentication, which has one `scheme` in 1.0, and a list of `schemes` in 0.3. */
const translateSchemes = (authentication: JsonObject, { from, to, losses }: Translation, path: string): JsonObject => {
  const [given, wanted = ''] = [from, to].map(({ members }) => members.authentication.get('scheme')?.key)
  if (given === wanted) return authentication
  const { scheme, schemes, ...others } = authentication
  if (isPresent(authentication[wanted])) losses.push(`${path}authentication.*`)
  if (wanted === 'schemes') return { ...others, schemes: isPresent(scheme) ? [scheme ?? null] : [] }
  const [first = '', ...rest] = Array.isArray(schemes) ? schemes : []
  if (rest.length > 0) losses.push(`${path}authentication.schemes`)
  return { ...others, scheme: first }
}

/**
 * Translates the push configuration of a task, which is nested in 0.3, and whose task is in its `name` over HTTP.
 * `ofCall` is the task that the call names: some agents leave it out of their answers.
 */
export const translateTaskPushConfig = (object: JsonObject, translation: Translation, ofCall: Json = '') => {
  const { from, to, losses } = translation
  const { taskId = ofCall, config } = from.nestsPushConfig
    ? readNested(object, translation)
    : readFlat(object, translation)
  const written = translatePushConfig(config, translation)
  if (!to.nestsPushConfig) return { ...written, taskId }
  if (to.hasKinds) return { taskId, pushNotificationConfig: written }
  const ids = [toText(taskId), toText(config.id)]
  if (ids.some(id => id.includes('/'))) losses.push('name')
  return { name: `tasks/${ids.join('/pushNotificationConfigs/')}`, pushNotificationConfig: written }
}

const readFlat = (object: JsonObject, { losses }: Translation) => {
  const taskId = readProto(object, 'taskId')
  if (isPresent(taskId) && !isId(taskId)) losses.push('taskId')
  return { taskId: isId(taskId) ? taskId : undefined, config: omit(object, ...protoNames('taskId')) }
}

/**
 * Reads a push configuration of 0.3. Over HTTP, what creates one is wrapped in `config`, and names the task in the path
 * and in `parent`; the official JavaScript client sends the configuration itself.
 */
const readNested = (object: JsonObject, { from, losses }: Translation) => {
  const isWrapped = !from.hasKinds && readProto(object, 'pushNotificationConfig') === undefined
  const wrapped = isWrapped && isJsonObject(object.config) ? object.config : object
  const ofName = namesInPushConfig([wrapped.name, object.parent].find(isPresent))
  const config = readProto(wrapped, 'pushNotificationConfig')
  const given = isPlainObject(config) ? config : {}
  const id = [readProto(object, 'configId'), ofName.id].find(isPresent)
  const known = from.hasKinds ? [] : ['parent', ...['taskId', 'configId'].flatMap(protoNames)]
  const isKnown = (name: string) =>
    from.names.taskPushConfig.has(name) || known.includes(name) || (name === 'config' && wrapped !== object)
  if (![...Object.keys(wrapped), ...Object.keys(object)].every(isKnown)) losses.push('*')
  return {
    taskId: [readProto(object, 'taskId'), readProto(wrapped, 'taskId'), ofName.taskId].find(isId),
    config: id === undefined || isPresent(given.id) ? given : { ...given, id },
  }
}
