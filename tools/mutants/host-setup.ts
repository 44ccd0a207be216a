import { Miniflare } from 'miniflare'
import { afterAll, inject } from 'vitest'
import { main } from '../../test/support/runtime.ts'
import { sharedRuntime } from '../../test/support/shared-hosts.ts'
import { NO_MUTANT, REACHED_HEADER, REACHED_PATH } from './plugin.ts'
import { addReached } from './setup.ts'

/** Asks hosts what they have reached. Other Workers do not know. */
const collect = async (...urls: URL[]): Promise<void> => {
  for (const url of urls) {
    const response = await fetch(new URL(REACHED_PATH, url))
    if (response.headers.has(REACHED_HEADER)) addReached(await response.json())
  }
}

if (inject('mutant') === NO_MUTANT) {
  const { dispose } = Miniflare.prototype
  // The host of one file ends before the file does.
  Miniflare.prototype.dispose = async function () {
    await collect(await this.unsafeGetDirectURL(main))
    await dispose.call(this)
  }
  afterAll(async () => {
    Miniflare.prototype.dispose = dispose
    await collect(...Object.values(sharedRuntime().urls))
  })
}
