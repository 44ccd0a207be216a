import type { WireVersion } from '../card/model/calls.ts'
import { blockReason } from '../http/safe-fetch.ts'
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts'
import type { Refusal } from './errors.ts'
import { type A2ACall, operations } from './operations.ts'

/** The first member of these names that an object has: ProtoJSON has two names for a field, and readers take both. */
export const firstDefined = (object: Json | undefined, ...names: readonly string[]): Json | undefined => {
  if (!isJsonObject(object)) return undefined
  for (const name of names) {
    const value = object[name]
    if (value !== undefined && value !== null) return value
  }
  return undefined
}

/** What a call's message is called: readers of v0.3 over HTTP take `request` for `message`. */
export const messageNames = ['message', 'request'] as const

/** What the list of a message's parts is called. */
const partLists = ['parts', 'content'] as const

/** The parts of a call's message; v0.3 over HTTP calls them its content. What is no list has none: the agent will say so. */
export const messageParts = (params: JsonObject): Json[] => {
  const lists: Json[][] = []
  for (const message of messageNames)
    for (const name of partLists) {
      const parts = firstDefined(params[message], name)
      if (Array.isArray(parts)) lists.push(parts)
    }
  return lists[0] !== undefined && lists.length === 1 ? lists[0] : lists.flat()
}

/** The media types that a part says or implies; none where it cannot be told. An agent must take all of them. */
export const partMediaTypes = (part: Json, version: WireVersion): string[] =>
  isJsonObject(part) ? partReaders[version](part) : []

const partReaders: Record<WireVersion, (part: JsonObject) => string[]> = {
  '0.3': part => {
    const has = (kind: string) => part.kind === kind || firstDefined(part, kind) !== undefined
    return [
      ...(has('text') ? ['text/plain'] : []),
      ...(has('data') ? ['application/json'] : []),
      ...textsOf(part.file, 'mimeType', 'mime_type'),
    ]
  },
  '1.0': part => {
    const explicit = textsOf(part, 'mediaType', 'media_type')
    if (explicit.length > 0) return explicit
    return [
      ...(firstDefined(part, 'text') !== undefined ? ['text/plain'] : []),
      // Data may be null: it is any JSON.
      ...(part.data !== undefined ? ['application/json'] : []),
    ]
  },
}

/** Whether a part says its type in a way that readers take for one type or another: as no text, or as a range of types. */
export const hasOddType = (part: Json): boolean => isOddlyTyped(part) || isOddlyTyped(firstDefined(part, 'file'))

/** Where a part says its media type: in one version or another, in one spelling or another. */
const typeNames = ['mediaType', 'media_type', 'mimeType', 'mime_type']

const isOddlyTyped = (object: Json | undefined): boolean =>
  isJsonObject(object) &&
  typeNames.some(name => {
    const type = object[name]
    return type !== undefined && type !== null && (typeof type !== 'string' || type.includes('*'))
  })

/** The texts that an object has under each of these names, of which its reader may take any. */
const textsOf = (object: Json | undefined, ...names: readonly string[]): string[] => {
  const texts: string[] = []
  for (const name of names) {
    const text = firstDefined(object, name)
    if (typeof text === 'string' && text !== '') texts.push(text)
  }
  return texts
}

/** Where a push configuration may stand in a message's `configuration`: in v0.3, in v0.3 over HTTP, in v1.0. */
export const pushConfigurations = [
  ...['pushNotificationConfig', 'push_notification_config', 'pushNotification', 'push_notification'],
  ...['taskPushNotificationConfig', 'task_push_notification_config'],
]

/** And in the parameters of the operation that creates one, which may themselves be it. */
const pushWrappers = [...pushConfigurations, 'config']

/** Enough to mend a call by: it may hold addresses by the hundred thousand. */
const mostTold = 10

/**
 * Why a call is refused that tells an agent to call back where this host itself would not: the agent may stand in a network of
 * its own. Which of the addresses are there is not told: one answer is given for every reason.
 */
export const checkCallbacks = (call: A2ACall, allowedOrigins: string): Refusal | undefined => {
  const fields: string[] = []
  const { operation, params } = call
  if (operation === 'createPushConfig') look(params, '', allowedOrigins, fields)
  else if (operations[operation].sends) {
    lookBelow(params.configuration, 'configuration.', allowedOrigins, fields)
    lookBelow(params, '', allowedOrigins, fields)
  }
  if (fields.length === 0) return undefined
  return {
    refused: 'invalid-params',
    detail: 'Push notifications go to public https addresses alone, and this is none that this host calls.',
    violations: fields.map(field => ({ field, description: 'is an address that this host does not call' })),
  }
}

/** Readers take one name or the other: whatever could be the address is looked at. An empty one is none. */
const look = (config: JsonObject, path: string, allowedOrigins: string, fields: string[]): void => {
  const { url = null } = config
  if (url !== null && url !== '' && !mayBeCalled(url, allowedOrigins)) fields.push(`${path}url`)
  lookBelow(config, path, allowedOrigins, fields)
}

const lookBelow = (holder: Json | undefined, path: string, allowedOrigins: string, fields: string[]): void => {
  if (!isJsonObject(holder)) return
  for (const name of pushWrappers) {
    if (fields.length >= mostTold) return
    const config = holder[name]
    if (isJsonObject(config)) look(config, `${path}${name}.`, allowedOrigins, fields)
  }
}

/** The agent reads the address with a parser of its own: only one that all read alike is passed on. */
const mayBeCalled = (url: Json, allowedOrigins: string): boolean =>
  typeof url === 'string' && plain.test(url) && blockReason(url, allowedOrigins) === undefined

const plain = /^https?:\/\/[^/?#\\@\s]+(?:[/?#][^\\\s\p{Cc}]*)?$/iu

/** The names of what is looked at in an object, and each by how it looks to who ignores case. */
type Names = { exact: ReadonlySet<string>; folded: ReadonlyMap<string, string> }

/** Some letters are another's capital or small one, but not the other way round: the long s, the sign of Kelvin. */
const fold = (name: string): string => name.toUpperCase().toLowerCase().replaceAll('_', '')

const names = (...exact: string[]): Names => ({
  exact: new Set(exact),
  // Of two spellings that are both A2A's, the first is the one to tell.
  folded: new Map(exact.toReversed().map(name => [fold(name), name])),
})

const ofPush = ['url', ...pushWrappers]
const looked = {
  params: names(...messageNames, 'configuration', 'tenant', 'agentName', ...ofPush),
  message: names(...partLists),
  part: names('kind', 'text', 'data', 'file', ...typeNames),
  configuration: names('acceptedOutputModes', 'accepted_output_modes', ...pushConfigurations),
  push: names(...ofPush),
}

/**
 * Why a call is refused that says in other letters what is checked: some agents read names in any case (Go's and .NET's do), and
 * would find what this host has not looked at.
 */
export const rejectCaseVariants = ({ params }: A2ACall): Refusal | undefined => {
  const found =
    misspelt(params, looked.params, '') ??
    first(messageNames, name => misspelt(params[name], looked.message, `${name}.`)) ??
    misspelt(params.configuration, looked.configuration, 'configuration.') ??
    misspeltBelow(params, '') ??
    misspeltBelow(params.configuration, 'configuration.') ??
    first(messageParts(params), misspeltPart)
  return (
    found && {
      refused: 'invalid-params',
      detail: `\`${found.field.slice(0, 100)}\` ${found.description}.`,
      violations: [found],
    }
  )
}

type Found = { field: string; description: string } | undefined

const first = <Item>(items: readonly Item[], find: (item: Item) => Found): Found => {
  for (const item of items) {
    const found = find(item)
    if (found) return found
  }
  return undefined
}

const misspelt = (object: Json | undefined, { exact, folded }: Names, at: string): Found => {
  if (!isJsonObject(object)) return undefined
  for (const name in object) {
    const meant = exact.has(name) ? undefined : folded.get(fold(name))
    if (meant !== undefined) return { field: at + name, description: `is spelled \`${meant}\` in A2A` }
  }
  return undefined
}

const misspeltPart = (part: Json): Found =>
  isJsonObject(part)
    ? (misspelt(part, looked.part, 'message.parts.') ?? misspelt(part.file, looked.part, 'message.parts.file.'))
    : undefined

const misspeltBelow = (holder: Json | undefined, at: string): Found =>
  isJsonObject(holder)
    ? first(pushWrappers, name => {
        const config = holder[name]
        if (!isJsonObject(config)) return undefined
        const below = `${at}${name}.`
        return misspelt(config, looked.push, below) ?? misspeltBelow(config, below)
      })
    : undefined
