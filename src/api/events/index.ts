import { type Authentication, authenticate, callerKey, coveredAgents, hasPermission } from '../../auth/index.ts'
import { agentIdPattern } from '../../card/model/index.ts'
import { CORS_HEADERS, problem, type RequestContext, serviceUnavailable } from '../../http/index.ts'
import { MAX_CALLER_EVENT_STREAMS, MAX_CALLER_REPLAYS } from '../../limits.ts'
import { readProfile } from '../../registry/edge/index.ts'
import { openEventStream, type Refusal, type Socket } from '../../registry/events/index.ts'
import { agentNotFound } from '../agent-errors.ts'
import { agentPath, type Description, endpoint, type Input, text, withContent } from '../contract/index.ts'
import { ChangeEvent } from '../schemas/index.ts'

const eventIdPattern = /^\d{1,15}$/

const lastEventId = text('The id of the last event that the client has got. The header wins over the query.', {
  ...{ pattern: eventIdPattern, problem: 'bad-event-id', expected: 'the id of an event of this host' },
})

/** A client that reconnects sends the header; the first request of a browser's `EventSource` can only have a query. */
const stream = {
  tag: 'changes',
  access: 'reader',
  query: { lastEventId },
  headers: { 'Last-Event-ID': lastEventId },
  responses: {
    200: withContent('Server-sent events of the types `registered`, `changed` and `removed`.', {
      'text/event-stream': { each: ChangeEvent },
    }),
  },
  raw: true,
  problems: ['bad-event-id', 'events-expired', 'too-many-replays', 'too-many-streams'],
  limits: ['CALL_LIMIT'],
} as const satisfies Partial<Description>

type StreamInput = Omit<Input<typeof stream & { summary: string }>, 'params'> & { params: { id?: string } }

const openStream = async ({ params: { id: agent }, query, caller, ...context }: StreamInput): Promise<Response> => {
  const { request, env } = context
  const lastEventId = request.headers.get('Last-Event-ID') ?? query.lastEventId
  if (lastEventId !== undefined && !eventIdPattern.test(lastEventId)) throw badEventId()
  const { socket, after } = await connect(
    new URLSearchParams({
      caller: callerKey(caller, request),
      covered: coveredAgents(caller, ['read']).join(' '),
      ...(lastEventId !== undefined && { after: lastEventId }),
      ...(agent !== undefined && { agent, visible: await visibilityOf(agent, caller, context) }),
    }),
    env,
  )
  if (request.method === 'HEAD') {
    socket.accept()
    socket.close(1000)
    return new Response(null, { headers: STREAM_HEADERS })
  }
  const events = openEventStream(socket, { after, isValid: () => isStillValid(caller, context) })
  return new Response(events, { headers: STREAM_HEADERS })
}

/** `GET /events`: the changes of all readable agents, as server-sent events. */
export const getEvents = endpoint(
  { ...stream, summary: 'Follow the changes of all agents that the caller may see' },
  openStream,
)

/** `GET /agents/{id}/events`: the changes of one agent. */
export const getAgentEvents = endpoint(
  {
    ...{ ...stream, summary: 'Follow the changes of one agent', params: agentPath },
    problems: [...stream.problems, 'agent-not-found'],
  },
  openStream,
)

const STREAM_HEADERS = {
  ...CORS_HEADERS,
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  // Proxies such as nginx would collect the events otherwise.
  'X-Accel-Buffering': 'no',
}

/** Returns the socket of a stream, and the number of the change before it. Throws if the stream is refused. */
const connect = async (query: URLSearchParams, env: Env): Promise<{ socket: Socket; after: number }> => {
  const response = await env.EVENTS.getByName('default').fetch(`https://events/?${query}`, {
    headers: { Upgrade: 'websocket' },
  })
  const { webSocket, headers } = response
  if (!webSocket) throw refusalError((await response.json()) as Refusal, query.get('agent') ?? '')
  return { socket: webSocket, after: Number(headers.get('Last-Event-ID')) }
}

/** Checks whether the token of a caller is still valid; its scopes and agents never change. */
const isStillValid = async (caller: Authentication, { request, env, ctx }: RequestContext): Promise<boolean> => {
  if (!caller.authenticated) return true
  const now = await authenticate(request, env, ctx)
  // A token that cannot be checked now is checked again soon.
  return now.authenticated || now.reason === 'unavailable'
}

/** Returns `now` if the caller may read the agent; else which of its past changes the caller was shown. */
const visibilityOf = async (agent: string, caller: Authentication, { env, ctx }: RequestContext) => {
  if (!agentIdPattern.test(agent)) throw agentNotFound(agent)
  const profile = await readProfile(agent, env, ctx)
  const isCovered = hasPermission(caller, 'read', agent)
  if (profile && (isCovered || profile.visibility === 'public')) return 'now'
  return isCovered ? 'any' : 'public'
}

const badEventId = () => problem('bad-event-id', 'Last-Event-ID must be the id of an event of this host.')

/** Advises a client whose events are not replayed. */
const RESUBSCRIBE_HINT = 'Read GET /agents, and subscribe without Last-Event-ID.'

const refusalError = (refusal: Refusal, agent: string) => {
  switch (refusal.refused) {
    case 'unknown-agent':
      return agentNotFound(agent)
    case 'unknown-event':
      return badEventId()
    case 'expired':
      return problem('events-expired', `Events before ${refusal.oldest + 1} are no longer stored. ${RESUBSCRIBE_HINT}`)
    case 'too-many-replays': {
      const detail = `You have resumed more than ${MAX_CALLER_REPLAYS} event streams with missed events in a minute.`
      return problem('too-many-replays', `${detail} ${RESUBSCRIBE_HINT}`)
    }
    default: {
      if (!refusal.ofCaller) return serviceUnavailable('This host has too many event streams open.')
      const detail = `You have ${MAX_CALLER_EVENT_STREAMS} event streams open. Close one first.`
      return problem('too-many-streams', detail, { headers: { 'Retry-After': '60' } })
    }
  }
}
