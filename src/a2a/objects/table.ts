import type { Form, WireVersion } from '../../card/model/start.ts'
import type { Json } from '../../json/index.ts'

// Names

/** A name in the newest version and in other forms: null in one that lacks it. A form has those of one it follows. */
export type Named = {
  name: string
  /** A path such as `file.uri` is that of a member of an inner object. */
  names?: Partial<Record<Form, string | null>>
  /** The first version that has it. */
  since?: WireVersion
}

/** Returns names for both forms of 0.3. */
export const inV03 = (name: string) => ({ 'json-0.3': name, 'proto-0.3': name })

/** The members that every call is searched for, under every name: an agent might read any of them. */
export const named = {
  message: { name: 'message', names: { 'proto-0.3': 'request' } },
  parts: { name: 'parts', names: { 'proto-0.3': 'content' } },
  mediaType: { name: 'mediaType', names: inV03('file.mimeType') },
  acceptedOutputModes: { name: 'acceptedOutputModes' },
  pushConfig: {
    name: 'taskPushNotificationConfig',
    names: { 'json-0.3': 'pushNotificationConfig', 'proto-0.3': 'pushNotification' },
  },
} as const satisfies Record<string, Named>

type ProtoNames = [camelCase: string, snakeCase: string]
const pairs = new Map<string, ProtoNames>()

/** Returns the two names that ProtoJSON has for a member, which must be one of A2A: each is converted once. */
export const protoNames = (name: string): ProtoNames => {
  const pair = pairs.get(name) ?? [name, name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)]
  pairs.set(name, pair)
  return pair
}

/** Returns every name of a member in any form, without the path to it: its newest one first. */
export const everyNameOf = ({ name, names = {} }: Named): readonly string[] => [
  ...new Set([name, ...Object.values(names)].flatMap(each => protoNames(each?.split('.').at(-1) ?? name))),
]

// Objects

/** The objects of A2A, inner ones first, and the parameters that have members of other names in some form. */
export type ObjectName =
  | ('part' | 'message' | 'status' | 'artifact' | 'task' | 'statusUpdate' | 'artifactUpdate')
  | ('pushConfig' | 'taskPushConfig' | 'authentication' | 'configuration' | 'sendParams' | 'pushConfigParams')

/** A member of an object. */
export type Member = Named & {
  /** Its type; undefined for any JSON. */
  is?: ObjectName | Plain | Special | undefined
  list?: true
  required?: true
  /** The value that JSON with `kind` has where ProtoJSON leaves the member out, because it is empty. */
  empty?: Json
  /** Set for the members of which a part has exactly one. */
  isContent?: true
  /** Set if it mentions what has passed: other tasks, contexts and media types than those of the object. */
  isPast?: true
}

/** Types of one value, which every form has. */
type Plain = 'role' | 'state' | 'text' | 'time' | 'id' | 'taskId' | 'contextId' | 'flag' | 'object'

/** Types that forms write in other ways: the end of a stream, any JSON as data, and whether a call waits. */
type Special = 'final' | 'data' | 'wait'

const any = (...names: string[]): Member[] => names.map(name => ({ name }))
const texts = (...names: string[]): Member[] => names.map(name => ({ name, is: 'text' }))
const content = { is: 'text', isContent: true } as const
const metadata: Member = { name: 'metadata', is: 'object' }
const status: Member = { name: 'status', is: 'status', required: true }
const contextId: Member = { name: 'contextId', is: 'contextId', empty: '' }
const parts: Member = { name: 'parts', is: 'part', list: true, empty: [] }
const taskId: Member = { name: 'taskId', is: 'taskId', required: true }

/** Every member of every object of A2A, in the order in which it is written. A new member is a row here. */
export const objects: Readonly<Record<ObjectName, readonly Member[]>> = {
  part: [
    { name: 'text', ...content },
    { name: 'raw', ...content, names: { 'json-0.3': 'file.bytes', 'proto-0.3': 'file.fileWithBytes' } },
    { name: 'url', ...content, names: { 'json-0.3': 'file.uri', 'proto-0.3': 'file.fileWithUri' } },
    { name: 'data', ...content, is: 'data' },
    { name: 'filename', is: 'text', names: inV03('file.name') },
    { ...named.mediaType, is: 'text' },
    metadata,
  ],
  message: [
    { name: 'messageId', is: 'id', required: true },
    { name: 'taskId', is: 'taskId' },
    { name: 'contextId', is: 'contextId' },
    { name: 'role', is: 'role', empty: 'agent' },
    { ...parts, ...named.parts },
    metadata,
    ...any('extensions'),
    { name: 'referenceTaskIds', names: { 'proto-0.3': null } },
  ],
  status: [
    { name: 'state', is: 'state', required: true, empty: 'unknown' },
    { name: 'message', is: 'message' },
    { name: 'timestamp', is: 'time' },
  ],
  artifact: [
    { name: 'artifactId', is: 'id', required: true },
    ...texts('name', 'description'),
    metadata,
    ...any('extensions'),
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
    ...[taskId, contextId, status],
    { name: 'final', is: 'final', empty: false, names: { 'proto-1.0': null } },
    metadata,
  ],
  artifactUpdate: [
    ...[taskId, contextId],
    { name: 'artifact', is: 'artifact', required: true },
    { name: 'append', is: 'flag' },
    { name: 'lastChunk', is: 'flag' },
    metadata,
  ],
  pushConfig: [
    { name: 'tenant', since: '1.0' },
    { name: 'taskId', since: '1.0' },
    { name: 'url', is: 'text', required: true },
    ...any('id', 'token', 'authentication'),
  ],
  // In 0.3, the push configuration of a task is in another object.
  taskPushConfig: [
    { ...taskId, names: { 'proto-0.3': 'name' } },
    { name: 'pushNotificationConfig', is: 'pushConfig', required: true },
  ],
  authentication: [{ name: 'scheme', names: inV03('schemes') }],
  configuration: [
    ...[named.acceptedOutputModes, { name: 'historyLength' }],
    { ...named.pushConfig, is: 'pushConfig' },
    { name: 'returnImmediately', is: 'wait', names: inV03('blocking') },
  ],
  sendParams: [named.message, { name: 'configuration' }],
  pushConfigParams: [
    { name: 'taskId', names: { 'json-0.3': 'id' } },
    { name: 'id', names: { 'json-0.3': 'pushNotificationConfigId' } },
  ],
}

export const objectNames = Object.keys(objects) as ObjectName[]

/** Returns whether a type is an object of the table. */
export const isObjectName = (type: Member['is']): type is ObjectName => type !== undefined && type in objects
