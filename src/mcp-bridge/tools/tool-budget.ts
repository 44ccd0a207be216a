/** A check that was given up. */
export class BudgetExceeded extends Error {
  override readonly name = 'TooMuch'
}

/** What of the arguments decides how dear it is to look at them: their longest text, and the most members of one object. */
export type Extent = { longestText: number; mostMembers: number }

/** What one check may cost, in units of about a nanosecond of work, or a byte of what is said of errors. */
export const mostCost = 10_000_000

/** Counts what the check of one call's arguments costs, wherever a validator reads something, and gives it up past a bound. */
export class Budget {
  extent: Extent = { longestText: 0, mostMembers: 0 }
  #left = 0

  begin(extent: Extent): void {
    this.extent = extent
    this.#left = mostCost
  }

  spend(cost: number): void {
    this.#left -= cost
    if (this.#left < 0) throw new BudgetExceeded('the schema costs too much')
  }
}
