/** The time that a request may take. */
export type TimeLimit = {
  /** Aborts the request when its time is over, and when the caller has left. */
  signal: AbortSignal
  /** Whether it was the time that ended the request. */
  isOver: () => boolean
  /** Lets the rest of the answer take as long as it likes: only of a limit that is `liftable`. */
  lift: () => void
}

/** Limits the time of a request. One that never is lifted costs the runtime much less. */
export const timeLimit = (seconds: number, liftable: boolean, callerLeft?: AbortSignal): TimeLimit =>
  liftable ? untilLifted(seconds, callerLeft) : toTheEnd(seconds, callerLeft)

const toTheEnd = (seconds: number, callerLeft?: AbortSignal): TimeLimit => {
  const over = AbortSignal.timeout(seconds * 1000)
  const signal = callerLeft ? AbortSignal.any([over, callerLeft]) : over
  return { signal, isOver: () => over.aborted, lift: () => undefined }
}

const untilLifted = (seconds: number, callerLeft?: AbortSignal): TimeLimit => {
  const over = new AbortController()
  const timer = setTimeout(() => over.abort(), seconds * 1000)
  const signal = callerLeft ? AbortSignal.any([over.signal, callerLeft]) : over.signal
  return { signal, isOver: () => over.signal.aborted, lift: () => clearTimeout(timer) }
}
