/** The room for events that wait to be read. */
export type Room = { take: (bytes: number) => boolean; give: (bytes: number) => void }

/** How long events wait for a reader who takes none, in ms. */
const patience = 30_000

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
    }, patience)
  }

  #drop(): void {
    this.#isOver = true
    for (const event of this.#waiting) this.#room.give(event.byteLength)
    this.#waiting = []
    this.#watch()
  }
}
