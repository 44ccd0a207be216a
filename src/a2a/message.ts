import { versions, type WireVersion } from '../card/model/start.ts'
import { isJsonObject, isJsonType, isPlainObject, type Json, type JsonObject } from '../json/start.ts'
import { type InvalidParams, invalidParam } from './call-error.ts'
import { everyNameOf, named, objects, protoNames } from './objects/index.ts'
import { type A2ACall, listsTasks, operations } from './operations.ts'

/** The members of a message that this host checks. */
export type MessageFacts = {
  /** Empty where the call has no list of parts: the agent will reject it. */
  parts: Json[]
  /** The media types that the parts declare or imply, each once. The agent must accept all of them. */
  mediaTypes: string[]
  /** The index of the first part whose media type is not one string without wildcards: agents read it differently. */
  ambiguousPart: number | undefined
  /** `message.metadata.skillId`. */
  skillId: string | undefined
  /** The value as sent, to be validated if the agent's output modes are checked. */
  acceptedOutputModes: Json | undefined
  hasPushConfig: boolean
  /** Set if the message, or a state to list tasks by, is not plainly one of its version: `checkMessage` decides. */
  isDoubtful: boolean
  /** Every URL that the agent might send push notifications to, and where it is in `params`. */
  callbackUrls: { field: string; url: Json }[]
}

/**
 * Reads the parameters of a call in every version and binding. ProtoJSON has two names for a field, and 0.3 over HTTP
 * has others, so the fields are found under every name that an agent might read. Rejects what agents could read in two
 * ways: a field under two names, and a name in another case, which some agents (in Go and .NET) accept. `agentVersion`
 * is that of the agent, if the call is translated.
 */
export const readMessage = (
  call: Pick<A2ACall, 'operation' | 'params' | 'version'>,
  agentVersion = call.version,
): MessageFacts | InvalidParams => {
  const { operation, params, version } = call
  const { sends, pushConfig } = operations[operation]
  const { configuration } = params
  const parts = readParts(params)
  const mayPush = !isOrdinary(params, NAMES.params) || !isOrdinary(configuration, NAMES.configuration)
  const inParams = mayPush ? findPushConfigs(params, '') : []
  const inConfiguration = mayPush ? findPushConfigs(configuration, 'configuration.') : []
  let invalid =
    rejectCaseVariants(params, NAMES.params, '') ??
    rejectCaseVariants(params.message, NAMES.message, 'message.') ??
    rejectCaseVariants(params.request, NAMES.message, 'request.') ??
    rejectCaseVariants(configuration, NAMES.configuration, 'configuration.')
  let ambiguousPart: number | undefined
  const mediaTypes: string[] = []
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index] ?? null
    addMediaTypes(mediaTypes, part, version, agentVersion)
    if (!isJsonObject(part) || isOrdinary(part, NAMES.part)) continue
    const { file } = part
    invalid ??=
      rejectCaseVariants(part, NAMES.part, 'message.parts.') ??
      rejectCaseVariants(file, NAMES.part, 'message.parts.file.')
    if (isAmbiguous(part) || isAmbiguous(file)) ambiguousPart ??= index
  }
  for (const { path, config } of inParams.concat(inConfiguration))
    invalid ??= rejectCaseVariants(config, NAMES.pushConfig, path)
  if (sends)
    invalid ??= rejectAlias(params, '', MESSAGE_NAMES) ?? rejectAlias(configuration, 'configuration.', OUTPUT_MODES)
  if (invalid) return invalid
  if (pushConfig === 'params')
    return { ...NO_MESSAGE, callbackUrls: callbackUrlsOf([{ path: '', config: params }, ...inParams]) }
  if (listsTasks(operation) && params.status !== undefined) return { ...NO_MESSAGE, isDoubtful: true }
  if (!sends) return NO_MESSAGE
  const skillId = firstDefined(firstDefined(firstOf(params, MESSAGE_NAMES), 'metadata'), 'skillId')
  return {
    parts,
    mediaTypes: mediaTypes.length > 1 ? [...new Set(mediaTypes)] : mediaTypes,
    ambiguousPart,
    skillId: typeof skillId === 'string' ? skillId : undefined,
    acceptedOutputModes: readAcceptedOutputModes(params),
    // Beside the message, as in 0.1, it is not part of any later version, but an agent may read it there.
    hasPushConfig: mayPush && (firstOf(configuration, PUSH_NAMES) ?? firstOf(params, PUSH_NAMES)) !== undefined,
    isDoubtful: !isPlain(params.message, version),
    callbackUrls: callbackUrlsOf(inConfiguration.concat(inParams)),
  }
}

/** Checks, with as few reads as possible, whether a message plainly has the shape of its version, as nearly all do. */
const isPlain = (message: Json | undefined, version: WireVersion): boolean => {
  if (!isPlainObject(message)) return false
  const { messageId, role, parts, kind, taskId, contextId, metadata } = message
  const { hasKinds } = versions[version]
  const isPlainPart = hasKinds ? isPlainPartWithKind : isPlainProtoPart
  return (
    typeof messageId === 'string' &&
    messageId !== '' &&
    (hasKinds ? role === 'user' && kind === 'message' : role === 'ROLE_USER' && kind === undefined) &&
    isTextIfAny(taskId) &&
    isTextIfAny(contextId) &&
    isObjectIfAny(metadata) &&
    Array.isArray(parts) &&
    parts.length > 0 &&
    parts.every(part => isPlainObject(part) && isObjectIfAny(part.metadata) && isPlainPart(part))
  )
}

const isTextIfAny = (value: Json | undefined): boolean => value === undefined || typeof value === 'string'
const isObjectIfAny = (value: Json | undefined): boolean => value === undefined || isPlainObject(value)

const isPlainPartWithKind = ({ kind, text, data, raw, url }: JsonObject): boolean =>
  (kind === 'text' ? typeof text === 'string' : kind === 'data' && isPlainObject(data)) &&
  raw === undefined &&
  url === undefined

const isPlainProtoPart = ({ text, raw, url, data, filename, kind, file, mimeType }: JsonObject): boolean =>
  Number(text === undefined) + Number(raw === undefined) + Number(url === undefined) + Number(data === undefined) ===
    3 &&
  isTextIfAny(text ?? raw ?? url) &&
  isTextIfAny(filename) &&
  kind === undefined &&
  file === undefined &&
  mimeType === undefined

/**
 * Names `blocking` in a message of 0.3 over JSON-RPC whose configuration leaves it out. The official agents of 0.3 wait
 * then, but those of 1.x that also support 0.3 do not. Over HTTP+JSON its absence means false.
 */
export const nameBlocking = (call: A2ACall): A2ACall => {
  const { operation, version, binding, params } = call
  const { sends, streams } = operations[operation]
  const { configuration } = params
  if (!sends || streams || !versions[version].hasKinds || binding !== 'JSONRPC' || !isPlainObject(configuration))
    return call
  // Some agents read names in any case.
  for (const name in configuration) if (configuration[name] !== null && /^blocking$/i.test(name)) return call
  return { ...call, params: { ...params, configuration: { ...configuration, blocking: true } } }
}

/** Returns the media types that the caller accepts, as sent. */
export const readAcceptedOutputModes = ({ configuration }: JsonObject): Json | undefined =>
  firstOf(configuration, OUTPUT_MODES)

const NO_MESSAGE: MessageFacts = {
  parts: [],
  mediaTypes: [],
  ambiguousPart: undefined,
  skillId: undefined,
  acceptedOutputModes: undefined,
  hasPushConfig: false,
  isDoubtful: false,
  callbackUrls: [],
}

/** Returns a member that is neither absent nor null. */
export const firstDefined = (object: Json | undefined, name: string): Json | undefined =>
  isJsonObject(object) ? (object[name] ?? undefined) : undefined

/** Returns the first member with one of these names that is neither absent nor null. */
const firstOf = (object: Json | undefined, names: readonly string[]): Json | undefined => {
  for (const name of names) {
    const value = firstDefined(object, name)
    if (value !== undefined) return value
  }
  return undefined
}

/** The names in any form: 0.3 over HTTP has `request` for `message`, and `content` for `parts`. */
const MESSAGE_NAMES = everyNameOf(named.message)
const PART_LISTS = everyNameOf(named.parts)
const OUTPUT_MODES = everyNameOf(named.acceptedOutputModes)
const PUSH_NAMES = everyNameOf(named.pushConfig)

/** The names in the parameters that create a push configuration, which may be the configuration themselves. */
const PUSH_WRAPPERS = [...PUSH_NAMES, 'config']

/** The names of a part's media type in 1.0, and in every version. */
const MEDIA_TYPE_NAMES_V1 = protoNames(named.mediaType.name)
const MEDIA_TYPE_NAMES = everyNameOf(named.mediaType)

/** Returns the parts of every list that an agent might read. */
const readParts = (params: JsonObject): Json[] => {
  let found: Json[] | undefined
  for (const message of MESSAGE_NAMES)
    for (const name of PART_LISTS) {
      const parts = firstDefined(params[message], name)
      if (Array.isArray(parts)) found = found ? found.concat(parts) : parts
    }
  return found ?? []
}

/** The type of a file that declares none (RFC 9110 §8.3). */
export const ANY_FILE = 'application/octet-stream'

/**
 * Adds the media types that a part declares or implies, also in the other version: an agent may read either. In 0.3,
 * data has no other type than JSON, so an agent of 0.3 gets it as that.
 */
export const addMediaTypes = (types: string[], part: Json, version: WireVersion, agentVersion = version): void => {
  if (!isJsonObject(part)) return
  const { kind, text = null, data, raw = null, url = null, file = null } = part
  const { hasKinds } = versions[version]
  const start = types.length
  if (!hasKinds && !isOrdinary(part, NAMES.part)) addDeclared(types, part, MEDIA_TYPE_NAMES_V1)
  if (types.length === start) {
    if ((hasKinds && kind === 'text') || text !== null) types.push('text/plain')
    // In 1.0, data is any JSON, null too.
    if (hasKinds ? kind === 'data' || (data ?? null) !== null : data !== undefined) types.push('application/json')
    if (raw !== null || url !== null)
      addDeclared(types, part, hasKinds ? MEDIA_TYPE_NAMES : MEDIA_TYPE_NAMES_V1, ANY_FILE)
  }
  // A file of 0.3 is an object, or only named by the `kind`.
  if (kind === 'file' || file !== null) addDeclared(types, file, MEDIA_TYPE_NAMES, ANY_FILE)
  if (hasKinds || data === undefined || !versions[agentVersion].hasKinds) return
  for (let index = start; index < types.length; index++)
    if (!isJsonType(types[index] ?? null)) types[index] = 'application/json'
}

/** Adds every non-empty string under these names, because an agent may read any of them; else the type of a file. */
const addDeclared = (types: string[], object: Json, names: readonly string[], otherwise?: string): void => {
  const start = types.length
  for (const name of names) {
    const value = firstDefined(object, name)
    if (typeof value === 'string' && value !== '') types.push(value)
  }
  if (otherwise !== undefined && types.length === start) types.push(otherwise)
}

/** Checks whether a media type in an object is not one string without wildcards. */
const isAmbiguous = (object: Json | undefined): boolean =>
  isJsonObject(object) &&
  MEDIA_TYPE_NAMES.some(name => {
    const type = object[name]
    return type !== undefined && type !== null && (typeof type !== 'string' || type.includes('*'))
  })

/** A push configuration, and the path of its members. */
type PushConfig = { path: string; config: JsonObject }

/** Finds the push configurations in an object, at any depth: agents disagree on how they are wrapped. */
const findPushConfigs = (object: Json | undefined, path: string, found: PushConfig[] = []): PushConfig[] => {
  if (!isJsonObject(object)) return found
  for (const name of PUSH_WRAPPERS) {
    const config = object[name]
    if (!isJsonObject(config)) continue
    found.push({ path: `${path}${name}.`, config })
    findPushConfigs(config, `${path}${name}.`, found)
  }
  return found
}

const callbackUrlsOf = (configs: readonly PushConfig[]): MessageFacts['callbackUrls'] =>
  configs.flatMap(({ path, config: { url = null } }) =>
    url === null || url === '' ? [] : [{ field: `${path}url`, url }],
  )

/** Rejects a field that is present under both of its names: an agent may read the one that was not checked. */
const rejectAlias = (object: Json | undefined, path: string, [name = '', alias = '']: readonly string[]) =>
  firstDefined(object, name) !== undefined && firstDefined(object, alias) !== undefined
    ? invalidParam(path + alias, `is another name of \`${name}\`, which is also present: send one of them`)
    : undefined

/** Folds the case of a name. Upper case first: only in that direction, the long s and the Kelvin sign are S and K. */
const foldCase = (name: string): string => name.toUpperCase().toLowerCase()

/** Folds the names that an agent might read as one: in any case, with any separators, and as an item in a query. */
export const foldName = (name: string): string =>
  foldCase(name)
    .replace(/\[\d*\]/g, '')
    .replace(/[^a-z0-9]/g, '')

const FREE_FORM = new Set(['metadata', ...PART_LISTS, 'extensions', 'authentication'])

/** Checks whether A2A leaves the content of a member, by its folded name, to callers or authentication schemes. */
export const isFreeForm = (folded: string): boolean => FREE_FORM.has(folded)

const foldField = (name: string): string => foldCase(name).replaceAll('_', '')

/** Folds parameters: in a query, servers also read `tenant[]`, `tenant[0]`, `tenant.name` and ` tenant` as `tenant`. */
const foldParameter = (name: string): string => /[^\W_]+/.exec(foldField(name).replaceAll('-', ''))?.[0] ?? ''

/** Every name that A2A has for a member of an object. */
const objectMembers = [...Object.values(objects).flatMap(members => members.flatMap(everyNameOf)), 'kind']

/** The names that are read in few calls. */
const RARE_NAMES = new Set([...PUSH_WRAPPERS, ...MEDIA_TYPE_NAMES, 'file'])

/** The names that are checked in an object: as they are written, and by their folded form. */
const fieldNames = (exact: readonly string[], fold = foldField) => {
  // Of two names with the same folded form, errors suggest the first.
  const folded = new Map(exact.toReversed().map(name => [fold(name), name]))
  // Nearly all other names are of A2A, and need not be folded.
  const known = new Set([...exact, ...objectMembers.filter(name => !folded.has(fold(name)))])
  return { known, ordinary: new Set([...known].filter(name => !RARE_NAMES.has(name))), folded, fold }
}
type FieldNames = ReturnType<typeof fieldNames>

const NAMES = {
  params: fieldNames(
    [...MESSAGE_NAMES, 'configuration', 'tenant', 'agentName', 'A2A-Version', 'url', ...PUSH_WRAPPERS],
    foldParameter,
  ),
  message: fieldNames(PART_LISTS),
  part: fieldNames(['kind', 'text', 'data', 'file', ...MEDIA_TYPE_NAMES]),
  configuration: fieldNames([...OUTPUT_MODES, ...PUSH_NAMES]),
  pushConfig: fieldNames(['url', ...PUSH_WRAPPERS]),
}

/** Checks whether an object has no names that are rare or unknown. */
const isOrdinary = (object: Json | undefined, { ordinary }: FieldNames): boolean => {
  if (isJsonObject(object)) for (const name in object) if (!ordinary.has(name)) return false
  return true
}

/** Rejects names that an agent could take for a checked name. */
const rejectCaseVariants = (object: Json | undefined, { known, folded, fold }: FieldNames, path: string) => {
  if (!isJsonObject(object)) return undefined
  for (const name in object) {
    const expected = known.has(name) ? undefined : folded.get(fold(name))
    if (expected !== undefined) return invalidParam(path + name, `is spelled \`${expected}\` in A2A`)
  }
  return undefined
}
