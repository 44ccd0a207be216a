import { type CallError, invalidParam } from '../a2a/errors.ts'
import { parseJsonLossless } from '../a2a/jsonrpc.ts'
import type { A2ACall } from '../a2a/operations.ts'
import { isJsonObject, type Json, type JsonObject, omit } from '../json/json.ts'
import { type AgentOwners, UNAVAILABLE } from './agent-owners.ts'
import type { OwnedPage } from './task-owners.ts'

/** A list of tasks as it is requested from the agent, and how its response is reduced to the caller's own tasks. */
type TaskList = { call: A2ACall; filter: (response: Response) => Promise<Response | CallError> }

/** Opens the page token of a list, which this host has sealed, for the agent. */
export const openTaskList = async (call: A2ACall, owners: AgentOwners): Promise<TaskList | CallError> => {
  const { params, sources } = call
  const named = [params, ...Object.values(sources ?? {})].flatMap(readPageTokens)
  const [sealed = '', ...others] = new Set(named)
  if (typeof sealed !== 'string' || others.length > 0) return INVALID_TOKEN
  const opened = sealed === '' ? FIRST_PAGE : await owners.request((object, caller) => object.openPage(caller, sealed))
  if (opened === undefined) return UNAVAILABLE
  if (opened === null) return INVALID_TOKEN
  const { token, seen } = opened
  const sent = {
    ...call,
    params: withPageToken(params, token),
    ...(sources && { sources: { ...sources, query: withPageToken(sources.query, token) } }),
  }
  return { call: sent, filter: response => filterTasks(response, call.binding === 'JSONRPC', seen, owners) }
}

const INVALID_TOKEN = invalidParam('pageToken', 'must be the `nextPageToken` of a page of this list')
const FIRST_PAGE = { token: '', seen: 0 }

const isPageToken = (name: string): boolean => name.toLowerCase().replaceAll('_', '') === 'pagetoken'

/** Returns the page tokens of an object under every name that an agent might read. */
const readPageTokens = (object: JsonObject): Json[] =>
  Object.entries(object).flatMap(([name, value = null]) =>
    isPageToken(name) && value !== null && value !== '' ? [value] : [],
  )

const withPageToken = <Members extends JsonObject>(object: Members, pageToken: string): Members => ({
  ...(omit(object, ...Object.keys(object).filter(isPageToken)) as Members),
  ...(pageToken !== '' && { pageToken }),
})

/** Removes the tasks of others from a response; what else it has beyond the specification could be about them, too. */
const filterTasks = async (
  response: Response,
  isRpc: boolean,
  seen: number,
  owners: AgentOwners,
): Promise<Response | CallError> => {
  if (!response.ok) return response
  const { status, headers } = response
  const parsed = parseJsonLossless(await response.text())
  const body = 'value' in parsed && isJsonObject(parsed.value) ? parsed.value : undefined
  if (body && isRpc && body.error !== undefined) return new Response(JSON.stringify(body), { status, headers })
  const list = isRpc ? body?.result : body
  const tasks = isJsonObject(list) ? readTasks(list) : undefined
  if (!isJsonObject(list) || tasks === undefined) return { kind: 'invalid-response', status }
  const token = typeof list.nextPageToken === 'string' ? list.nextPageToken : ''
  const page = await owners.request((object, caller) => object.page(caller, [...tasks.keys()], { token, seen }))
  if (page === undefined) return UNAVAILABLE
  const own = page.own.map(id => tasks.get(id) ?? null)
  const result = writeList(list, own, page, seen === 0 && token === '')
  return new Response(JSON.stringify(isRpc ? { ...body, result } : result), { status, headers })
}

/** Returns the tasks of a list by id; undefined if it is none. ProtoJSON leaves out an empty list. */
const readTasks = ({ tasks = [] }: JsonObject): Map<string, JsonObject> | undefined => {
  if (!Array.isArray(tasks)) return undefined
  const byId = new Map<string, JsonObject>()
  for (const task of tasks) {
    if (!isJsonObject(task) || typeof task.id !== 'string') return undefined
    byId.set(task.id, task)
  }
  return byId
}

/** The total of a filter is unknown unless the list has one page: then all of the caller's tasks are counted. */
const writeList = (
  { pageSize }: JsonObject,
  tasks: Json[],
  { total, nextPageToken }: OwnedPage,
  isWhole: boolean,
): JsonObject => ({
  tasks,
  nextPageToken,
  ...(pageSize !== undefined && { pageSize }),
  totalSize: isWhole ? tasks.length : total,
})
