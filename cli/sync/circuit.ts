import { HostError } from '../host/host-error.ts'

/** Stops asking a host that is lost: after the first failure that concerns every file, the rest is left untried. */
export class Circuit {
  failure: HostError | undefined

  /** Does some work with the host, unless it is lost; nothing where it is, or is now. */
  async guard<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    if (this.failure) return undefined
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof HostError)) throw error
      this.failure ??= error
      return undefined
    }
  }
}
