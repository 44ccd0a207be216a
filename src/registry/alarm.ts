/** The only alarm of a Durable Object: a later time never postpones it. */
export class Alarm {
  readonly #storage: DurableObjectStorage
  /** The time for which it is set, in ms since 1970; undefined until that is read. */
  #at: number | undefined

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
  }

  /** Returns an alarm whose time is known, so that `wakeAt` sets it without waiting. */
  static async load(storage: DurableObjectStorage): Promise<Alarm> {
    const alarm = new Alarm(storage)
    await alarm.wakeAt(Number.POSITIVE_INFINITY)
    return alarm
  }

  /** Sets the alarm, unless it is set for that time or an earlier one. */
  async wakeAt(at: number): Promise<void> {
    if (this.#at === undefined) {
      const set = await this.#storage.getAlarm()
      // Another caller may have set it meanwhile.
      this.#at ??= set ?? Number.POSITIVE_INFINITY
    }
    if (this.#at <= at) return
    this.#at = at
    try {
      await this.#storage.setAlarm(at)
    } catch (error) {
      this.#at = undefined
      throw error
    }
  }

  /** Records that the alarm has fired, or was deleted. */
  clear(): void {
    this.#at = Number.POSITIVE_INFINITY
  }
}
