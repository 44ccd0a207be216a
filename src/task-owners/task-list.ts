import { type CallError, invalidParam } from '../a2a/errors.ts'
import type { A2ACall } from '../a2a/operations.ts'
import { foldName } from '../a2a/task-references.ts'
import { type Json, type JsonObject, omit } from '../json/json.ts'
import { type AgentOwners, type OwnedCall, UNAVAILABLE } from './agent-owners.ts'

/**
 * Opens the page token of a list, which this host has sealed, for the agent. Its answer is reduced to the caller's own tasks, and
 * shows nothing of the others, not even their number.
 */
export const openTaskList = async (call: A2ACall, owners: AgentOwners): Promise<OwnedCall | CallError> => {
  const { params, sources } = call
  const objects = sources ? Object.values(sources) : [params]
  const [sealed = '', ...others] = new Set(objects.flatMap(object => readMembers(object, 'pagetoken')))
  if (typeof sealed !== 'string' || others.length > 0) return INVALID_TOKEN
  const opened = sealed === '' ? FIRST_PAGE : await owners.request((object, caller) => object.openPage(caller, sealed))
  if (opened === undefined) return UNAVAILABLE
  if (opened === null) return INVALID_TOKEN
  const { token, seen } = opened
  return {
    call: {
      ...call,
      params: withPageToken(params, token),
      ...(sources && { sources: { ...sources, query: withPageToken(sources.query, token) } }),
    },
    inspect: async ({ kind, tasks, nextPageToken = '' }) => {
      if (kind === 'error') return undefined
      const ids = tasks.map(({ id }) => id)
      const page = await owners.request((object, caller) => object.page(caller, ids, { token: nextPageToken, seen }))
      if (page === undefined) return UNAVAILABLE
      const { own, total } = page
      // How many tasks match a filter is known only where one page has them all.
      const isWhole = token === '' && nextPageToken === ''
      const totalSize = isWhole ? own.length : total
      return {
        list: { ids: new Set(own), nextPageToken: page.nextPageToken, pageSize: readPageSize(objects), totalSize },
      }
    },
  }
}

const INVALID_TOKEN = invalidParam('pageToken', 'must be the `nextPageToken` of a page of this list')
const FIRST_PAGE = { token: '', seen: 0 }

/** The page size where a request has none (A2A 1.0 §3.1.4). */
const DEFAULT_PAGE_SIZE = 50

/** Returns the values of a member under every name that an agent might read, unless they are empty. */
const readMembers = (object: JsonObject, folded: string): Json[] =>
  Object.entries(object).flatMap(([name, value = null]) =>
    foldName(name) === folded && value !== null && value !== '' ? [value] : [],
  )

/** The agent's own page size may be the number of tasks before others were removed. */
const readPageSize = (objects: readonly JsonObject[]): number =>
  Number(objects.flatMap(object => readMembers(object, 'pagesize'))[0]) || DEFAULT_PAGE_SIZE

const withPageToken = <Members extends JsonObject>(object: Members, pageToken: string): Members => ({
  ...(omit(object, ...Object.keys(object).filter(name => foldName(name) === 'pagetoken')) as Members),
  ...(pageToken !== '' && { pageToken }),
})
