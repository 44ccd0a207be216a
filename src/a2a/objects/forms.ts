import type { CallBinding, Form, Protocol, WireVersion } from '../../card/model/index.ts'
import { callBindings, formOf, lineOf, versions, wireVersions } from '../../card/model/index.ts'
import { isJsonObject, type Json, type JsonObject, toText } from '../../json/index.ts'
import { type Member, type Named, type ObjectName, objectNames, objects, protoNames } from './table.ts'

/** The name of a member in a form, and the other one that ProtoJSON has. */
export type MemberName = { key: string; alias: string }

/** A member as a form has it, and the object that it is in if it is not in its own. */
export type FormMember = Member & MemberName & { inner?: string | undefined }

/** What sets a form of objects apart, and the members of its objects. */
export type Shape = ReturnType<typeof createShape>

/** The objects that a result or an event can be: their names in ProtoJSON, and their `kind`. */
export const resultKinds = {
  task: 'task',
  message: 'message',
  statusUpdate: 'status-update',
  artifactUpdate: 'artifact-update',
} as const
export type ResultName = keyof typeof resultKinds

export const resultNames = Object.keys(resultKinds) as ResultName[]

// Names

/** Reads a member of A2A in ProtoJSON under either name; undefined if it is absent or null. */
export const readProto = (object: JsonObject, name: string): Json | undefined =>
  object[name] ?? object[protoNames(name)[1]] ?? undefined

/** Reads a member of an object; undefined if it is absent or null, or if the form lacks it. */
export const readMember = (object: JsonObject, member: MemberName | undefined): Json | undefined =>
  member && (object[member.key] ?? (member.alias === member.key ? undefined : object[member.alias]) ?? undefined)

/** The names that a result in ProtoJSON has for the object that it is. In the proto of 0.3, `msg` is a message. */
export const wrappers: readonly (readonly [wrapper: string, name: ResultName])[] = [
  ...resultNames.flatMap(name => protoNames(name).map(wrapper => [wrapper, name] as const)),
  ['msg', 'message'],
]

/** Reads the object that is the only member of a result in ProtoJSON. */
export const readWrapped = (result: JsonObject, name: string, { twin }: Shape): Json | undefined =>
  readProto(result, name) ?? (twin && name === 'message' ? (result.msg ?? undefined) : undefined)

/** Returns the task and id that are in the name of a push configuration of 0.3. */
export const namesInPushConfig = (name: Json | undefined): { taskId?: string; id?: string } => {
  const [, taskId, id] = /^tasks\/([^/]+)(?:\/pushNotificationConfigs\/([^/]+))?/.exec(toText(name)) ?? []
  return { ...(taskId !== undefined && { taskId }), ...(id !== undefined && { id }) }
}

// Enumerations

const value = (name: string, json: string, proto = name): Named => ({
  ...{ name, names: { 'json-0.3': json, 'proto-0.3': proto } },
})

/** The role of a message that has none, in ProtoJSON. */
export const NO_ROLE = 'ROLE_UNSPECIFIED'

const roles = [value('ROLE_USER', 'user'), value('ROLE_AGENT', 'agent')]

/** The states of a task in each form. A new state is a row here. */
export const taskStates: readonly Named[] = [
  value('TASK_STATE_UNSPECIFIED', 'unknown'),
  value('TASK_STATE_SUBMITTED', 'submitted'),
  value('TASK_STATE_WORKING', 'working'),
  value('TASK_STATE_COMPLETED', 'completed'),
  value('TASK_STATE_FAILED', 'failed'),
  value('TASK_STATE_CANCELED', 'canceled', 'TASK_STATE_CANCELLED'),
  value('TASK_STATE_INPUT_REQUIRED', 'input-required'),
  value('TASK_STATE_REJECTED', 'rejected'),
  value('TASK_STATE_AUTH_REQUIRED', 'auth-required'),
]

// Forms

/** Builds something for every object. */
export const forEachObject = <Value>(build: (name: ObjectName) => Value) =>
  Object.fromEntries(objectNames.map(name => [name, build(name)])) as Record<ObjectName, Value>

const createShape = (version: WireVersion, binding: CallBinding) => {
  const { forms, hasKinds: isPair } = versions[version]
  const form = forms[binding]
  const hasKinds = isPair && form === forms.JSONRPC
  const line = lineOf(version).map(each => versions[each].forms[binding])
  const nameIn = ({ name, names = {}, since }: Named): string | undefined => {
    if (since !== undefined && !lineOf(version).includes(since)) return undefined
    const named = line.map(each => names[each]).find(each => each !== undefined)
    return named === null ? undefined : (named ?? name)
  }
  const membersOf = (object: ObjectName) =>
    objects[object].flatMap((member): [string, FormMember][] => {
      const [key, inner] = nameIn(member)?.split('.').reverse() ?? []
      // Some agents of 0.3 read either name in a configuration and in a file.
      const isStrict = hasKinds && object !== 'configuration' && inner === undefined
      return key === undefined
        ? []
        : [[member.name, { ...member, key, alias: isStrict ? key : protoNames(key)[1], inner }]]
    })
  const members = forEachObject((object): ReadonlyMap<string, FormMember> => new Map(membersOf(object)))
  const contents = [...members.part.values()].filter(({ isContent }) => isContent)
  const file = contents.find(({ inner }) => inner !== undefined)?.inner
  const data: 'object' | 'wrapped' | 'any' = hasKinds ? 'object' : isPair ? 'wrapped' : 'any'
  return {
    form,
    /** The version whose objects these are. */
    version,
    /** Its version in errors. */
    label: `A2A ${version}${form === forms.JSONRPC ? '' : ' over HTTP'}`,
    /** The forms whose names it has: itself and those that it follows. */
    line,
    /** Whether it is JSON with `kind`, and not ProtoJSON. */
    hasKinds,
    /** The form with `kind` that some writers of this one use. */
    twin: isPair && !hasKinds ? forms.JSONRPC : undefined,
    /** The members of each object by their names in the newest version, in the order of the table. */
    members,
    /** Every name of these members, but for `kind` and those in a file. */
    names: forEachObject(
      (object): ReadonlySet<string> =>
        new Set([...members[object].values()].flatMap(({ key, alias, inner }) => (inner ? [inner] : [key, alias]))),
    ),
    namesInFile: new Set([...members.part.values()].flatMap(({ key, alias, inner }) => (inner ? [key, alias] : []))),
    /** The name of the parts in a message. */
    parts: members.message.get('parts')?.key ?? '',
    /** The members of a part that are its content, and of these the one whose value is a file. */
    contents: [...contents.flatMap(({ key, inner }) => (inner ? [] : [key])), ...(file ? [file] : [])],
    file,
    /** The data of a part: an object, one in the member `data` of another, or any JSON. */
    data,
    /** Whether the push configuration of a task is in another object, beside the task. */
    nestsPushConfig: !members.pushConfig.has('taskId'),
    /** The names of enumerations. Their index is their number in ProtoJSON. That of no role is not listed. */
    roles: [undefined, ...roles.map(nameIn)],
    taskStates: taskStates.map(nameIn),
  }
}

/** The shape of every form. */
export const shapes = Object.fromEntries(
  wireVersions
    .flatMap(version => callBindings.map(binding => createShape(version, binding)))
    .toReversed()
    .map(shape => [shape.form, shape]),
) as Readonly<Record<Form, Shape>>

/** The kinds of parts. */
export const partKinds: ReadonlySet<unknown> = new Set(
  Object.values(shapes).flatMap(({ hasKinds, contents }) => (hasKinds ? contents : [])),
)

/** Builds something for every form. */
export const forEachShape = <Value>(build: (shape: Shape) => Value) =>
  Object.fromEntries(Object.values(shapes).map(shape => [shape.form, build(shape)])) as Record<Form, Value>

/** Returns the shape of a result. Over HTTP, 0.3 has two; the one with `kind` shows it. */
export const shapeOfResult = (protocol: Protocol, result: unknown): Shape => {
  const shape = shapes[formOf(protocol)]
  if (shape.twin === undefined) return shape
  const first = Array.isArray(result) ? result[0] : result
  return isJsonObject(first) && (typeof first.kind === 'string' || Array.isArray(result)) ? shapes[shape.twin] : shape
}
