import { hasRemoteCard } from '../../src/card/manifest/index.ts'
import { MAX_BODY_BYTES, MAX_PAGE_SIZE } from '../../src/limits.ts'
import type { PutResult, Rejection } from '../client/index.ts'
import type { Draft } from '../manifests/index.ts'
import type { Step } from './plan.ts'
import type { Run } from './run.ts'

/** From how many agents on several share a request: for fewer, single requests at the same time take no longer. */
const MIN_SHARED = 20

/** The manifests in one request: it is done within seconds, so that progress shows, and Ctrl-C does not wait long. */
const MAX_SHARED_BYTES = 1024 * 1024

/** A line of a batch must not be longer than a body with the manifest alone; this is for its other members. */
const MAX_LINE_OVERHEAD = 1024

/** Returns the result for one item from the request of its group; undefined if it has none there. */
type Lookup<Item, Result> = (item: Item) => Promise<Result | undefined>

/**
 * Returns a function that reads the entity tag of a manifest that is registered, `null` for an agent that is not:
 * undefined if it has to be read by itself. The first draft always has to: it shows whether the host can be used.
 */
export const shareReads = ({ client, breaker }: Run, drafts: readonly Draft[]): Lookup<Draft, string | null> =>
  share(
    split(drafts.slice(1), () => 0),
    async group => {
      const etags = await breaker.call(() => client.getEtags(group.map(({ id }) => id)))
      return group.map(({ id }) => etags?.get(id))
    },
  )

/**
 * Returns a function that registers the manifest of a step: undefined if it has to be pushed by itself. The first step
 * always has to: on an empty host, it becomes the root agent. So have remote cards: the host fetches them, which may
 * take longer than one request.
 */
export const shareWrites = ({ client, breaker }: Run, steps: readonly Step[]): Lookup<Step, PutResult | Rejection> => {
  const shared = steps.slice(1).filter(({ draft }) => !hasRemoteCard(draft.manifest) && isShort(draft))
  return share(
    split(shared, ({ draft }) => sizeOf(draft)),
    async group => {
      const requests = group.map(({ draft, etag }) => ({ id: draft.id, manifest: draft.manifest, etag }))
      return (await breaker.call(() => client.putAgents(requests))) ?? []
    },
  )
}

const sizeOf = ({ manifest }: Draft): number => Buffer.byteLength(JSON.stringify(manifest))

const isShort = (draft: Draft): boolean => sizeOf(draft) + MAX_LINE_OVERHEAD <= MAX_BODY_BYTES

const split = <Item>(items: readonly Item[], sizeOf: (item: Item) => number): Item[][] => {
  const groups: Item[][] = []
  let bytes = 0
  for (const item of items.length < MIN_SHARED ? [] : items) {
    const size = sizeOf(item)
    const last = groups.at(-1)
    const isFull = last === undefined || last.length === MAX_PAGE_SIZE || bytes + size > MAX_SHARED_BYTES
    if (isFull) groups.push([item])
    else last.push(item)
    bytes = isFull ? size : bytes + size
  }
  return groups
}

/** Sends the request of a group when the first of its items is looked up. */
const share = <Item, Result>(
  groups: readonly Item[][],
  send: (group: readonly Item[]) => Promise<readonly (Result | undefined)[]>,
): Lookup<Item, Result> => {
  const places = new Map(groups.flatMap(group => group.map((item, index) => [item, { group, index }] as const)))
  const sent = new Map<Item[], ReturnType<typeof send>>()
  return async item => {
    const place = places.get(item)
    if (place === undefined) return undefined
    const results = sent.get(place.group) ?? send(place.group)
    sent.set(place.group, results)
    return (await results)[place.index]
  }
}
