import type { Problem } from './problem.ts'
import type { Failure } from './verdict.ts'

/** What is said of each failure: never where the agent is, nor what it answered. */
export const failures: { [Tag in Failure['failed']]: Problem<Extract<Failure, { failed: Tag }>> } = {
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
    say: ({ seconds }) => `The agent did not answer within ${seconds} seconds.`,
    facts: ({ seconds }) => ({ seconds }),
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
}
