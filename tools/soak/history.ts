/** A write of one resource: an agent, a token or a remote card. */
export type Write = {
  /** What the resource is afterwards; undefined where it is gone. No two writes of a history make the same state, except for that. */
  state: string | undefined
  /** When the request was sent, and when it was answered or its connection was lost. */
  start: number
  end: number
  /** Whether the host reported success. Any other write may or may not have been made. */
  isAcknowledged: boolean
}

/** The writes of one resource, which concurrent clients may have made. */
export class History {
  readonly #writes: Write[] = []

  add(write: Write): void {
    this.#writes.push(write)
  }

  /**
   * Counts the acknowledged writes that the current state of the resource contradicts: those sent after the write that made this
   * state had ended. A state that no write made contradicts all of them.
   */
  countLost(current: string | undefined): number {
    const ends = this.#writes.filter(({ state }) => state === current).map(({ end }) => end)
    if (current === undefined) ends.push(Number.NEGATIVE_INFINITY)
    const made = ends.length > 0 ? Math.max(...ends) : Number.NEGATIVE_INFINITY
    return this.#writes.filter(({ isAcknowledged, start }) => isAcknowledged && start > made).length
  }
}
