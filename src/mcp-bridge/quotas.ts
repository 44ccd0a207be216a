/** Whose calls are counted together: those of a caller that the host knows, or those of an address that nobody known calls from. */
export type Principal = { known: boolean; name: string }

/** Who has no more of something: all together, all callers that the host does not know, or the account itself. */
export type Full = 'all' | 'unknown' | 'account'

/** How much of what there is an account may have, and all callers together that the host does not know. */
const ofKnown = 3 / 4
const ofUnknown = 1 / 4
const ofAllUnknown = 1 / 2

/** Something that an agent has so much of, in shares: no account takes all of it, and unknown callers leave some to known ones. */
export class Quota {
  readonly #most: number
  readonly #taken = new Map<string, number>()
  #ofUnknown = 0
  #total = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Takes so much; where there is not so much, nothing, and says who has none left. */
  take(account: Principal, amount = 1): Full | undefined {
    const most = this.#most
    const taken = this.#of(account) + amount
    if (taken > most * (account.known ? ofKnown : ofUnknown)) return 'account'
    if (!account.known && this.#ofUnknown + amount > most * ofAllUnknown) return 'unknown'
    if (this.#total + amount > most) return 'all'
    this.#add(account, amount)
    return undefined
  }

  give(account: Principal, amount = 1): void {
    this.#add(account, -amount)
  }

  #of({ known, name }: Principal): number {
    return this.#taken.get(`${known} ${name}`) ?? 0
  }

  #add(account: Principal, amount: number): void {
    const { known, name } = account
    const taken = this.#of(account) + amount
    this.#total += amount
    if (!known) this.#ofUnknown += amount
    if (taken > 0) this.#taken.set(`${known} ${name}`, taken)
    else this.#taken.delete(`${known} ${name}`)
  }
}

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

/** The room for events that wait to be read. */
type Room = { take: (bytes: number) => boolean; give: (bytes: number) => void }

/** How long events wait for a reader who takes none, in ms. */
const patienceQuotas = 30_000

/** Events that wait for their reader, as many as there is room for. */
export class EventStream {
  readonly body: ReadableStream<Uint8Array>
  readonly #room: Room
  #waiting: Uint8Array[] = []
  #last: Uint8Array | undefined
  #isOver = false
  #news = Promise.withResolvers<void>()
  #late: ReturnType<typeof setTimeout> | undefined

  constructor(room: Room) {
    this.#room = room
    this.body = new ReadableStream(
      {
        start: controller => {
          this.#lose = () => controller.error(new Error('The events were not read.'))
        },
        pull: controller => this.#next(controller),
        cancel: () => this.#drop(),
      },
      // What the stream held by itself, nobody would count.
      { highWaterMark: 0 },
    )
  }

  /** Adds an event. Whether there was room, or nobody who reads. */
  write(event: Uint8Array): boolean {
    if (this.#isOver) return true
    if (!this.#room.take(event.byteLength)) return false
    this.#waiting.push(event)
    if (this.#waiting.length === 1) this.#watch()
    this.#news.resolve()
    return true
  }

  /** Ends the stream; with an event for which there is always room. */
  end(last?: Uint8Array): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#last = last
    this.#news.resolve()
  }

  #lose = (): void => undefined

  async #next(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    if (this.#waiting.length === 0 && !this.#isOver) await this.#news.promise
    this.#news = Promise.withResolvers()
    const event = this.#waiting.shift()
    this.#watch()
    if (event) {
      this.#room.give(event.byteLength)
      return controller.enqueue(event)
    }
    if (this.#last) controller.enqueue(this.#last)
    controller.close()
  }

  /** A reader who takes nothing for so long is taken for one who has left. */
  #watch(): void {
    if (this.#late !== undefined) clearTimeout(this.#late)
    if (this.#waiting.length === 0) return
    this.#late = setTimeout(() => {
      this.#drop()
      this.#lose()
    }, patienceQuotas)
  }

  #drop(): void {
    this.#isOver = true
    for (const event of this.#waiting) this.#room.give(event.byteLength)
    this.#waiting = []
    this.#watch()
  }
}

/** The most bytes of events that wait in one object to be read. */
const mostUnreadEvents = 16 * 1024 * 1024

/** What waits to be read, of all streams of an object: a runtime takes no more of it than its reader does. */
export class UnreadEvents {
  readonly #shares = new Quota(mostUnreadEvents)

  /** A stream to a caller. */
  stream(account: Principal): EventStream {
    return new EventStream({
      take: bytes => this.#shares.take(account, bytes) === undefined,
      give: bytes => this.#shares.give(account, bytes),
    })
  }
}
