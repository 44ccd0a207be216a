import { writeObject } from '../a2a/bridge/index.ts'
import { methodOf, type OperationName, operations, pathOf, specifiedError } from '../a2a/index.ts'
import type { CallProfile } from '../card/index.ts'
import { createOutputComparison, formOf, type Protocol, type ReceiptTest, versions } from '../card/model/index.ts'
import { jsonRpcMessage, type UpstreamMessage } from '../gateway/upstream/index.ts'
import { intersects, type JsonObject, parseMediaRange } from '../json/index.ts'
import type { SendOptions } from './exchange.ts'
import type { Outcome } from './outcome.ts'

/** The agent and the protocol of a test, and whether it is made through the gate or at the agent itself. */
export type TestContext = { profile: CallProfile; protocol: Protocol; through: ReceiptTest['through'] }

/** The result of a test, and the reason if it has not passed. */
export type Verdict = Pick<ReceiptTest, 'result' | 'reason'>

/** A test of one call. */
export type CallTest = Partial<Omit<SendOptions, 'seconds'>> & {
  /** The name is stable. */
  id: string
  title: string
  operation: OperationName
  /** The claim of the card, or what A2A requires. */
  claim: string | ((profile: CallProfile) => string)
  /** Returns the parameters of the call about an id that no task has; by default, this id alone. */
  params?: (protocol: Protocol, id: string) => JsonObject
  /** Writes another call than one of the operation. */
  write?: (protocol: Protocol, id: string) => UpstreamMessage
  /** A version that the call names in place of its own. */
  namedVersion?: string
  /** Returns why the test is skipped, before anything is sent. */
  skip?: (context: TestContext) => string | undefined
  evaluate: (outcome: Outcome, context: TestContext) => Verdict
}

type Reason = Parameters<typeof specifiedError>[0]

const passed: Verdict = { result: 'passed' }
const failed = (reason: string): Verdict => ({ result: 'failed', reason })
const skipped = (reason: string): Verdict => ({ result: 'skipped', reason })

/** Returns a passed test, or a failed one with its reason. */
export const passIf = (isPassed: boolean, reason: string): Verdict => (isPassed ? passed : failed(reason))

/** Evaluates what no test can be about: the agent does not answer, or refuses the caller. */
const evaluateUnread = ({ kind }: Outcome, { through, profile }: TestContext): Verdict | undefined => {
  if (kind === 'unanswered') return failed('The agent does not answer.')
  if (kind === 'rate-limit') return skipped('A rate limit refused the request.')
  if (kind === 'invalid') return failed('The answer is not A2A.')
  if (kind !== 'denied') return undefined
  if (through === 'direct') return skipped('The agent needs credentials, and the check sends none here.')
  return skipped(
    profile.callers === 'anyone'
      ? 'The token of this check does not permit the call, or the agent refuses the credentials.'
      : 'Callers need a token with the scope `call`, which that of this check may lack.',
  )
}

const requires = (reason: Reason): string => `A2A requires error ${specifiedError(reason).code}`

const expectError =
  (...expected: readonly [Reason, ...Reason[]]) =>
  (outcome: Outcome, context: TestContext): Verdict => {
    const unread = evaluateUnread(outcome, context)
    if (unread) return unread
    const { reason, status } = outcome.kind === 'error' ? outcome : { reason: '', status: 0 }
    const { binding, version } = context.protocol
    // The errors of 0.3 have no codes over HTTP.
    const isPlain = reason === undefined && status === 404 && binding === 'HTTP+JSON' && !hasReasons(version)
    const reasons = isPlain ? ['TASK_NOT_FOUND', 'METHOD_NOT_FOUND'] : [reason]
    return passIf(
      expected.some(each => reasons.includes(each)),
      `${requires(expected[0])}.`,
    )
  }

const hasReasons = (version: Protocol['version']): boolean => versions[version].errors === 'details'

/** Returns whether the call reaches an agent of 1.0: one of 0.3 keeps its errors where its calls are translated. */
const isOfV1 = ({ profile: { targets }, protocol }: TestContext): boolean =>
  hasReasons(protocol.version) && targets.some(({ version }) => hasReasons(version))

/** Expects the error of an operation that the agent does not declare. 0.3 does not require one of its own for it. */
const expectUndeclared =
  (reason: Reason, ...inV03: Reason[]) =>
  (outcome: Outcome, context: TestContext): Verdict => {
    const others: Reason[] = isOfV1(context) ? [] : ['UNSUPPORTED_OPERATION', 'METHOD_NOT_FOUND', ...inV03]
    return expectError(reason, ...others)(outcome, context)
  }

/** Evaluates an operation of a capability about a task that does not exist: the error depends on the card. */
const expectCapability =
  (capability: 'streaming' | 'pushNotifications', undeclared: Reason) =>
  (outcome: Outcome, context: TestContext): Verdict => {
    if (!context.profile[capability]) return expectUndeclared(undeclared)(outcome, context)
    const refusals: (string | undefined)[] = [undeclared, 'UNSUPPORTED_OPERATION', 'METHOD_NOT_FOUND']
    if (outcome.kind === 'error' && refusals.includes(outcome.reason))
      return failed(`The card declares ${capability}, but the agent refuses it as not supported.`)
    // Official servers of 0.3 have no error of their own for it.
    return outcome.kind === 'error' && !isOfV1(context) ? passed : expectError('TASK_NOT_FOUND')(outcome, context)
  }

const declares =
  (capability: 'streaming' | 'pushNotifications' | 'extendedAgentCard') =>
  (profile: CallProfile): string =>
    `${capability}: ${profile[capability]}`

const skipIfClosed = ({ profile, through }: TestContext): string | undefined =>
  through === 'gate' && profile.route === 'closed' ? 'The manifest has `route: closed`.' : undefined

/** Writes the call of a test: in JSON-RPC with its parameters, over HTTP+JSON with the ids in its path. */
export const writeCall = ({ operation, params, write }: CallTest, protocol: Protocol, id: string): UpstreamMessage => {
  if (write) return write(protocol, id)
  const { binding, version } = protocol
  const written = params?.(protocol, id) ?? { id }
  if (binding === 'JSONRPC') return jsonRpcMessage(id, methodOf(operation, version) ?? '', written)
  const [method = 'GET'] = operations[operation].http[0]
  const path = (pathOf(operation, version) ?? '').replaceAll(/\{\w+\}/g, id)
  const { message, configuration } = written
  return { method, path, ...(message !== undefined && { body: JSON.stringify({ message, configuration }) }) }
}

const parts = [{ text: 'This is a test of whether you answer. Please answer in one short sentence.' }]

const writeMessage =
  (...acceptedOutputModes: string[]) =>
  (protocol: Protocol, id: string): JsonObject => {
    const message = writeObject('message', { messageId: id, role: 'ROLE_USER', parts }, protocol)
    const configuration = acceptedOutputModes.length > 0 ? { acceptedOutputModes } : {}
    return { message: { messageId: id, ...message }, configuration }
  }

/** The agent itself needs no extended card where its manifest has one for this host. */
const skipIfHosted = ({ profile: { tiers }, through }: TestContext): string | undefined =>
  through === 'direct' && tiers.length > 0 ? 'This host serves the extended card in place of the agent.' : undefined

const accepts = (modes: readonly string[], type: string): boolean =>
  modes.some(mode => intersects(parseMediaRange(mode), parseMediaRange(type)))

const skipSending = ({ profile: { modes, mcp } }: TestContext): string | undefined => {
  if (mcp && mcp.defaultTool === undefined)
    return 'A message must name a tool of the MCP server, and this one names none.'
  const { input } = modes.union
  return input.length === 0 || accepts(input, 'text/plain') ? undefined : 'The card accepts no text.'
}

const UNKNOWN_MODE = 'application/x-calling-card-check'

/** Marks a test that is left out of a receipt. */
export const NOT_APPLICABLE = 'not applicable'

/** The calls that cost the agent nothing: about tasks that do not exist, or refused before the agent sees them. */
export const harmlessTests: readonly CallTest[] = [
  {
    id: 'version',
    title: 'Refuses a version that does not exist',
    operation: 'getTask',
    claim: requires('VERSION_NOT_SUPPORTED'),
    namedVersion: '99.0',
    skip: ({ protocol: { version }, through }) =>
      through === 'gate' || hasReasons(version) ? undefined : `A2A ${version} has no error for versions.`,
    evaluate: expectError('VERSION_NOT_SUPPORTED'),
  },
  {
    id: 'unknown-method',
    title: 'Refuses a method that does not exist',
    operation: 'getTask',
    claim: requires('METHOD_NOT_FOUND'),
    write: ({ binding, version }, id) => {
      const method = methodOf('send', version)?.includes('/') ? 'calling-card/check' : 'CallingCardCheck'
      return binding === 'JSONRPC'
        ? jsonRpcMessage(id, method, {})
        : { method: 'GET', path: `${versions[version].pathPrefix}callingCardCheck` }
    },
    evaluate: (outcome, context) => {
      const status = 'status' in outcome ? outcome.status : 0
      const isNotFound = context.protocol.binding === 'HTTP+JSON' && [404, 405, 501].includes(status)
      return isNotFound ? passed : expectError('METHOD_NOT_FOUND')(outcome, context)
    },
  },
  {
    id: 'output-modes',
    title: 'Refuses a message for which the agent can produce no answer',
    operation: 'send',
    claim: profile => `output modes: ${listModes(profile.modes.union.output)}`,
    gateOnly: true,
    params: writeMessage(UNKNOWN_MODE),
    skip: ({ profile: { targets, gate, modes }, through, protocol }) => {
      // Only the gate is sure to refuse it, and only a call in the agent's own version and binding is never forwarded.
      const isOwn = targets.some(target => target.binding === protocol.binding && target.version === protocol.version)
      if (through === 'direct' || !isOwn) return NOT_APPLICABLE
      if (gate.modes !== 'enforce') return `The manifest has \`gate.modes: ${gate.modes}\`.`
      const isAny = modes.union.output.length === 0 || accepts(modes.union.output, UNKNOWN_MODE)
      return isAny ? 'The card accepts any media type.' : undefined
    },
    evaluate: (outcome, context) => {
      if (outcome.kind !== 'passed-gate') return expectError('CONTENT_TYPE_NOT_SUPPORTED')(outcome, context)
      return hasExtendedCard(context.profile)
        ? skipped("The caller's extended card accepts it. Nothing was sent.")
        : failed('The gate would have forwarded it. Nothing was sent.')
    },
  },
  {
    id: 'extended-card-anonymous',
    title: 'Answers a call for its extended card without credentials',
    operation: 'extendedCard',
    claim: declares('extendedAgentCard'),
    authorized: false,
    params: () => ({}),
    skip: skipIfHosted,
    evaluate: (outcome, context) => {
      const { profile, through } = context
      if (through === 'gate' && profile.visibility === 'internal')
        return skipped('Anonymous callers see no internal agent.')
      if (through === 'gate' && profile.callers !== 'anyone' && outcome.kind === 'denied') return passed
      // In 0.3, an agent that declares no extended card may have the error of one that has configured none.
      if (!profile.extendedAgentCard)
        return expectUndeclared('UNSUPPORTED_OPERATION', 'EXTENDED_AGENT_CARD_NOT_CONFIGURED')(outcome, context)
      if (through === 'gate' && !hasExtendedCard(profile))
        return expectError('EXTENDED_AGENT_CARD_NOT_CONFIGURED')(outcome, context)
      return outcome.kind === 'denied' ? passed : evaluateExtendedCard(outcome, context)
    },
  },
  {
    id: 'extended-card-authorized',
    title: 'Returns its extended card to callers with credentials',
    operation: 'extendedCard',
    claim: declares('extendedAgentCard'),
    params: () => ({}),
    skip: context => {
      const { profile, through } = context
      if (!profile.extendedAgentCard) return NOT_APPLICABLE
      if (through === 'gate')
        return hasExtendedCard(profile) ? undefined : 'No extended card is configured on this host.'
      const isSecret = profile.secret !== undefined
      return skipIfHosted(context) ?? (isSecret ? undefined : 'The manifest names no secret for the agent.')
    },
    evaluate: (outcome, context) => evaluateExtendedCard(outcome, context),
  },
  {
    id: 'closed',
    title: 'Refuses calls of a closed agent',
    operation: 'getTask',
    claim: 'route: closed',
    skip: context => (skipIfClosed(context) === undefined ? NOT_APPLICABLE : undefined),
    evaluate: expectError('UNSUPPORTED_OPERATION'),
  },
  {
    id: 'push-notifications',
    title: 'Has push notifications if its card declares them',
    operation: 'getPushConfig',
    claim: declares('pushNotifications'),
    params: (protocol, id) =>
      formOf(protocol) === 'json-0.3' ? { id, pushNotificationConfigId: id } : { taskId: id, id },
    skip: skipIfClosed,
    evaluate: expectCapability('pushNotifications', 'PUSH_NOTIFICATION_NOT_SUPPORTED'),
  },
  {
    id: 'streaming',
    title: 'Streams if its card declares it',
    operation: 'resubscribe',
    claim: declares('streaming'),
    skip: skipIfClosed,
    evaluate: expectCapability('streaming', 'UNSUPPORTED_OPERATION'),
  },
  {
    id: 'unknown-task',
    title: 'Reports an unknown task as not found',
    operation: 'getTask',
    claim: requires('TASK_NOT_FOUND'),
    skip: skipIfClosed,
    evaluate: expectError('TASK_NOT_FOUND'),
  },
]

/** The calls that start work, and are sent only where the caller asks for it: once each. */
export const sendingTests: readonly CallTest[] = [
  {
    id: 'message',
    title: 'Answers a message in its output modes',
    operation: 'send',
    claim: profile => `output modes: ${listModes(profile.modes.union.output)}`,
    params: writeMessage(),
    skip: skipSending,
    evaluate: (outcome, context) => evaluateResult(outcome, context),
  },
  {
    id: 'stream',
    title: 'Answers a message with a stream',
    operation: 'stream',
    claim: declares('streaming'),
    wholeStream: true,
    params: writeMessage(),
    skip: context => (context.profile.streaming ? skipSending(context) : 'The card declares no streaming.'),
    evaluate: (outcome, context) =>
      outcome.kind === 'result' && !outcome.isStream
        ? failed('The card declares streaming, but the answer is no event stream.')
        : evaluateResult(outcome, context),
  },
]

/** Returns whether this host has an extended card of the agent, or knows where to fetch it. */
const hasExtendedCard = ({ tiers, agentServesExtendedCard }: CallProfile): boolean =>
  tiers.length > 0 || agentServesExtendedCard === true

const evaluateExtendedCard = (outcome: Outcome, context: TestContext): Verdict =>
  evaluateUnread(outcome, context) ??
  passIf(outcome.kind === 'result', 'The card declares an extended card, but the answer is none.')

const evaluateResult = (outcome: Outcome, context: TestContext): Verdict => {
  const unread = evaluateUnread(outcome, context)
  if (unread) return unread
  if (outcome.kind !== 'result') return failed('The agent answers a message with an error.')
  const mediaTypes = outcome.facts.flatMap(facts => facts.mediaTypes)
  const undeclared = createOutputComparison(undefined)(mediaTypes, context.profile.modes)
  return passIf(undeclared.length === 0, 'The answer has media types that the card does not declare.')
}

const MAX_LISTED_MODES = 5

const listModes = (modes: readonly string[]): string => {
  const listed = modes.slice(0, MAX_LISTED_MODES).map(mode => mode.slice(0, 60).toWellFormed())
  const more = modes.length - MAX_LISTED_MODES
  return `${listed.join(', ') || 'any'}${more > 0 ? `, and ${more} more` : ''}`
}
