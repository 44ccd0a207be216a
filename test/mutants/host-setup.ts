import { Miniflare } from 'miniflare'
import { afterAll, inject } from 'vitest'
import { NO_MUTANT, REACHED_PATH } from './plugin.ts'
import type { Reached } from './setup.ts'

const scope = globalThis as typeof globalThis & { __mutants: Reached; __hosts?: Map<Miniflare, Set<string>> }

/** Reads what the hosts of a runtime have reached. Workers without mutants have no such list. */
const collect = async (miniflare: Miniflare): Promise<void> => {
  for (const url of scope.__hosts?.get(miniflare) ?? []) {
    const response = await fetch(new URL(REACHED_PATH, url))
    const isList = response.ok && response.headers.get('Content-Type') === 'application/json'
    const ids: number[] = isList ? await response.json() : []
    for (const id of ids) scope.__mutants.called.add(id)
  }
}

/** Notes which hosts run, for all files of the process, and asks each before it ends. */
const noteHosts = (): Map<Miniflare, Set<string>> => {
  const hosts = new Map<Miniflare, Set<string>>()
  const { dispose, unsafeGetDirectURL } = Miniflare.prototype
  Miniflare.prototype.unsafeGetDirectURL = async function (...args) {
    const url = await unsafeGetDirectURL.apply(this, args)
    hosts.set(this, (hosts.get(this) ?? new Set()).add(url.href))
    return url
  }
  Miniflare.prototype.dispose = async function () {
    await collect(this).catch(() => {})
    hosts.delete(this)
    await dispose.call(this)
  }
  return hosts
}

if (inject('mutant') === NO_MUTANT) {
  scope.__hosts ??= noteHosts()
  afterAll(async () => {
    for (const miniflare of scope.__hosts?.keys() ?? []) await collect(miniflare)
  })
}
