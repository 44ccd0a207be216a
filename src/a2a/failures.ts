import type { ErrorSpec } from './problem.ts'
import type { Failure } from './verdict.ts'

/** What an agent refuses that its caller must hear of, even where the agent tells it in HTML. */
export const PASSTHROUGH_STATUSES: Readonly<Record<number, string>> = {
  401: 'wants credentials',
  403: 'does not let these credentials do this',
  429: 'is called too often',
}

/** What is said of each failure: never where the agent is, nor what it answered. */
export const failures: { [Tag in Failure['failed']]: ErrorSpec<Extract<Failure, { failed: Tag }>> } = {
  'no-card': {
    code: -32603,
    reason: 'AGENT_CARD_UNAVAILABLE',
    status: 502,
    say: () => "The agent's card could not be fetched yet, so that no call can be checked. Try again later.",
  },
  unreachable: {
    code: -32603,
    reason: 'AGENT_UNREACHABLE',
    status: 502,
    say: () => 'The agent could not be reached. Try again later.',
  },
  timeout: {
    code: -32603,
    reason: 'AGENT_TIMEOUT',
    status: 504,
    say: ({ seconds }) =>
      `The agent did not answer ${seconds === undefined ? 'in time' : `within ${seconds} seconds`}.`,
    facts: ({ seconds }) => (seconds === undefined ? {} : { seconds }),
  },
  'not-json': {
    code: -32006,
    reason: 'INVALID_AGENT_RESPONSE',
    status: 502,
    say: ({ status }) => `The agent answered something that is not A2A (HTTP ${status}).`,
    facts: ({ status }) => ({ status }),
  },
  'too-large': {
    code: -32006,
    reason: 'INVALID_AGENT_RESPONSE',
    status: 502,
    say: ({ most }) => `The agent's answer is larger than ${most} bytes, the most that this host passes on.`,
    facts: ({ most }) => ({ most }),
  },
  redirect: {
    code: -32006,
    reason: 'INVALID_AGENT_RESPONSE',
    status: 502,
    say: () => 'The agent answered with a redirect, which this host does not follow.',
  },
  loop: {
    code: -32603,
    reason: 'LOOP_DETECTED',
    status: 508,
    say: () => "The call has been here before: the agent's endpoint leads back to this host.",
  },
  misconfigured: {
    code: -32603,
    reason: 'AGENT_MISCONFIGURED',
    status: 502,
    say: () => 'This host is not set up to reach the agent; its owner will find why in the log.',
  },
  silent: {
    code: -32603,
    reason: 'AGENT_SILENT',
    status: 504,
    say: ({ seconds }) => `The agent went silent: nothing came for ${seconds} seconds.`,
    facts: ({ seconds }) => ({ seconds }),
  },
  'broken-off': {
    code: -32603,
    reason: 'AGENT_BROKE_OFF',
    status: 502,
    say: () => 'The agent broke off its stream.',
  },
  'agent-refused': {
    code: -32603,
    reason: 'AGENT_REFUSED',
    status: ({ status }) => status,
    say: ({ status }) => `The agent ${PASSTHROUGH_STATUSES[status] ?? 'refuses the call'} (HTTP ${status}).`,
    facts: ({ status }) => ({ status }),
  },
}
