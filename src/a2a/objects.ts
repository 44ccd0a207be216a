import type { Form, WireVersion } from '../card/model/start.ts'
import type { Json } from '../json/start.ts'

/** The objects of A2A, inner ones first. `taskPushConfig` is around a push configuration of 0.3. */
export type ObjectName =
  | 'part'
  | 'message'
  | 'status'
  | 'artifact'
  | 'task'
  | 'statusUpdate'
  | 'artifactUpdate'
  | 'pushConfig'
  | 'taskPushConfig'
  | 'authentication'
  | 'configuration'
  | 'sent'
  | 'pushConfigParams'

/** A name in the newest version, and those in other forms: null in one that lacks it. A form inherits those it follows. */
export type Named = {
  name: string
  names?: Partial<Record<Form, string | null>>
  /** The first version that has it. */
  since?: WireVersion
}

/** A member of an object. A path such as `file.uri` in `names` is that of a member of an inner object. */
export type Member = Named & {
  /** Its type: an object of the table, an enumeration, or text, such as an id, a task or a context. */
  is?:
    | ObjectName
    | 'role'
    | 'state'
    | 'text'
    | 'time'
    | 'id'
    | 'taskId'
    | 'contextId'
    | 'flag'
    | 'object'
    | Special
    | undefined
  list?: true
  required?: true
  /** The value that JSON with `kind` has where ProtoJSON leaves the member out, because it is empty. */
  empty?: Json
  /** Set if a part has one of these. */
  isContent?: true
  /** Set if it mentions what has passed: other tasks, contexts and media types than those of the object. */
  isPast?: true
}

/** Types that forms write in other ways: the end of a stream, any JSON as data, and whether a call waits. */
type Special = 'final' | 'data' | 'wait'

const member = (name: string, is?: Member['is'], more?: Omit<Member, 'name' | 'is'>): Member => ({ name, is, ...more })

const required = { required: true } as const
const list = { list: true } as const
const isContent = true
const inV03 = (name: string) => ({ names: { 'json-0.3': name, 'proto-0.3': name } })
const metadata = member('metadata', 'object')
const taskId = member('taskId', 'taskId', required)
const contextId = member('contextId', 'contextId', { empty: '' })
const status = member('status', 'status', required)
const parts = member('parts', 'part', { list: true, empty: [] })

/** Every member of every object of A2A, in the order in which it is written. A new member is a row here. */
export const objects: Readonly<Record<ObjectName, readonly Member[]>> = {
  part: [
    member('text', 'text', { isContent }),
    member('raw', 'text', { isContent, names: { 'json-0.3': 'file.bytes', 'proto-0.3': 'file.fileWithBytes' } }),
    member('url', 'text', { isContent, names: { 'json-0.3': 'file.uri', 'proto-0.3': 'file.fileWithUri' } }),
    member('data', 'data', { isContent }),
    member('filename', 'text', inV03('file.name')),
    member('mediaType', 'text', inV03('file.mimeType')),
    metadata,
  ],
  message: [
    member('messageId', 'id', required),
    member('taskId', 'taskId'),
    member('contextId', 'contextId'),
    member('role', 'role', { empty: 'agent' }),
    { ...parts, names: { 'proto-0.3': 'content' } },
    metadata,
    member('extensions'),
    member('referenceTaskIds', undefined, { names: { 'proto-0.3': null } }),
  ],
  status: [
    member('state', 'state', { required: true, empty: 'unknown' }),
    member('message', 'message'),
    member('timestamp', 'time'),
  ],
  artifact: [
    member('artifactId', 'id', required),
    member('name', 'text'),
    member('description', 'text'),
    metadata,
    member('extensions'),
    parts,
  ],
  task: [
    member('id', 'taskId', required),
    contextId,
    status,
    member('artifacts', 'artifact', list),
    member('history', 'message', { list: true, isPast: true }),
    metadata,
  ],
  statusUpdate: [
    taskId,
    contextId,
    status,
    member('final', 'final', { empty: false, names: { 'proto-1.0': null } }),
    metadata,
  ],
  artifactUpdate: [
    taskId,
    contextId,
    member('artifact', 'artifact', required),
    member('append', 'flag'),
    member('lastChunk', 'flag'),
    metadata,
  ],
  pushConfig: [
    member('tenant', undefined, { since: '1.0' }),
    member('taskId', undefined, { since: '1.0' }),
    member('url', 'text', required),
    ...['id', 'token', 'authentication'].map(name => member(name)),
  ],
  taskPushConfig: [
    { ...taskId, names: { 'proto-0.3': 'name' } },
    member('pushNotificationConfig', 'pushConfig', required),
  ],
  authentication: [member('scheme', undefined, inV03('schemes'))],
  configuration: [
    member('acceptedOutputModes'),
    member('historyLength'),
    member('taskPushNotificationConfig', 'pushConfig', {
      names: { 'json-0.3': 'pushNotificationConfig', 'proto-0.3': 'pushNotification' },
    }),
    member('returnImmediately', 'wait', inV03('blocking')),
  ],
  sent: [member('message', 'message', { names: { 'proto-0.3': 'request' } }), member('configuration')],
  pushConfigParams: [
    member('taskId', undefined, { names: { 'json-0.3': 'id' } }),
    member('id', undefined, { names: { 'json-0.3': 'pushNotificationConfigId' } }),
  ],
}

export const objectNames = Object.keys(objects) as ObjectName[]

/** Returns whether a type is an object of the table. */
export const isObjectName = (type: Member['is']): type is ObjectName => type !== undefined && type in objects

/** Returns the two names that ProtoJSON has for a member of A2A. */
export const protoNames = (name: string): [camelCase: string, snakeCase: string] => [
  name,
  name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`),
]

/** Returns every name of a member in any form, without the path to it: its newest one first. */
export const everyName = (object: ObjectName, name: string): readonly string[] => {
  const { names = {} } = objects[object].find(member => member.name === name) ?? {}
  const all = [name, ...Object.values(names)].map(each => each?.split('.').at(-1) ?? name)
  return [...new Set(all.flatMap(protoNames))]
}
