import type { Form, WireVersion } from '../../card/model/start.ts'

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
