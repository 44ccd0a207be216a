import { setTimeout as sleep } from 'node:timers/promises'
import type { Host } from '../host/host.ts'

/** Longest pause between two looks, in milliseconds. */
const longestPause = 3000

/** Looks at the card that the edge serves until it is the one with this tag; false where `deadline` (epoch ms) passes. */
export const waitUntilServed = async (host: Host, id: string, etag: string, deadline: number): Promise<boolean> => {
  for (let pause = 100; ; pause = Math.min(pause * 2, longestPause)) {
    if ((await host.servedEtag(id)) === etag) return true
    if (Date.now() + pause > deadline) return false
    await sleep(pause)
  }
}
