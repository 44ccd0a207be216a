import { type CallModes, formOf, indexModes, type Modes, versions } from '../card/model/index.ts'
import {
  createAcceptance,
  isJsonObject,
  isMediaRange,
  isPlainObject,
  type Json,
  type JsonObject,
  omit,
  parseMediaRange,
  toText,
} from '../json/index.ts'
import { MAX_OUTPUT_MODES, MAX_PARTS } from '../limits.ts'
import { type InvalidParams, invalidParam, type Refusal } from './call-error.ts'
import type { MessageFacts } from './message.ts'
import { checks, forEachShape, partKinds, readProto, resultKinds, type Shape, shapes } from './objects/index.ts'
import { type A2ACall, operations } from './operations.ts'

/** Returns the shape of a call. Over HTTP, some clients of 0.3 write messages with `kind`. */
export const shapeOfCall = (call: A2ACall): Shape => {
  const message = messageOf(call.params)
  const shape = shapes[formOf(call)]
  const hasKinds = isJsonObject(message) && Array.isArray(message.parts) && !/^ROLE_/.test(toText(message.role))
  return shape.twin && hasKinds ? shapes[shape.twin] : shape
}

/** Over HTTP, 0.3 has two names for the message. */
export const messageOf = ({ message, request }: JsonObject): Json | undefined => message ?? request

/** Rejects a message without the shape of its version, and an unknown state to list tasks by. Unknown members pass. */
export const checkMessage = (call: A2ACall): InvalidParams | undefined => {
  const { operation, params } = call
  if (!operations[operation].sends) return checkState(params.status, shapes[formOf(call)])
  const message = messageOf(params)
  const name = (params.message ?? undefined) === undefined && message !== undefined ? 'request' : 'message'
  const shape = shapeOfCall(call)
  const fault = findForeign(message, shape) ?? checks[shape.form].sentMessage(message)
  if (fault === undefined) return undefined
  const [, path = '', description = ''] = /^(\S*) (.*)$/.exec(fault) ?? []
  const values = path === '.role' ? 'roles' : undefined
  return invalidParam(name + path, withValue(description, valueAt(message, path, shape), shape, values))
}

const checkState = (state: Json | undefined, shape: Shape): InvalidParams | undefined => {
  const known = shape.taskStates.flatMap((name, number) => [name, number, String(number)])
  if (known.includes(state as string) || (state ?? '') === '') return undefined
  return invalidParam('status', withValue('must be a task state', state, shape, 'taskStates'))
}

/** Removes `kind`, which only 0.3 has, from a message of 1.0 and its parts. Returns undefined if it is not there. */
export const removeKinds = (call: A2ACall): A2ACall | undefined => {
  const { params, sources } = call
  const { message } = params
  if (versions[call.version].hasKinds || !isJsonObject(message)) return undefined
  const parts = Array.isArray(message.parts) ? message.parts.map(withoutKind) : message.parts
  const isChanged = Array.isArray(parts) && parts.some((part, index) => part !== (message.parts as Json[])[index])
  const cleaned = withoutKind(isChanged ? { ...message, parts } : message)
  if (cleaned === message) return undefined
  const body = sources && { ...sources.body, ...(sources.body.message === message && { message: cleaned }) }
  return { ...call, params: { ...params, message: cleaned }, ...(body && { sources: { ...sources, body } }) }
}

const withoutKind = (value: Json): Json => (isJsonObject(value) && KINDS.has(value.kind) ? omit(value, 'kind') : value)

const KINDS: ReadonlySet<unknown> = new Set([resultKinds.message, ...partKinds])

/** The members of other forms, and their replacement: in a part, in its `file`, in a message without parts. */
const foreignNames = forEachShape(({ members }) => {
  const noNames = () => new Map<string, string[]>()
  const found = { part: noNames(), file: noNames(), message: noNames() }
  for (const object of ['part', 'message'] as const)
    for (const [newest, own] of members[object])
      for (const { members: others } of Object.values(shapes)) {
        const other = others[object].get(newest)
        // An agent that does not find the name of a file still finds its content.
        if (!other || newest === 'filename') continue
        const crosses = own.isContent && own.inner !== other.inner
        const name = (crosses && other.inner) || other.key
        const use = crosses && own.inner ? `${own.inner}.${own.key}` : own.key
        const names = found[own.inner && !crosses ? 'file' : object]
        if (name !== use) names.set(name, [...new Set([...(names.get(name) ?? []), `\`${use}\``])])
      }
  return found
})

/** Finds a member that means something in another form only. */
const findForeign = (message: Json | undefined, shape: Shape): string | undefined => {
  const find = (kind: 'part' | 'file' | 'message', object: Json | undefined, path: string): string | undefined => {
    if (!isJsonObject(object)) return undefined
    for (const [name, uses] of foreignNames[shape.form][kind])
      if ((object[name] ?? null) !== null)
        return `${path}.${name} is not part of ${shape.label}: use ${uses.join(' or ')}`
    return undefined
  }
  const parts = isJsonObject(message) ? (message[shape.parts] ?? undefined) : undefined
  if (parts === undefined) return find('message', message, '')
  for (const [index, part] of Array.isArray(parts) ? parts.entries() : []) {
    const path = `.${shape.parts}[${index}]`
    const found = find('part', part, path) ?? find('file', isJsonObject(part) ? part.file : undefined, `${path}.file`)
    if (found !== undefined) return found
  }
  return undefined
}

/** Returns what is at a path such as `.parts[0].text`. */
const valueAt = (message: Json | undefined, path: string, { hasKinds }: Shape): Json | undefined =>
  (path.match(/[^.[\]]+/g) ?? []).reduce<Json | undefined>((value, name) => {
    if (Array.isArray(value)) return value[Number(name)]
    return isJsonObject(value) ? (hasKinds ? value[name] : readProto(value, name)) : undefined
  }, message)

/** Adds the value that was sent to what must be there; if it means one of `values`, names its spelling in the form. */
const withValue = (description: string, value: Json | undefined, shape: Shape, values?: 'roles' | 'taskStates') => {
  if (!description.startsWith('must be ')) return description
  if ((value ?? null) === null) return `${description}, but is missing`
  if (isPlainObject(value)) return `${description}, not an object`
  if (Array.isArray(value)) return `${description}, not ${value.length === 0 ? 'an empty list' : 'a list'}`
  const sent = typeof value === 'string' ? value.slice(0, MAX_SHOWN_LENGTH) : value
  const meaning = normalize(toText(sent))
  const hasMeaning = (name: string | undefined) => name !== undefined && normalize(name) === meaning
  const spelling =
    values && shape[values].find((_, number) => Object.values(shapes).some(other => hasMeaning(other[values][number])))
  const required = spelling === undefined ? description : `must be ${spelling} in ${shape.label}`
  return `${required}, not ${JSON.stringify(sent)}`
}

/** Longer than any name of a value. */
const MAX_SHOWN_LENGTH = 50

/** Reduces the spellings of a value in all forms to one. */
const normalize = (value: string): string =>
  value
    .toLowerCase()
    .replace(/^(?:role|task_state)_/, '')
    .replaceAll('_', '-')

// Content negotiation

/** Refuses a message with a part whose media type the agent does not accept. */
export const checkInputModes = (
  { parts, mediaTypes, ambiguousPart, skillId }: MessageFacts,
  modes: CallModes,
): Refusal => {
  const accepted = modesFor(skillId, modes, 'input')
  if (accepted.length === 0) return undefined
  if (parts.length > MAX_PARTS) return invalidParam('message.parts', `must be at most ${MAX_PARTS} parts`)
  if (ambiguousPart !== undefined)
    return invalidParam(`message.parts[${ambiguousPart}]`, 'must declare one media type, as a string without wildcards')
  const { types, ranges } = indexModes(accepted)
  const unknown = mediaTypes.filter(type => !types.has(type))
  if (unknown.length === 0) return undefined
  const offered = unknown.filter(type => !ranges.intersects(parseMediaRange(type)))
  return offered.length > 0 ? { kind: 'input-modes', offered, accepted } : undefined
}

/** Refuses a call whose `acceptedOutputModes` the agent cannot produce. An absent or empty list accepts anything. */
export const checkOutputModes = ({ acceptedOutputModes, skillId }: MessageFacts, modes: CallModes): Refusal => {
  if (acceptedOutputModes === undefined) return undefined
  const field = 'configuration.acceptedOutputModes'
  if (!Array.isArray(acceptedOutputModes)) return invalidParam(field, 'must be a list of media types')
  if (acceptedOutputModes.length > MAX_OUTPUT_MODES)
    return invalidParam(field, `must be at most ${MAX_OUTPUT_MODES} media types`)
  const invalid = acceptedOutputModes.findIndex(mode => typeof mode !== 'string' || !isMediaRange(mode))
  if (invalid >= 0)
    return invalidParam(`${field}[${invalid}]`, 'must be a media type or a range, such as "text/plain" or "image/*"')
  const offered = acceptedOutputModes as string[]
  const accepted = modesFor(skillId, modes, 'output')
  return offered.length === 0 || accepted.length === 0 || canProduce(offered, accepted)
    ? undefined
    : { kind: 'output-modes', offered, accepted }
}

/** Returns the modes of the skill that the message names, else the agent's; those of all skills if it is unknown. */
const modesFor = (skillId = '', { defaults, union, skills }: CallModes, direction: keyof Modes): string[] =>
  Object.hasOwn(skills, skillId) ? (skills[skillId]?.[direction] ?? defaults[direction]) : union[direction]

/** Matches as `Accept` does (RFC 9110 §12.5.1): the most specific range decides, and `q=0` wins between equals. */
const canProduce = (offered: readonly string[], accepted: readonly string[]): boolean => {
  const { types, parsed, ranges } = indexModes(accepted)
  // A text without parameters has no `q`.
  if (offered.every(mode => !mode.includes(';') && types.has(mode))) return true
  const wanted = offered.map(parseMediaRange)
  if (wanted.some(range => range.excluded)) return parsed.some(createAcceptance(wanted))
  return offered.some(mode => types.has(mode)) || wanted.some(range => ranges.intersects(range))
}
