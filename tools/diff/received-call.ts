import { methodOf, type OperationName, operationNames, operations } from '../../src/a2a/operations.ts'
import { matchRestPath } from '../../src/a2a/rest-paths.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { eventsOf, resultFormOf, resultOf } from '../../test/support/answers.ts'
import type { Random } from '../fuzz/requests.ts'
import { endpoints, servedCard } from './agents.ts'
import { toBytes } from './mutate.ts'

/** A request as the agent receives it. The body has one character for each byte. */
export type AgentRequest = { method: string; path: string; headers: [name: string, value: string][]; body: string }

/**
 * A response as the agent sends it, its body likewise. `chunked` has no length, `cut` ends before the end of its
 * chunks, and `short` before its declared length.
 */
export type AgentResponse = {
  status: number
  headers: [name: string, value: string][]
  body: string
  framing: 'length' | 'chunked' | 'cut' | 'short'
}

/** A call as the agent understands it. */
export type ReceivedCall = {
  operation: OperationName
  binding: string
  version: '0.3' | '1.0'
  id: Json
  taskId?: string
  contextId?: string
}

/** Responds to a call. `served` is the agent, for its card. */
export type Respond = (call: ReceivedCall, random: Random, served: { agent: string; origin: string }) => AgentResponse

/** Reads what a request asks for; undefined if it is no call. */
export const readCall = (endpoint: string, rest: string, { method, body }: AgentRequest): ReceivedCall | undefined => {
  const protocol = endpoints[endpoint]
  if (protocol === undefined) return undefined
  const { binding, version } = protocol
  const parsed = parseObject(Buffer.from(body, 'latin1').toString())
  const params = binding === 'JSONRPC' ? asObject(parsed.params) : parsed
  const match = matchRestPath(method, rest.replace(/^north\//, ''))
  const operation =
    binding === 'JSONRPC'
      ? operationNames.find(name => (['0.3', '1.0'] as const).some(each => methodOf(name, each) === parsed.method))
      : 'kind' in match
        ? undefined
        : match.operation
  if (operation === undefined) return undefined
  const inPath: JsonObject = 'kind' in match ? {} : match.pathParams
  const message = asObject(params.message ?? params.request)
  const { task } = operations[operation]
  const taskId = task === undefined ? message.taskId : (inPath[task] ?? params[task] ?? params.id ?? params.taskId)
  return {
    ...{ operation, binding, version, id: parsed.id ?? null },
    ...(typeof taskId === 'string' && { taskId }),
    ...(typeof message.contextId === 'string' && { contextId: message.contextId }),
  }
}

/** Returns a value if it is an object, else an empty one. */
export const asObject = (value: Json | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}

/** Parses an object; an empty one where the text is none. */
export const parseObject = (text: string): JsonObject => {
  try {
    return asObject(JSON.parse(text))
  } catch {
    return {}
  }
}

const jsonType: [string, string] = ['Content-Type', 'application/json']

/** Creates a response of JSON. */
export const jsonResponse = (value: Json, status = 200): AgentResponse => ({
  ...{ status, headers: [jsonType], body: toBytes(JSON.stringify(value)), framing: 'length' },
})

/** Returns the form of the objects of a call. */
export const formOf = ({ binding, version }: ReceivedCall) => resultFormOf({ binding: binding as 'JSONRPC', version })

/** Wraps a result as the binding of a call does. */
export const wrap = ({ binding, id }: ReceivedCall, result: Json): Json =>
  binding === 'JSONRPC' ? { jsonrpc: '2.0', id, result } : result

/** The type of streams. */
export const sseType: [string, string] = ['Content-Type', 'text/event-stream']

/** Writes values as the events of a stream. */
export const toEvents = (values: readonly Json[]): string =>
  values.map(value => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`).join('')

/** Creates a stream from its text. */
export const streamOf = (body: string, framing: AgentResponse['framing'] = 'chunked'): AgentResponse => ({
  ...{ status: 200, headers: [sseType], body: toBytes(body), framing },
})

/** Returns the values of good events. */
export const eventValues = (call: ReceivedCall): Json[] => eventsOf(formOf(call)).map(event => wrap(call, event))

/** Returns a good result. A message may be answered with a task, which starts one. */
export const resultValue = (
  call: ReceivedCall,
  random: Random,
  { agent, origin }: { agent: string; origin: string },
): Json => {
  const { operation } = call
  if (operations[operation].result === 'card') return wrap(call, servedCard(agent, origin, true))
  const form = formOf(call)
  if (operation === 'listTasks') return wrap(call, taskList(form, random))
  // A message may be answered with a task, which starts one.
  if (operation === 'send' && random.chance(0.6)) {
    const task = resultOf('getTask', form)
    return wrap(call, form === '0.3' ? task : { task })
  }
  return wrap(call, resultOf(operation, form))
}

/**
 * Whether a request belongs to a session with an MCP server, which several calls share. Only calls of tools are
 * compared.
 */
export const isOfSession = ({ path, body }: AgentRequest): boolean =>
  /^\/[^/]*\/mcp/.test(path) && !body.includes('"tools/call"')

/** Returns a page with tasks of the case, and perhaps of others, and perhaps with a next page. */
const taskList = (form: ReturnType<typeof formOf>, random: Random): JsonObject => {
  const task = asObject(resultOf('getTask', form))
  const own = ['t-1', 't-2', 't-3'].slice(0, 1 + random.below(3))
  const ids = random.chance(0.5) ? [...own, 'of-others-1', 'of-others-2'] : own
  const tasks = ids.map(id => ({ ...task, id }))
  return { tasks, nextPageToken: random.chance(0.3) ? 'next' : '', pageSize: 50, totalSize: ids.length }
}
