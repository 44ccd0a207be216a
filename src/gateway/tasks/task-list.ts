import { type A2ACall, type CallError, foldName, invalidParam } from '../../a2a/index.ts'
import { type Json, type JsonObject, toText } from '../../json/index.ts'
import { MAX_PAGE_TOKEN_LENGTH } from '../../limits.ts'
import { type AgentOwners, type OwnedCall, UNAVAILABLE, unusable } from './agent-owners.ts'
import { FIRST_PAGE, MAX_SEALED_LENGTH } from './page-tokens.ts'

/**
 * Opens the page token of a list, which this host has sealed, for the agent. Its answer is reduced to the caller's own tasks. The
 * agent is asked for pages of one size, whatever the caller asks for: the number of empty pages shows how many such pages of other
 * tasks match a filter, but with pages of one task it would count them.
 */
export const openTaskList = async (call: A2ACall, owners: AgentOwners): Promise<OwnedCall | CallError> => {
  const { params, sources } = call
  const objects = sources ? Object.values(sources) : [params]
  const [sealed = '', ...others] = new Set(objects.flatMap(object => readMembers(object, 'pagetoken')))
  if (typeof sealed !== 'string' || sealed.length > MAX_SEALED_LENGTH || others.length > 0) return INVALID_TOKEN
  const size = readPageSize(objects)
  if (size === undefined) return INVALID_SIZE
  const position =
    sealed === '' ? FIRST_PAGE : await owners.request((object, caller) => object.openPage(caller, sealed))
  if (position === undefined) return UNAVAILABLE
  if (position === null) return INVALID_TOKEN
  const { token } = position
  const page = { pageSize: PAGE_SIZE, ...(token !== '' && { pageToken: token }) }
  return {
    call: {
      ...call,
      params: { ...withoutPage(params), ...page },
      ...(sources && {
        sources: { ...sources, query: { ...withoutPage(sources.query), ...page, pageSize: String(PAGE_SIZE) } },
      }),
    },
    inspect: async ({ kind, tasks, nextPageToken: next = '' }) => {
      if (kind === 'error') return undefined
      if (next.length > MAX_PAGE_TOKEN_LENGTH) return unusable('nextPageToken is too long')
      const found = { tasks: tasks.map(({ id }) => id), next, position, size }
      const owned = await owners.request((object, caller) => object.page(caller, found))
      if (owned === undefined) return UNAVAILABLE
      const { own, totalSize, nextPageToken } = owned
      return { list: { ids: new Set(own), nextPageToken, pageSize: size, totalSize } }
    },
  }
}

const INVALID_TOKEN = invalidParam('pageToken', 'must be the `nextPageToken` of a page of this list')
const INVALID_SIZE = invalidParam('pageSize', 'must be an integer from 1 to 100')

/** The size of the agent's pages, and of the caller's where a request has none (A2A 1.0 §3.1.4). */
const PAGE_SIZE = 50
const MAX_SIZE = 100

/** Returns the values of a member under every name that an agent might read, unless they are empty. */
const readMembers = (object: JsonObject, folded: string): Json[] =>
  Object.entries(object).flatMap(([name, value = null]) =>
    foldName(name) === folded && value !== null && value !== '' ? [value] : [],
  )

/** Zero counts as absent, as in ProtoJSON. */
const readPageSize = (objects: readonly JsonObject[]): number | undefined => {
  const [value = 0] = objects.flatMap(object => readMembers(object, 'pagesize'))
  const size = Number(toText(value) || Number.NaN)
  if (size === 0) return PAGE_SIZE
  return Number.isInteger(size) && size > 0 && size <= MAX_SIZE ? size : undefined
}

const withoutPage = <Value>(members: Record<string, Value>): Record<string, Value> =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !['pagetoken', 'pagesize'].includes(foldName(name))))
