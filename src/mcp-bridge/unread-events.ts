import { EventStream } from './quotas.ts'
import { type Principal, Quota } from './shares.ts'

/** The most bytes of events that wait in one object to be read. */
const most = 16 * 1024 * 1024

/** What waits to be read, of all streams of an object: a runtime takes no more of it than its reader does. */
export class UnreadEvents {
  readonly #shares = new Quota(most)

  /** A stream to a caller. */
  stream(account: Principal): EventStream {
    return new EventStream({
      take: bytes => this.#shares.take(account, bytes) === undefined,
      give: bytes => this.#shares.give(account, bytes),
    })
  }
}
