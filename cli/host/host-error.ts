/** Why the host could not be asked: nobody answers there, or it does not accept the token. */
type HostFailure = 'unreachable' | 'unauthorised'

/** A failure that concerns every file alike, so that what is left is not tried. */
export class HostError extends Error {
  readonly failure: HostFailure

  constructor(failure: HostFailure, message: string) {
    super(message)
    this.failure = failure
  }
}
