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
