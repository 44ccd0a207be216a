import { type Json, type JsonObject, jsonEntries } from '../../src/json/json.ts'
import type { Random } from '../fuzz/requests.ts'

/** Members of A2A in either version, and names that JavaScript or other parsers treat in their own way. */
const names = [
  ...[
    'id',
    'taskId',
    'task_id',
    'contextId',
    'tenant',
    'agentName',
    'kind',
    'role',
    'parts',
    'content',
    'message',
    'task',
  ],
  ...[
    'text',
    'raw',
    'data',
    'file',
    'url',
    'mediaType',
    'mimeType',
    'filename',
    'metadata',
    'skillId',
    'configuration',
  ],
  ...['status', 'state', 'artifacts', 'history', 'artifactId', 'statusUpdate', 'artifactUpdate', 'final', 'timestamp'],
  ...['result', 'error', 'jsonrpc', 'method', 'params', 'code', 'stack', 'stackTrace', 'details', 'nextPageToken'],
  ...['pushNotificationConfig', 'taskPushNotificationConfig', 'authentication', 'blocking', 'returnImmediately'],
  ...[
    'acceptedOutputModes',
    'historyLength',
    'pageSize',
    'pageToken',
    'name',
    'parent',
    'referenceTaskIds',
    'extensions',
  ],
  ...['__proto__', 'constructor', 'toString', '', 'a'],
]

const values: readonly Json[] = [
  ...[
    null,
    true,
    false,
    0,
    1,
    -1,
    1.5,
    1e21,
    '',
    'a',
    '1',
    'text',
    'user',
    'agent',
    'ROLE_USER',
    'ROLE_AGENT',
    'assistant',
  ],
  ...[
    'TASK_STATE_WORKING',
    'working',
    'cancelled',
    'TASK_STATE_CANCELLED',
    'input_required',
    'completed',
    'message',
    'task',
  ],
  ...[
    'image/png',
    'text/*',
    '*/*',
    'text/plain;q=0',
    'TEXT/PLAIN',
    'no type',
    'now',
    'maps',
    '..',
    'a/b',
    'tasks/a',
    'a:cancel',
  ],
  ...[
    'https://a.example/hook',
    'http://127.0.0.1/',
    'https://[::1]/',
    'https://a.example#@b',
    '\u0000',
    '\ud83d\ude00 é',
    '\ud800',
  ],
]

const oddValues = (random: Random): Json => {
  const odd: (() => Json)[] = [
    () => [],
    () => ({}),
    () => [random.pick(values)],
    () => ({ [random.pick(names)]: random.pick(values) }),
    () => nested(random.pick([10, 63, 64, 65, 70])),
    () => 'x'.repeat(random.pick([100, 1000, 5000])),
    () => Array.from({ length: random.pick([3, 150]) }, () => ({ text: 'a' })),
  ]
  return random.chance(0.6) ? random.pick(values) : random.pick(odd)()
}

const nested = (depth: number): Json => {
  let value: Json = 'deep'
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

/** Returns a value in which one random member or item is another one, is gone, has another name, or is there twice. */
export const changeJson = (value: Json, random: Random): Json => {
  if (typeof value !== 'object' || value === null || random.chance(0.04)) return oddValues(random)
  if (Array.isArray(value)) return changeArray(value, random)
  const entries = jsonEntries(value)
  const at = random.below(entries.length + (random.chance(0.1) ? 1 : 0))
  const [name, inner] = entries[at] ?? [random.pick(names), oddValues(random)]
  const others = entries.filter((_, index) => index !== at)
  const replaced = (...added: [string, Json][]): [string, Json][] => [
    ...entries.slice(0, at),
    ...added,
    ...entries.slice(at + 1),
  ]
  const changes: (() => [string, Json][])[] = [
    ...Array.from({ length: 8 }, () => () => replaced([name, changeJson(inner, random)])),
    () => replaced([name, oddValues(random)]),
    () => replaced([random.chance(0.5) ? recase(name, random) : random.pick(names), inner]),
    () => [...entries, [random.chance(0.5) ? recase(name, random) : random.pick(names), oddValues(random)]],
    () => [[random.pick(names), oddValues(random)], ...entries],
    () => others,
  ]
  return Object.fromEntries(random.pick(changes)()) as JsonObject
}

const changeArray = (items: Json[], random: Random): Json => {
  if (items.length === 0) return [oddValues(random)]
  const at = random.below(items.length)
  const changes: (() => Json[])[] = [
    ...Array.from(
      { length: 4 },
      () => () => items.map((item, index) => (index === at ? changeJson(item, random) : item)),
    ),
    () => [...items, oddValues(random)],
    () => [...items, ...items],
    () => items.filter((_, index) => index !== at),
  ]
  return random.pick(changes)()
}

const recase = (name: string, random: Random): string =>
  random.pick([
    name.toUpperCase(),
    name.slice(0, 1).toUpperCase() + name.slice(1),
    name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`),
    `${name}[]`,
    ` ${name}`,
    `${name}.id`,
  ])

const numbers = ['12345678901234567890', '1.0', '-0', '1E2', '1e400', '0.1000', '9007199254740993', '-1', '1.50']

/**
 * Returns text of JSON, changed where a parsed value cannot express it: names that are there twice, numbers, escapes,
 * bytes.
 */
export const changeJsonText = (text: string, random: Random): string => {
  const insertAt = (pattern: RegExp, replace: (found: string) => string): string => {
    const found = [...text.matchAll(pattern)]
    const { 0: match = '', index = 0 } = found.length > 0 ? random.pick(found) : { 0: '', index: 0 }
    return text.slice(0, index) + replace(match) + text.slice(index + match.length)
  }
  const changes: (() => string)[] = [
    () => insertAt(/\{(?!\})/g, () => `{${JSON.stringify(random.pick(names))}:${JSON.stringify(random.pick(values))},`),
    () => insertAt(/\{(?!\})/g, () => `{${JSON.stringify(random.pick(names))}:${JSON.stringify(random.pick(values))},`),
    () => insertAt(/\d+/g, () => random.pick(numbers)),
    () => insertAt(/:/g, () => `:${random.pick(numbers)},"n":`),
    () => insertAt(/"[a-z]/g, found => `"\\u00${found.charCodeAt(1).toString(16)}`),
    () => insertAt(/[,:{]/g, found => `${found} \t\n\r`),
    () => insertAt(/[,:}\]"]/g, () => random.pick(['', ',', '}', '\u0000', '\\'])),
    () => text.slice(0, random.below(text.length + 1)),
    () => `${random.pick(['\ufeff', '\x1e', ' ', '\n\n', '[', 'while(1);'])}${text}`,
    () => `${text}${random.pick(['\x1e', '\n', ' ', ']', ',', '{}', '\u0000', text])}`,
  ]
  return random.pick(changes)()
}

/** Returns text with the bytes of UTF-8 as its characters, as bodies are kept in cases. */
export const toBytes = (text: string): string => Buffer.from(text).toString('latin1')
