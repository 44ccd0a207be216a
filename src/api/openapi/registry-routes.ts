import { CLEARED_ID_SECONDS } from '../../limits.ts'
import {
  answer,
  group,
  jsonBody,
  type Operations,
  pageProblems,
  pageQuery,
  tokenProblems,
  upstreamProblems,
  writeConditions,
} from './operation.ts'

const writeProblems = [
  ...(['bad-condition', 'precondition-failed', 'invalid-card', 'secret-in-card'] as const),
  ...(['host-taken', 'incompatible-version', 'conflict'] as const),
] as const

const receipt = (description: string) => answer(description, 'Receipt', 'ETag')

const results = { 'application/x-ndjson': { each: 'BatchResult' } } as const

const read = group({ tag: 'registry', access: 'write', limits: ['AUTH_LIMIT'], problems: ['agent-not-found'] })

const write = group({
  tag: 'registry',
  access: 'write',
  limits: ['WRITE_LIMIT', 'AUTH_LIMIT'],
  problems: ['agent-not-found'],
})

const notFound = ['agent-not-found', 'revision-not-found'] as const

const eventId = (description: string) => ({ description, schema: { type: 'string', pattern: '^\\d{1,15}$' } })

const RESUME = 'The id of the last event that the client has got.'

const events = group({
  tag: 'changes',
  access: 'optional',
  query: { lastEventId: eventId(`${RESUME} The header wins.`) },
  headers: { 'Last-Event-ID': eventId(RESUME) },
  answers: {
    200: answer('Server-sent events of the types `registered`, `changed` and `removed`.', {
      'text/event-stream': { each: 'ChangeEvent' },
    }),
  },
  limits: ['CALL_LIMIT', 'AUTH_LIMIT'],
})

const streamProblems = [
  ...(['bad-event-id', 'events-expired', 'too-many-replays', 'too-many-streams', 'unknown-query'] as const),
  ...tokenProblems,
] as const

/** The routes that register, change, compare and observe agents. */
export const registryRoutes = {
  'PUT /agents/:id': write('putAgent', 'Register or replace an agent', {
    description:
      'A manifest, or a bare card in any dialect. The report of the response lists what was filled in and found.',
    headers: writeConditions,
    body: { content: jsonBody('Manifest') },
    answers: { 200: receipt('The agent was replaced.'), 201: receipt('The agent was registered.') },
    problems: writeProblems,
  }),
  'DELETE /agents/:id': write('deleteAgent', 'Remove an agent', {
    headers: writeConditions,
    answers: { 204: { description: 'The agent was removed.' } },
    problems: ['agent-not-found', 'bad-condition', 'precondition-failed', 'conflict'],
  }),
  'DELETE /agents/:id/tasks': write('deleteTasks', 'Forget which callers started which tasks of an agent', {
    description:
      'For an agent with `gate.tasks: owner` that has restarted and uses ids again. Nobody reaches its earlier tasks ' +
      `any more; after ${CLEARED_ID_SECONDS} seconds, it can use their ids again.`,
    answers: { 204: { description: 'The tasks belong to nobody.' } },
  }),
  'POST /agents:batch': write('registerBatch', 'Register up to 500 agents, one a line', {
    description:
      'Agents are registered in the order of their lines: of two that claim one host name, the first gets it. ' +
      'Each line of the response has the status that the registration of its line would have had.',
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
      200: answer('The result of each line, in the same order.', results),
      422: answer('With `atomic=true`: nothing was registered, because a line was refused.', results),
    },
    problems: ['unknown-query', 'empty-batch'],
  }),
  'GET /agents/:id/manifest': read('getManifest', 'Get the manifest as it was registered', {
    answers: { 200: answer('The manifest, or the bare card.', 'Manifest', 'ETag', 'Last-Modified') },
  }),
  'GET /agents/:id/revisions': read('listRevisions', 'List the revisions of an agent, newest first', {
    query: pageQuery(),
    answers: { 200: answer('A page of revisions.', 'RevisionList') },
    problems: ['agent-not-found', ...pageProblems],
  }),
  'GET /agents/:id/revisions/:seq': read('getRevision', 'Get one revision, of a removed agent too', {
    answers: { 200: answer('The revision, which never changes.', 'Revision') },
    validated: true,
    problems: [...notFound, 'unknown-query'],
  }),
  'GET /agents/:id/revisions/:seq/diff': read('diffRevisions', 'Compare two revisions', {
    query: {
      from: {
        description: 'The revision to compare with. Default: the one before.',
        schema: { type: 'integer', minimum: 1 },
      },
    },
    answers: { 200: answer('What changed for clients, and in the manifest.', 'RevisionDiff') },
    problems: [...notFound, 'revision-without-card', 'bad-revision', 'unknown-query'],
  }),
  'POST /agents/:id/rollback': write('rollBack', 'Register the manifest of an earlier revision again', {
    headers: writeConditions,
    body: { content: jsonBody('RollbackRequest') },
    answers: {
      200: receipt('The revision was restored.'),
      201: receipt('The revision of a removed agent was restored.'),
    },
    problems: [...notFound, 'invalid-rollback', 'not-restorable', ...writeProblems],
  }),
  'GET /agents/:id/observed': read(
    'getObserved',
    'Get what the calls of an agent have shown, and how its card differs',
    { answers: { 200: answer('Counts of calls, and proposals.', 'Observed') } },
  ),
  'POST /agents/:id/check': write('checkAgent', 'Test an agent against its card, and store a signed receipt', {
    description:
      'Sends harmless calls through the gate and to the agent itself. With `send`, one message and one stream as ' +
      'well, which start work.',
    body: { content: jsonBody('CheckRequest'), optional: true },
    answers: { 200: answer('The receipt.', 'ConformanceReceipt') },
    problems: ['agent-not-found', 'invalid-check', 'check-running', 'too-many-requests', ...upstreamProblems],
    limits: ['WRITE_LIMIT', 'CALL_LIMIT', 'AUTH_LIMIT'],
  }),
  'GET /agents/:id/receipt': read('getReceipt', 'Get the receipt of the newest check of an agent', {
    access: 'optional',
    answers: { 200: answer('The receipt.', 'ConformanceReceipt', 'ETag') },
    validated: true,
    problems: ['agent-not-found', 'no-receipt'],
  }),
  'GET /agents/:id/source': read('getSource', 'Get the state of a remote card', {
    answers: { 200: answer('The state of the source.', 'Source') },
    problems: ['agent-not-found', 'no-source'],
  }),
  'POST /agents/:id/refresh': write('refresh', 'Fetch a remote card now, or accept a pending one', {
    description: 'Accepting the pending card of an agent with a secret or service binding needs the scope `admin`.',
    body: { content: jsonBody('RefreshRequest'), optional: true },
    answers: { 200: answer('What the refresh brought.', 'RefreshResult') },
    problems: [
      ...(['agent-not-found', 'no-source', 'invalid-refresh', 'not-pending', 'conflict'] as const),
      ...upstreamProblems,
      ...(['upstream-invalid-card', 'upstream-unverified'] as const),
    ],
  }),
  'GET /agents/:id/events': events('getAgentEvents', 'Follow the changes of one agent', {
    problems: [...streamProblems, 'agent-not-found'],
  }),
  'GET /events': events('getEvents', 'Follow the changes of all agents that the caller may see', {
    problems: streamProblems,
  }),
} as const satisfies Operations
