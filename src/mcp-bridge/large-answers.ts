import { type Principal, Quota } from './shares.ts'

/** From how many bytes on an answer is large. */
export const largeBytes = 256 * 1024

/** How many large answers one object has under way at once, and how long others wait for their turn, in ms. */
const most = 4
const patience = 30_000

/** The turns of large answers: an object has little memory, and each is in it several times over. */
export class ResponseSemaphore {
  readonly #shares = new Quota(most)
  readonly #waiting = new Set<{ account: Principal; begin: () => void }>()

  /** What one call has of it. */
  hold(account: Principal): Permit {
    return new Permit(this, account)
  }

  /** Waits for a turn. Whether there was one in time. */
  take(account: Principal): Promise<boolean> {
    if (this.#shares.take(account) === undefined) return Promise.resolve(true)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const end = (inTime: boolean) => {
      clearTimeout(late)
      this.#waiting.delete(waiting)
      resolve(inTime)
    }
    const late = setTimeout(() => end(false), patience)
    const waiting = { account, begin: () => end(true) }
    this.#waiting.add(waiting)
    return promise
  }

  give(account: Principal): void {
    this.#shares.give(account)
    for (const waiting of this.#waiting) if (this.#shares.take(waiting.account) === undefined) waiting.begin()
  }
}

/** The turn of one call, if its answer is large: it is over when nobody uses it any more. */
export class Permit {
  readonly #answers: ResponseSemaphore
  readonly #account: Principal
  #turn: Promise<boolean> | undefined
  #users = 0

  constructor(answers: ResponseSemaphore, account: Principal) {
    this.#answers = answers
    this.#account = account
  }

  /** Waits for the turn. Whether it came in time; what nobody uses any more has none. */
  take(): Promise<boolean> {
    if (this.#users === 0) return Promise.resolve(false)
    this.#turn ??= this.#answers.take(this.#account)
    return this.#turn
  }

  /** Returns what to call when the answer is no more with who uses it. */
  use(): () => void {
    let inUse = true
    this.#users++
    return () => {
      if (!inUse) return
      inUse = false
      this.#users--
      if (this.#users === 0) void this.#end()
    }
  }

  async #end(): Promise<void> {
    const turn = this.#turn
    this.#turn = undefined
    if (await turn) this.#answers.give(this.#account)
  }
}
