import { CLEARED_ID_SECONDS } from '../../limits.ts'
import { jsonBody, type Operation, type Operations, pageProblems, pageQuery, writeConditions } from './operation.ts'
import type { ProblemCode } from './problems.ts'

const refused = ['invalid-card', 'secret-in-card', 'host-taken', 'incompatible-version', 'conflict'] as const

const writeProblems = ['bad-condition', 'precondition-failed', ...refused] as const satisfies readonly ProblemCode[]

const receipt = (description: string) => ({ description, content: jsonBody('Receipt'), headers: ['ETag'] }) as const

const read = { tag: 'registry', access: 'write', limits: ['AUTH_LIMIT'] } as const satisfies Partial<Operation>

const write = { ...read, limits: ['WRITE_LIMIT', 'AUTH_LIMIT'] } as const satisfies Partial<Operation>

const notFound = ['agent-not-found', 'revision-not-found'] as const

/** The routes that register, change, compare and observe agents. */
export const registryRoutes = {
  'PUT /agents/:id': {
    ...write,
    id: 'putAgent',
    summary: 'Register or replace an agent',
    description:
      'A manifest, or a bare card in any dialect. The report of the response lists what was filled in and found.',
    headers: writeConditions,
    body: { content: jsonBody('Manifest') },
    answers: { 200: receipt('The agent was replaced.'), 201: receipt('The agent was registered.') },
    problems: writeProblems,
  },
  'DELETE /agents/:id': {
    ...write,
    id: 'deleteAgent',
    summary: 'Remove an agent',
    headers: writeConditions,
    answers: { 204: { description: 'The agent was removed.' } },
    problems: ['agent-not-found', 'bad-condition', 'precondition-failed', 'conflict'],
  },
  'DELETE /agents/:id/tasks': {
    ...write,
    id: 'deleteTasks',
    summary: 'Forget which callers started which tasks of an agent',
    description: `For an agent with \`gate.tasks: owner\` that has restarted and uses ids again. Nobody reaches its earlier tasks any more; after ${CLEARED_ID_SECONDS} seconds, it can use their ids again.`,
    answers: { 204: { description: 'The tasks belong to nobody.' } },
    problems: ['agent-not-found'],
  },
  'POST /agents:batch': {
    ...write,
    id: 'registerBatch',
    summary: 'Register up to 500 agents, one a line',
    description:
      'Agents are registered in the order of their lines: of two that claim one host name, the first gets it. Each line of the response has the status that the registration of its line would have had.',
    query: {
      atomic: {
        description: 'Whether all agents are registered, or none.',
        schema: { enum: ['true', 'false'], default: 'false' },
      },
    },
    body: {
      content: {
        'application/x-ndjson': { each: 'BatchLine' },
        'application/ndjson': { each: 'BatchLine' },
        'application/jsonl': { each: 'BatchLine' },
      },
    },
    answers: {
      200: {
        description: 'The result of each line, in the same order.',
        content: { 'application/x-ndjson': { each: 'BatchResult' } },
      },
      422: {
        description: 'With `atomic=true`: nothing was registered, because a line was refused.',
        content: { 'application/x-ndjson': { each: 'BatchResult' } },
      },
    },
    problems: ['unknown-query', 'empty-batch'],
  },
  'GET /agents/:id/manifest': {
    ...read,
    id: 'getManifest',
    summary: 'Get the manifest as it was registered',
    answers: {
      200: {
        description: 'The manifest, or the bare card.',
        content: jsonBody('Manifest'),
        headers: ['ETag', 'Last-Modified'],
      },
    },
    problems: ['agent-not-found'],
  },
  'GET /agents/:id/revisions': {
    ...read,
    id: 'listRevisions',
    summary: 'List the revisions of an agent, newest first',
    query: pageQuery(),
    answers: { 200: { description: 'A page of revisions.', content: jsonBody('RevisionList') } },
    problems: ['agent-not-found', ...pageProblems],
  },
  'GET /agents/:id/revisions/:seq': {
    ...read,
    id: 'getRevision',
    summary: 'Get one revision, of a removed agent too',
    answers: { 200: { description: 'The revision, which never changes.', content: jsonBody('Revision') } },
    validated: true,
    problems: [...notFound, 'unknown-query'],
  },
  'GET /agents/:id/revisions/:seq/diff': {
    ...read,
    id: 'diffRevisions',
    summary: 'Compare two revisions',
    query: {
      from: {
        description: 'The revision to compare with. Default: the one before.',
        schema: { type: 'integer', minimum: 1 },
      },
    },
    answers: {
      200: { description: 'What changed for clients, and in the manifest.', content: jsonBody('RevisionDiff') },
    },
    problems: [...notFound, 'revision-without-card', 'bad-revision', 'unknown-query'],
  },
  'POST /agents/:id/rollback': {
    ...write,
    id: 'rollBack',
    summary: 'Register the manifest of an earlier revision again',
    headers: writeConditions,
    body: { content: jsonBody('RollbackRequest') },
    answers: {
      200: receipt('The revision was restored.'),
      201: receipt('The revision of a removed agent was restored.'),
    },
    problems: [...notFound, 'invalid-rollback', 'not-restorable', ...writeProblems],
  },
  'GET /agents/:id/observed': {
    ...read,
    id: 'getObserved',
    summary: 'Get what the calls of an agent have shown, and how its card differs',
    answers: { 200: { description: 'Counts of calls, and proposals.', content: jsonBody('Observed') } },
    problems: ['agent-not-found'],
  },
  'POST /agents/:id/check': {
    ...write,
    id: 'checkAgent',
    summary: 'Test an agent against its card, and store a signed receipt',
    description:
      'Sends harmless calls through the gate and to the agent itself. With `send`, one message and one stream as well, which start work.',
    body: { content: jsonBody('CheckRequest'), optional: true },
    answers: { 200: { description: 'The receipt.', content: jsonBody('ConformanceReceipt') } },
    problems: [
      ...(['agent-not-found', 'invalid-check', 'check-running', 'too-many-requests'] as const),
      ...(['upstream-unreachable', 'upstream-not-ready', 'upstream-timeout'] as const),
    ],
    limits: ['WRITE_LIMIT', 'CALL_LIMIT', 'AUTH_LIMIT'],
  },
  'GET /agents/:id/receipt': {
    tag: 'registry',
    access: 'optional',
    limits: ['AUTH_LIMIT'],
    id: 'getReceipt',
    summary: 'Get the receipt of the newest check of an agent',
    answers: { 200: { description: 'The receipt.', content: jsonBody('ConformanceReceipt'), headers: ['ETag'] } },
    validated: true,
    problems: ['agent-not-found', 'no-receipt'],
  },
  'GET /agents/:id/source': {
    ...read,
    id: 'getSource',
    summary: 'Get the state of a remote card',
    answers: { 200: { description: 'The state of the source.', content: jsonBody('Source') } },
    problems: ['agent-not-found', 'no-source'],
  },
  'POST /agents/:id/refresh': {
    ...write,
    id: 'refresh',
    summary: 'Fetch a remote card now, or accept a pending one',
    description: 'Accepting the pending card of an agent with a secret or service binding needs the scope `admin`.',
    body: { content: jsonBody('RefreshRequest'), optional: true },
    answers: { 200: { description: 'What the refresh brought.', content: jsonBody('RefreshResult') } },
    problems: [
      ...(['agent-not-found', 'no-source', 'invalid-refresh', 'not-pending', 'conflict'] as const),
      ...(['upstream-unreachable', 'upstream-invalid-card', 'upstream-not-ready'] as const),
      ...(['upstream-timeout', 'upstream-unverified'] as const),
    ],
  },
  'GET /agents/:id/events': {
    ...events('getAgentEvents', 'Follow the changes of one agent'),
    problems: [...streamProblems(), 'agent-not-found'],
  },
  'GET /events': {
    ...events('getEvents', 'Follow the changes of all agents that the caller may see'),
    problems: streamProblems(),
  },
} as const satisfies Operations

function events<const Id extends string>(id: Id, summary: string) {
  const resume = 'The id of the last event that the client has got.'
  return {
    id,
    tag: 'changes',
    summary,
    access: 'optional',
    query: {
      lastEventId: { description: `${resume} The header wins.`, schema: { type: 'string', pattern: '^\\d{1,15}$' } },
    },
    headers: { 'Last-Event-ID': { description: resume, schema: { type: 'string', pattern: '^\\d{1,15}$' } } },
    answers: {
      200: {
        description: 'Server-sent events of the types `registered`, `changed` and `removed`.',
        content: { 'text/event-stream': { each: 'ChangeEvent' } },
      },
    },
    limits: ['CALL_LIMIT', 'AUTH_LIMIT'],
  } as const satisfies Partial<Operation>
}

function streamProblems() {
  const own = ['bad-event-id', 'events-expired', 'too-many-replays', 'too-many-streams', 'unknown-query'] as const
  return [...own, 'no-token', 'bad-token', 'forbidden'] as const
}
