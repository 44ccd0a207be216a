import type { CallEnd } from '../../a2a/call-outcome.ts'
import type { CallError } from '../../a2a/errors.ts'
import type { ResultFacts } from '../../a2a/results.ts'
import { essence } from '../../http/media-type.ts'
import type { AnswerPolicy } from './check-answer.ts'
import type { ObservedAnswer } from './record-answer.ts'

/** Counts what answers show. Loaded with the first call, so that it does not slow down a start. */
let recorder: typeof import('./record-answer.ts') | undefined

/**
 * Observes the answer to one call, for the counts of its agent. The first event of a stream shows whether the agent streams at
 * all, because it may be an error.
 */
export class AnswerObserver {
  readonly #answer: ObservedAnswer
  #facts: ResultFacts | undefined
  #fault: CallError | undefined
  #readsEvents = false
  #isCounted = false

  constructor(answer: ObservedAnswer) {
    this.#answer = answer
  }

  /** Returns a policy that also shows this observer what it finds. It reads no more answers than before. */
  observe({ inspect, warn, onStreamError, ...policy }: AnswerPolicy): AnswerPolicy {
    this.#readsEvents = inspect !== undefined
    return {
      ...policy,
      inspect:
        inspect &&
        ((facts, place) => {
          this.#facts = facts
          if (place === 'event') this.#count({ status: 200, isStream: true, agentError: facts.error })
          if (facts.mediaTypes.length > 0) this.#record({ mediaTypes: facts.mediaTypes })
          return inspect(facts, place)
        }),
      warn: (error, place) => {
        this.#fault = error
        if (place === 'event') this.#count(endOf(error))
        warn(error, place)
      },
      onStreamError: error => {
        this.#count(endOf(error))
        onStreamError?.(error)
      },
    }
  }

  /** Sees the response for the caller, or why there is none. */
  end(response: Response | CallError): void {
    const { status, isStream } =
      'kind' in response
        ? { status: 200, isStream: false }
        : { status: response.status, isStream: essence(response.headers.get('Content-Type')) === 'text/event-stream' }
    if (isStream && this.#readsEvents) return
    const error = this.#fault ?? ('kind' in response ? response : undefined)
    // An answer that the host withholds shows as much as one that passes.
    this.#count(error && !this.#facts ? endOf(error) : { status, isStream, agentError: this.#facts?.error })
  }

  #count(end: CallEnd): void {
    if (this.#isCounted) return
    this.#isCounted = true
    this.#record({ end })
  }

  #record(seen: { end: CallEnd } | { mediaTypes: readonly string[] }): void {
    if (recorder) recorder.recordAnswer(this.#answer, seen)
    else this.#answer.ctx.waitUntil(this.#load().then(({ recordAnswer }) => recordAnswer(this.#answer, seen)))
  }

  async #load() {
    recorder = await import('./record-answer.ts')
    return recorder
  }
}

const endOf = (error: CallError): CallEnd => ({
  error: error.kind,
  ...('status' in error && { status: error.status }),
})
