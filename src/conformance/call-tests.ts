import { type OperationName, operations, pathOf, specifiedError } from '../a2a/index.ts'
import type { CallProfile } from '../card/index.ts'
import type { Leg, Protocol, TestResult } from '../card/model/index.ts'
import { createOutputComparison } from '../gateway/gate/index.ts'
import { jsonRpcMessage, type UpstreamMessage } from '../gateway/upstream/index.ts'
import { intersects, type Json, type JsonObject, parseMediaRange } from '../json/index.ts'
import type { SendOptions } from './exchange.ts'
import type { Outcome } from './outcome.ts'

/** Where a test is made, and with what. */
export type TestContext = { profile: CallProfile; protocol: Protocol; leg: Leg }

/** How a test ended, and why if it has not passed. */
export type Verdict = { result: TestResult; reason?: string }

/** A test of one call. */
export type CallTest = Partial<Omit<SendOptions, 'seconds'>> & {
  /** The name is stable. */
  id: string
  title: string
  /** The operation whose answer is read. */
  operation: OperationName
  /** What the card claims, or A2A requires. */
  claim: (context: TestContext) => string
  /** Writes the call, with an id that no task has. */
  write: (context: TestContext, id: string) => UpstreamMessage
  /** A version that the call names in place of its own. */
  namedVersion?: string
  /** Returns why the test is skipped, before anything is sent. */
  skip?: (context: TestContext) => string | undefined
  judge: (outcome: Outcome, context: TestContext) => Verdict
}

const METHOD_NOT_FOUND = specifiedError('METHOD_NOT_FOUND').code
const TASK_NOT_FOUND = specifiedError('TASK_NOT_FOUND').code
const NO_PUSH = specifiedError('PUSH_NOTIFICATION_NOT_SUPPORTED').code
const UNSUPPORTED = specifiedError('UNSUPPORTED_OPERATION').code
const CONTENT_TYPE = specifiedError('CONTENT_TYPE_NOT_SUPPORTED').code
const NOT_CONFIGURED = specifiedError('EXTENDED_AGENT_CARD_NOT_CONFIGURED').code
const VERSION = specifiedError('VERSION_NOT_SUPPORTED').code

const passed: Verdict = { result: 'passed' }
const failed = (reason: string): Verdict => ({ result: 'failed', reason })
const skipped = (reason: string): Verdict => ({ result: 'skipped', reason })

/** Judges what no test can be about: nothing came back, or the caller was refused. */
const judgeUnread = (outcome: Outcome, { leg, profile }: TestContext): Verdict | undefined => {
  switch (outcome.kind) {
    case 'unanswered':
      return failed('The agent does not answer.')
    case 'rate-limit':
      return skipped('A rate limit refused the request.')
    case 'denied':
      return skipped(
        leg === 'direct'
          ? 'The agent needs credentials, and its manifest names no secret for it.'
          : profile.callers === 'anyone'
            ? 'The token of this check does not permit the call, or the agent refuses the credentials.'
            : 'Callers need a token with the scope `call`, which that of this check may lack.',
      )
    case 'invalid':
      return failed('The answer is not A2A.')
    default:
      return undefined
  }
}

/** Returns a judge that expects an error with one of these codes. */
const expectError =
  (...expected: readonly number[]) =>
  (outcome: Outcome, context: TestContext): Verdict => {
    const unread = judgeUnread(outcome, context)
    if (unread) return unread
    if (outcome.kind !== 'error') return failed(`A2A requires error ${expected[0]}.`)
    if (outcome.code !== undefined && expected.includes(outcome.code)) return passed
    // The errors of 0.3 have no codes over HTTP.
    const isPlain = outcome.code === undefined && outcome.status === 404 && context.protocol.binding === 'HTTP+JSON'
    const isNotFound = expected.includes(TASK_NOT_FOUND) || expected.includes(METHOD_NOT_FOUND)
    return isPlain && isNotFound && context.protocol.version === '0.3'
      ? passed
      : failed(`A2A requires error ${expected[0]}.`)
  }

/** Whether the call reaches an agent of 1.0: one of 0.3 keeps its errors where its calls are translated. */
const isOfV1 = ({ profile: { targets }, protocol }: TestContext): boolean =>
  protocol.version === '1.0' && targets.some(({ version }) => version === '1.0')

/** Of an operation that the agent does not declare. 0.3 does not require an error of its own for it. */
const expectUndeclared =
  (code: number) =>
  (outcome: Outcome, context: TestContext): Verdict =>
    isOfV1(context)
      ? expectError(code)(outcome, context)
      : expectError(code, UNSUPPORTED, METHOD_NOT_FOUND)(outcome, context)

/** Of a declared operation with the id of a task that does not exist. Official servers of 0.3 have no error of their own for it. */
const expectDeclared =
  (capability: string, ...refusals: readonly number[]) =>
  (outcome: Outcome, context: TestContext): Verdict => {
    if (outcome.kind !== 'error') return expectError(TASK_NOT_FOUND)(outcome, context)
    const isRefused = outcome.code !== undefined && refusals.includes(outcome.code)
    if (isRefused) return failed(`The card declares ${capability}, but the agent refuses it as not supported.`)
    return isOfV1(context) ? expectError(TASK_NOT_FOUND)(outcome, context) : passed
  }

const a2aRequires = (code: number) => (): string => `A2A requires error ${code}`

const declares =
  (capability: 'streaming' | 'pushNotifications' | 'extendedAgentCard') =>
  ({ profile }: TestContext) =>
    `${capability}: ${profile[capability]}`

const CLOSED = 'The manifest has `route: closed`.'
const isClosed = ({ profile, leg }: TestContext): string | undefined =>
  leg === 'gate' && profile.route === 'closed' ? CLOSED : undefined

/** Writes a call of an operation: in JSON-RPC with these parameters, over HTTP+JSON with the ids in its path. */
const writeCall = (
  operation: OperationName,
  { binding, version }: Protocol,
  id: string,
  params: JsonObject,
): UpstreamMessage => {
  if (binding === 'JSONRPC') return jsonRpcMessage(id, operations[operation][version] ?? '', params)
  const [method = 'GET'] = operations[operation].http[0]
  const path = (pathOf(operation, version) ?? '').replaceAll(/\{\w+\}/g, id)
  const { message, configuration } = params
  return { method, path, ...(message !== undefined && { body: JSON.stringify({ message, configuration }) }) }
}

/** Returns the parameters of a message with a text. */
const writeMessage = (
  { binding, version }: Protocol,
  id: string,
  acceptedOutputModes: readonly string[],
): JsonObject => {
  const configuration = acceptedOutputModes.length === 0 ? {} : { acceptedOutputModes: [...acceptedOutputModes] }
  const text = 'This is a test of whether you answer. Please answer in one short sentence.'
  const part: Json = { text }
  const form: JsonObject =
    version === '1.0'
      ? { role: 'ROLE_USER', parts: [part] }
      : binding === 'JSONRPC'
        ? { kind: 'message', role: 'user', parts: [{ kind: 'text', text }] }
        : { role: 'ROLE_USER', content: [part] }
  return { message: { messageId: id, ...form }, configuration }
}

/** The agent itself needs no extended card where its manifest has one for this host. */
const skipHostedCard = ({ profile, leg }: Pick<TestContext, 'profile' | 'leg'>): string | undefined =>
  leg === 'direct' && profile.tiers.length > 0 ? 'This host serves the extended card in place of the agent.' : undefined

/** Whether one of these modes includes a media type. */
const accepts = (modes: readonly string[], type: string): boolean =>
  modes.some(mode => intersects(parseMediaRange(mode), parseMediaRange(type)))

/** Returns why no message is sent, although the caller asks for it. */
const skipSending = ({ profile: { modes, mcp } }: TestContext): string | undefined => {
  if (mcp && mcp.defaultTool === undefined)
    return 'A message must name a tool of the MCP server, and this one names none.'
  const { input } = modes.union
  return input.length === 0 || accepts(input, 'text/plain') ? undefined : 'The card accepts no text.'
}

/** A version that no agent has. */
const UNKNOWN_VERSION = '99.0'
/** A media type that no agent has. */
const UNKNOWN_MODE = 'application/x-calling-card-check'

const pushParams = ({ version }: Protocol, id: string): JsonObject =>
  version === '1.0' ? { taskId: id, id } : { id, pushNotificationConfigId: id }

/** The calls that cost the agent nothing: they are about tasks that do not exist, or are refused before the agent sees them. */
export const harmlessTests: readonly CallTest[] = [
  {
    id: 'version',
    title: 'Refuses a version that does not exist',
    operation: 'getTask',
    claim: a2aRequires(VERSION),
    namedVersion: UNKNOWN_VERSION,
    write: ({ protocol }, id) => writeCall('getTask', protocol, id, { id }),
    skip: ({ protocol, leg }) =>
      leg === 'direct' && protocol.version === '0.3' ? 'A2A 0.3 has no error for versions.' : undefined,
    judge: expectError(VERSION),
  },
  {
    id: 'unknown-method',
    title: 'Refuses a method that does not exist',
    operation: 'getTask',
    claim: a2aRequires(METHOD_NOT_FOUND),
    write: ({ protocol: { binding, version } }, id) => {
      const name = version === '1.0' ? 'CallingCardCheck' : 'calling-card/check'
      return binding === 'JSONRPC'
        ? jsonRpcMessage(id, name, {})
        : { method: 'GET', path: version === '1.0' ? 'callingCardCheck' : 'v1/callingCardCheck' }
    },
    judge: (outcome, context) => {
      const status = 'status' in outcome ? outcome.status : 0
      const isNotFound = context.protocol.binding === 'HTTP+JSON' && [404, 405, 501].includes(status)
      return isNotFound ? passed : expectError(METHOD_NOT_FOUND)(outcome, context)
    },
  },
  {
    id: 'output-modes',
    title: 'Refuses a message for which the agent can produce no answer',
    operation: 'send',
    claim: ({ profile }) => `output modes: ${listModes(profile.modes.union.output)}`,
    gateOnly: true,
    authorized: true,
    write: ({ protocol }, id) => writeCall('send', protocol, id, writeMessage(protocol, id, [UNKNOWN_MODE])),
    skip: ({ profile, leg, protocol }) => {
      // Only the gate is sure to refuse it, and only a call in a version and binding of the agent is certain not to be forwarded.
      if (leg === 'direct') return NOT_APPLICABLE
      const { targets, gate, modes } = profile
      const isOwn = targets.some(target => target.binding === protocol.binding && target.version === protocol.version)
      if (!isOwn) return NOT_APPLICABLE
      if (gate.modes !== 'enforce') return `The manifest has \`gate.modes: ${gate.modes}\`.`
      const isAny = modes.union.output.length === 0 || accepts(modes.union.output, UNKNOWN_MODE)
      return isAny ? 'The card accepts any media type.' : undefined
    },
    judge: (outcome, context) => {
      if (outcome.kind !== 'passed-gate') return expectError(CONTENT_TYPE)(outcome, context)
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
    write: ({ protocol }, id) => writeCall('extendedCard', protocol, id, {}),
    skip: skipHostedCard,
    judge: (outcome, context) => {
      const { profile, leg } = context
      if (leg === 'gate' && profile.visibility === 'internal')
        return skipped('Anonymous callers see no internal agent.')
      if (leg === 'gate' && profile.callers !== 'anyone' && outcome.kind === 'denied') return passed
      if (!profile.extendedAgentCard) return judgeNoExtendedCard(outcome, context)
      if (leg === 'gate' && !hasExtendedCard(profile)) return expectError(NOT_CONFIGURED)(outcome, context)
      return outcome.kind === 'denied' ? passed : judgeExtendedCard(outcome, context)
    },
  },
  {
    id: 'extended-card-authorized',
    title: 'Returns its extended card to callers with credentials',
    operation: 'extendedCard',
    claim: declares('extendedAgentCard'),
    write: ({ protocol }, id) => writeCall('extendedCard', protocol, id, {}),
    skip: ({ profile, leg }) => {
      if (!profile.extendedAgentCard) return NOT_APPLICABLE
      const hosted = skipHostedCard({ profile, leg })
      if (hosted !== undefined) return hosted
      if (leg === 'gate' && !hasExtendedCard(profile)) return 'No extended card is configured on this host.'
      return leg === 'direct' && profile.secret === undefined
        ? 'The manifest names no secret for the agent.'
        : undefined
    },
    judge: (outcome, context) => judgeExtendedCard(outcome, context),
  },
  {
    id: 'closed',
    title: 'Refuses calls of a closed agent',
    operation: 'getTask',
    claim: () => 'route: closed',
    write: ({ protocol }, id) => writeCall('getTask', protocol, id, { id }),
    skip: context => (isClosed(context) ? undefined : NOT_APPLICABLE),
    judge: expectError(UNSUPPORTED),
  },
  {
    id: 'push-notifications',
    title: 'Has push notifications if its card declares them',
    operation: 'getPushConfig',
    claim: declares('pushNotifications'),
    write: ({ protocol }, id) => writeCall('getPushConfig', protocol, id, pushParams(protocol, id)),
    skip: isClosed,
    judge: (outcome, context) =>
      context.profile.pushNotifications
        ? expectDeclared('pushNotifications', NO_PUSH, UNSUPPORTED, METHOD_NOT_FOUND)(outcome, context)
        : expectUndeclared(NO_PUSH)(outcome, context),
  },
  {
    id: 'streaming',
    title: 'Streams if its card declares it',
    operation: 'resubscribe',
    claim: declares('streaming'),
    write: ({ protocol }, id) => writeCall('resubscribe', protocol, id, { id }),
    skip: isClosed,
    judge: (outcome, context) =>
      context.profile.streaming
        ? expectDeclared('streaming', UNSUPPORTED, METHOD_NOT_FOUND)(outcome, context)
        : expectUndeclared(UNSUPPORTED)(outcome, context),
  },
  {
    id: 'unknown-task',
    title: 'Reports an unknown task as not found',
    operation: 'getTask',
    claim: a2aRequires(TASK_NOT_FOUND),
    write: ({ protocol }, id) => writeCall('getTask', protocol, id, { id }),
    skip: isClosed,
    judge: expectError(TASK_NOT_FOUND),
  },
]

/** A test with this reason is left out of a receipt. */
export const NOT_APPLICABLE = 'not applicable'

/** The calls that start work, and are sent only where the caller asks for it: once each. */
export const sendingTests: readonly CallTest[] = [
  {
    id: 'message',
    title: 'Answers a message in its output modes',
    operation: 'send',
    claim: ({ profile }) => `output modes: ${listModes(profile.modes.union.output)}`,
    write: ({ protocol }, id) => writeCall('send', protocol, id, writeMessage(protocol, id, [])),
    skip: skipSending,
    judge: (outcome, context) => judgeResult(outcome, context),
  },
  {
    id: 'stream',
    title: 'Answers a message with a stream',
    operation: 'stream',
    claim: declares('streaming'),
    wholeStream: true,
    write: ({ protocol }, id) => writeCall('stream', protocol, id, writeMessage(protocol, id, [])),
    skip: context => (context.profile.streaming ? skipSending(context) : 'The card declares no streaming.'),
    judge: (outcome, context) =>
      outcome.kind === 'result' && !outcome.isStream
        ? failed('The card declares streaming, but the answer is no event stream.')
        : judgeResult(outcome, context),
  },
]

/** Whether this host has an extended card of the agent, or knows where to fetch it. */
const hasExtendedCard = ({ tiers, agentServesExtendedCard }: CallProfile): boolean =>
  tiers.length > 0 || agentServesExtendedCard === true

/** In 0.3, an agent that declares no extended card may have the error of one that has configured none. */
const judgeNoExtendedCard = (outcome: Outcome, context: TestContext): Verdict =>
  isOfV1(context)
    ? expectError(UNSUPPORTED)(outcome, context)
    : expectError(UNSUPPORTED, NOT_CONFIGURED, METHOD_NOT_FOUND)(outcome, context)

const judgeExtendedCard = (outcome: Outcome, context: TestContext): Verdict => {
  const unread = judgeUnread(outcome, context)
  if (unread) return unread
  if (outcome.kind === 'result') return passed
  return outcome.kind === 'error' && outcome.code === NOT_CONFIGURED
    ? failed('The card declares an extended card, but none is configured.')
    : failed('The card declares an extended card, but the answer is none.')
}

const judgeResult = (outcome: Outcome, context: TestContext): Verdict => {
  const unread = judgeUnread(outcome, context)
  if (unread) return unread
  if (outcome.kind !== 'result') return failed('The agent answers a message with an error.')
  const mediaTypes = outcome.facts.flatMap(facts => facts.mediaTypes)
  const undeclared = createOutputComparison(undefined)(mediaTypes, context.profile.modes)
  return undeclared.length > 0 ? failed('The answer has media types that the card does not declare.') : passed
}

const MAX_LISTED_MODES = 5

const listModes = (modes: readonly string[]): string => {
  const listed = modes.slice(0, MAX_LISTED_MODES).map(mode => mode.slice(0, 60).toWellFormed())
  return `${listed.join(', ') || 'any'}${modes.length > MAX_LISTED_MODES ? `, and ${modes.length - MAX_LISTED_MODES} more` : ''}`
}
