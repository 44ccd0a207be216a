import {
  type A2ACall,
  type AnswerPlace,
  type AnswerRepair,
  type CallError,
  type CheckedAnswer,
  hasId,
  type Inspected,
  listsTasks,
  NOT_JSON,
  operations,
  type ReadResult,
  type ResultFacts,
  readAcceptedOutputModes,
  readResult,
  redactPushConfigs,
  repairAnswer,
  rewriteAnswer,
  type VisibleTasks,
} from '../../a2a/index.ts'
import type { CallProfile } from '../../card/index.ts'
import { createOutputComparison } from '../../card/model/index.ts'
import { essence, hasDuplicateName, isDeeperThan, type Json } from '../../json/index.ts'
import { MAX_EVENT_BYTES, MAX_JSON_DEPTH } from '../../limits.ts'
import { type CallEnd, observeCall, observeMediaTypes } from '../../registry/edge/index.ts'
import type { Exchange, Gate, GateWarning, Permitted } from '../gate/index.ts'
import { logStream, readExtendedModes, reportWarning } from '../gate/index.ts'

type Checking = CheckedAnswer | Promise<CheckedAnswer>

/** A response as it was read, and what was repaired before that. */
type Answer = { text: string; value: unknown; read: ReadResult; repairs: readonly AnswerRepair[] }

const NO_REPAIRS: readonly AnswerRepair[] = []

/**
 * The check of an agent's response, or of each event of its stream, and what it shows of the agent. Reports what it
 * finds in `Gate-Warning` and in the log, each kind once.
 */
export class ResponseCheck {
  readonly #exchange: Exchange
  readonly #gate: Gate
  readonly #permitted: Permitted
  readonly #call: A2ACall
  readonly #level: CallProfile['gate']['responses']
  /** What the agent's last response contains. */
  #found: ResultFacts | undefined
  /** The last error that the level `warn` let pass. */
  #passed: CallError | undefined
  #isCounted = false
  /** Created with the first warning. */
  #reported: Set<string> | undefined
  /** The first task that a stream named with its context, for updates that leave it out. */
  #task: { id: string; contextId: string } | undefined
  #compare: ReturnType<typeof createOutputComparison> | undefined
  #extendedModes: ReturnType<typeof readExtendedModes> | undefined

  constructor(exchange: Exchange, permitted: Permitted) {
    const { gate } = permitted
    this.#exchange = exchange
    this.#gate = gate
    this.#permitted = permitted
    this.#call = permitted.call
    // Only what has the shape of its version can be translated, and others could show the tasks of other callers.
    const mustCheck = permitted.translate !== undefined || permitted.inspectTasks !== undefined
    this.#level = mustCheck ? 'enforce' : gate.profile.gate.responses
  }

  /** Whether responses must be read: if they are not checked, being JSON is enough. */
  get reads(): boolean {
    return this.#level !== 'off'
  }

  /**
   * Checks the JSON text of a response, or of an event. Text that is not JSON is refused at every level, but for an
   * event: part of its stream has passed. The text that replaces an event is empty if it is left out. Returns a
   * promise only where it reads the owners of tasks or the extended card.
   */
  check(text: string, place: AnswerPlace, status: number): Checking {
    const checked = this.#checkUnredacted(text, place, status)
    const { needs, http } = operations[this.#call.operation]
    if (needs !== 'pushNotifications' || !http[0].includes('GET')) return checked
    const redact = (answer: CheckedAnswer) => redactPushConfigs(answer, text, status)
    return checked instanceof Promise ? checked.then(redact) : redact(checked)
  }

  /** Checks the data of an event, which is undefined if the event is too large to be read. */
  checkEvent(data: string | undefined, status: number): Checking {
    if (data !== undefined) return this.check(data, 'event', status)
    const error: CallError = { kind: 'response-too-large', maxBytes: MAX_EVENT_BYTES }
    if (this.#level === 'enforce') return error
    if (this.#level === 'warn') this.#pass(error, 'event')
    return undefined
  }

  /** Reports the repairs of a response, each once. */
  reportRepairs(found: readonly AnswerRepair[], place: AnswerPlace): void {
    // A repair of the tasks of others would show that they exist, as a warning about them would.
    if (this.#permitted.inspectTasks && listsTasks(this.#call.operation)) return
    const repairs = found.filter(repair => this.#isNew(`repaired ${repair}`))
    if (repairs.length > 0) reportWarning(this.#exchange, { kind: 'repaired', repairs }, place)
  }

  /** Receives the error with which this host ends a stream. */
  endStream(error: CallError): void {
    this.#count(endOf(error))
    logStream(this.#exchange, { error })
  }

  /** Counts the response that the caller gets, or the error in its place. */
  end(response: Response | CallError): void {
    if ('kind' in response) {
      if (!NOT_OBSERVED.has(response.kind)) this.#countResponse(this.#passed ?? response, 200, false)
      return
    }
    const { streams = false } = operations[this.#call.operation]
    // What was read already is no stream, even where it is an event for the caller.
    const isStream = streams && !this.#found && essence(response.headers.get('Content-Type')) === 'text/event-stream'
    // The first event may be an error: it shows if the agent streams.
    if (!(isStream && this.reads)) this.#countResponse(this.#passed, response.status, isStream)
  }

  #checkUnredacted(text: string, place: AnswerPlace, status: number): Checking {
    const body = parse(text)
    if (!this.reads)
      return place === 'event' || body ? undefined : { kind: 'invalid-response', status, detail: NOT_JSON.fault }
    const read = body ? this.#read(text, body.value, place) : NOT_JSON
    const answer: Answer = { text, value: body?.value, read, repairs: NO_REPAIRS }
    return this.#mayNeedRepair(read) ? this.#repair(answer, place, status) : this.#decide(answer, place, status)
  }

  /** Rejects bodies that callers may read differently: their parsers have limits, too, and may take another value. */
  #read(text: string, body: Json, place: AnswerPlace): ReadResult {
    if (isDeeperThan(text, MAX_JSON_DEPTH))
      return { fault: `the body must not nest deeper than ${MAX_JSON_DEPTH} levels` }
    const read = readResult(this.#call, body, place)
    const isAmbiguous = !('fault' in read) && hasDuplicateName(text, body)
    return isAmbiguous ? { fault: 'the body must not have a name twice in one object' } : read
  }

  /** Finds responses that are not A2A, errors, which may have a stack trace, and those that lack what clients need. */
  #mayNeedRepair(read: ReadResult): boolean {
    const isEnforced = this.#level === 'enforce'
    if ('fault' in read) return isEnforced
    if (read.kind === 'error') return true
    if (!isEnforced) return false
    const [task] = read.tasks
    return (
      read.lacksKinds === true || (task !== undefined && task.contextId === undefined && task.id === this.#task?.id)
    )
  }

  #repair(answer: Answer, place: AnswerPlace, status: number): Checking {
    const repaired = repairAnswer(answer.text, place, this.#call, this.#task)
    if (repaired && this.#level === 'warn') this.#warn({ kind: 'stack-trace' }, place)
    if (repaired === undefined || this.#level === 'warn') return this.#decide(answer, place, status)
    const { text, repairs } = repaired
    if (text === '') {
      this.reportRepairs(repairs, place)
      return { text }
    }
    const body = parse(text)
    const read = body ? this.#read(text, body.value, place) : NOT_JSON
    return this.#decide('fault' in read ? answer : { text, value: body?.value, read, repairs }, place, status)
  }

  #decide({ text, value, read, repairs }: Answer, place: AnswerPlace, status: number): Checking {
    const level = this.#level
    if ('fault' in read) {
      const error: CallError = { kind: 'invalid-response', status, detail: read.fault }
      if (level === 'enforce' || (read === NOT_JSON && place !== 'event')) return error
      if (level === 'warn') this.#pass(error, place)
      return undefined
    }
    if (place === 'event') this.#noteTask(read)
    const hasOtherId = this.#call.binding === 'JSONRPC' && !hasId(text, value, this.#call.id)
    const inspected = this.#inspect(read, place)
    if (hasOtherId && level === 'warn')
      this.#pass({ kind: 'invalid-response', status, detail: 'id must be that of the call' }, place)
    const isRestored = hasOtherId && level === 'enforce'
    if (!isRestored && inspected === undefined && repairs === NO_REPAIRS) return undefined
    const made: readonly AnswerRepair[] = isRestored ? [...repairs, 'id'] : repairs
    const rewrite = (decision: Inspected): CheckedAnswer => {
      if (decision !== undefined && 'kind' in decision) return decision
      if (made.length > 0) this.reportRepairs(made, place)
      if (isRestored || decision) return rewriteAnswer(text, this.#call, status, decision?.list)
      return repairs.length > 0 ? { text } : undefined
    }
    return inspected instanceof Promise ? inspected.then(rewrite) : rewrite(inspected)
  }

  #noteTask({ tasks: [task] }: ResultFacts): void {
    if (task?.contextId !== undefined) this.#task ??= { id: task.id, contextId: task.contextId }
  }

  /** Counts what a response shows, records its tasks, and compares its media types. */
  #inspect(facts: ResultFacts, place: AnswerPlace): Inspected | Promise<Inspected> {
    this.#found = facts
    if (place === 'event') {
      const { env, ctx } = this.#exchange
      this.#count({ status: 200, isStream: true, agentError: facts.error })
      observeMediaTypes(this.#gate.id, facts.mediaTypes, env, ctx)
    }
    const { inspectTasks } = this.#permitted
    if (!inspectTasks) return this.#compareModes(facts.mediaTypes, place)
    const decision = inspectTasks(facts)
    const compare = (decision: Inspected): Inspected | Promise<Inspected> => {
      if (decision && 'kind' in decision) return decision
      const compared = this.#compareModes(decision ? visibleTypes(facts, decision.list) : facts.mediaTypes, place)
      return compared ? compared.then(() => decision) : decision
    }
    return decision instanceof Promise ? decision.then(compare) : compare(decision)
  }

  /** Compares media types with the card and with what the caller accepts. A promise for the caller's extended card. */
  #compareModes(mediaTypes: readonly string[], place: AnswerPlace): Promise<undefined> | undefined {
    const { gate, modes } = this.#gate.profile
    if (gate.responses === 'off' || gate.modes === 'off') return undefined
    this.#compare ??= createOutputComparison(
      operations[this.#call.operation].sends ? readAcceptedOutputModes(this.#call.params) : undefined,
    )
    const compare = this.#compare
    const warnings = compare(mediaTypes, modes, this.#reported)
    if (warnings.length === 0) return undefined
    // The extended card that the caller may read can declare more.
    this.#extendedModes ??= readExtendedModes(this.#gate, this.#exchange) ?? Promise.resolve(undefined)
    return this.#extendedModes.then(extended => {
      for (const warning of extended ? compare(mediaTypes, extended, this.#reported) : warnings)
        this.#warn(warning, place)
      return undefined
    })
  }

  /** Lets an error pass that the level `warn` finds. */
  #pass(error: CallError, place: AnswerPlace): void {
    this.#passed = error
    if (place === 'event') this.#count(endOf(error))
    this.#warn(error, place)
  }

  #warn(warning: GateWarning, place: AnswerPlace): void {
    if (this.#isNew(warning.kind)) reportWarning(this.#exchange, warning, place)
  }

  #isNew(name: string): boolean {
    this.#reported ??= new Set()
    return this.#reported.size < this.#reported.add(name).size
  }

  /** Counts a response. One that the host withholds shows as much as one that passes. */
  #countResponse(error: CallError | undefined, status: number, isStream: boolean): void {
    const mediaTypes = this.#found?.mediaTypes
    const failure = error?.kind === 'foreign-task' ? error.kind : undefined
    if (error && !this.#found) this.#count({ ...endOf(error), failure })
    else this.#count({ status, isStream, agentError: this.#found?.error, mediaTypes, failure })
  }

  #count(end: CallEnd): void {
    if (this.#isCounted) return
    this.#isCounted = true
    const { operation, binding, version } = this.#call
    const { hasPushConfig } = this.#permitted
    observeCall(this.#gate.id, { operation, binding, version, hasPushConfig }, end, this.#exchange)
  }
}

/** The errors of calls that this host did not send, or not with valid credentials. Anyone can forge a loop. */
const NOT_OBSERVED: ReadonlySet<CallError['kind']> = new Set(['loop', 'misconfigured'])

const endOf = (error: CallError): CallEnd => ({
  error: error.kind,
  ...('status' in error && { status: error.status }),
})

/** Returns media types without those of others' tasks: a warning about those would show that they exist. */
const visibleTypes = ({ tasks }: ResultFacts, { ids }: VisibleTasks): readonly string[] => {
  const visible = tasks.filter(({ id }) => ids.has(id))
  return [...new Set(visible.flatMap(({ mediaTypes = [] }) => mediaTypes))]
}

const parse = (text: string): { value: Json } | undefined => {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}
