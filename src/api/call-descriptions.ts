import { MAX_CALL_BYTES } from '../limits.ts'
import { agentPath, anyText, type Body, describe, jsonBody, otherBody, version, withContent } from './contract/index.ts'
import { JsonRpcRequest, JsonRpcResponse } from './schemas/index.ts'

const call = {
  tag: 'calls',
  description:
    'The card of the agent declares which credentials a call needs. ' +
    'An internal agent needs a token with the scope `read`.',
  access: 'card',
  headers: {
    'A2A-Version': version('the call is in'),
    'A2A-Extensions': anyText('The URIs of the extensions that the caller supports, separated by commas.'),
  },
  limits: ['CALL_LIMIT', 'FETCH_LIMIT'],
} as const

const jsonRpcCall = {
  ...call,
  body: { ...jsonBody(JsonRpcRequest), maxBytes: MAX_CALL_BYTES },
  responses: {
    200: withContent(
      'The response; a stream of responses for methods that stream.',
      { 'application/json': JsonRpcResponse, 'text/event-stream': { each: JsonRpcResponse } },
      ['A2A-Version', 'Gate-Warning'],
    ),
  },
  errors: { form: 'JSONRPC' },
} as const

/** The description of `POST /agents/{id}/a2a`. */
export const callAgent = describe({ ...jsonRpcCall, summary: 'Call an agent over JSON-RPC', params: agentPath })
/** The description of `POST /agents/{id}`. */
export const callAgentAtCard = describe({
  ...jsonRpcCall,
  summary: 'Call an agent over JSON-RPC at its base URL',
  params: agentPath,
})
/** The description of `POST /a2a`. */
export const callHost = describe({
  ...jsonRpcCall,
  summary: 'Call the agent that `params.tenant` names, else that of the host name',
})
/** The description of `POST /a2a/v1`. */
export const callNamedAgent = describe({ ...jsonRpcCall, summary: 'Call the agent that `params.agentName` names' })

/** Describes the requests of a method over HTTP+JSON. The document has one operation for each operation of A2A. */
const restCall = (summary: string, body?: Body) =>
  describe({
    ...call,
    ...{ summary, ...(body && { body }) },
    params: { ...agentPath, operation: anyText('The path of an operation of A2A.') },
    responses: {},
  })

/** The description of `GET /agents/{id}/a2a/…`. */
export const read = restCall('Read over HTTP+JSON')
/** The description of `POST /agents/{id}/a2a/…`. */
export const send = restCall(
  'Call over HTTP+JSON',
  otherBody('stream', { 'application/json': { text: { type: 'object' } } }, MAX_CALL_BYTES),
)
/** The description of `DELETE /agents/{id}/a2a/…`. */
export const remove = restCall('Delete over HTTP+JSON')
