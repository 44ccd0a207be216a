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
  is?: ObjectName | 'role' | 'state' | 'text' | 'time' | 'id' | 'taskId' | 'contextId' | 'flag' | 'object' | Special
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

const inV03 = (name: string) => ({ 'json-0.3': name, 'proto-0.3': name })
const content = { is: 'text', isContent: true } as const
const metadata: Member = { name: 'metadata', is: 'object' }
const extensions: Member = { name: 'extensions' }
const status: Member = { name: 'status', is: 'status', required: true }
const taskId: Member = { name: 'taskId', is: 'taskId', required: true }
const contextId: Member = { name: 'contextId', is: 'contextId', empty: '' }
const parts: Member = { name: 'parts', is: 'part', list: true, empty: [] }

/** Every member of every object of A2A, in the order in which it is written. A new member is a row here. */
export const objects: Readonly<Record<ObjectName, readonly Member[]>> = {
  part: [
    { name: 'text', ...content },
    { name: 'raw', ...content, names: { 'json-0.3': 'file.bytes', 'proto-0.3': 'file.fileWithBytes' } },
    { name: 'url', ...content, names: { 'json-0.3': 'file.uri', 'proto-0.3': 'file.fileWithUri' } },
    { name: 'data', is: 'data', isContent: true },
    { name: 'filename', is: 'text', names: inV03('file.name') },
    { name: 'mediaType', is: 'text', names: inV03('file.mimeType') },
    metadata,
  ],
  message: [
    { name: 'messageId', is: 'id', required: true },
    { name: 'taskId', is: 'taskId' },
    { name: 'contextId', is: 'contextId' },
    { name: 'role', is: 'role', empty: 'agent' },
    { ...parts, names: { 'proto-0.3': 'content' } },
    metadata,
    extensions,
    { name: 'referenceTaskIds', names: { 'proto-0.3': null } },
  ],
  status: [
    { name: 'state', is: 'state', required: true, empty: 'unknown' },
    { name: 'message', is: 'message' },
    { name: 'timestamp', is: 'time' },
  ],
  artifact: [
    { name: 'artifactId', is: 'id', required: true },
    { name: 'name', is: 'text' },
    { name: 'description', is: 'text' },
    metadata,
    extensions,
    parts,
  ],
  task: [
    { name: 'id', is: 'taskId', required: true },
    contextId,
    status,
    { name: 'artifacts', is: 'artifact', list: true },
    { name: 'history', is: 'message', list: true, isPast: true },
    metadata,
  ],
  statusUpdate: [
    taskId,
    contextId,
    status,
    { name: 'final', is: 'final', empty: false, names: { 'proto-1.0': null } },
    metadata,
  ],
  artifactUpdate: [
    taskId,
    contextId,
    { name: 'artifact', is: 'artifact', required: true },
    { name: 'append', is: 'flag' },
    { name: 'lastChunk', is: 'flag' },
    metadata,
  ],
  pushConfig: [
    { name: 'tenant', since: '1.0' },
    { name: 'id' },
    { name: 'taskId', since: '1.0' },
    { name: 'url', is: 'text', required: true },
    { name: 'token' },
    { name: 'authentication' },
  ],
  taskPushConfig: [
    { ...taskId, names: { 'proto-0.3': 'name' } },
    { name: 'pushNotificationConfig', is: 'pushConfig', required: true },
  ],
  authentication: [{ name: 'scheme', names: inV03('schemes') }],
  configuration: [
    { name: 'acceptedOutputModes' },
    { name: 'historyLength' },
    {
      name: 'taskPushNotificationConfig',
      is: 'pushConfig',
      names: { 'json-0.3': 'pushNotificationConfig', 'proto-0.3': 'pushNotification' },
    },
    { name: 'returnImmediately', is: 'wait', names: inV03('blocking') },
  ],
  sent: [
    { name: 'message', is: 'message', names: { 'proto-0.3': 'request' } },
    { name: 'configuration', is: 'configuration' },
  ],
  pushConfigParams: [
    { name: 'taskId', names: { 'json-0.3': 'id' } },
    { name: 'id', names: { 'json-0.3': 'pushNotificationConfigId' } },
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
