import * as v from 'valibot'
import { json } from '../../card/model/index.ts'
import { anyObject, described, integer, text } from './parts.ts'

const JsonRpcId = described(v.union([v.string(), v.number(), v.null()]), 'Repeated in the response.')

export const JsonRpcRequest = v.object({
  jsonrpc: v.literal('2.0'),
  id: JsonRpcId,
  method: text('The method, such as `SendMessage` of A2A 1.0 or `message/send` of A2A 0.3.'),
  params: v.optional(anyObject('The parameters of the method, as the version of A2A defines them.')),
})

export const JsonRpcResponse = v.object({
  jsonrpc: v.literal('2.0'),
  id: JsonRpcId,
  result: v.optional(described(json, 'The result, as the version of A2A defines it.')),
  error: v.optional(
    v.object({
      ...{ code: integer, message: v.string() },
      data: v.optional(described(json, 'The reason and details: a list of `google.rpc` details in A2A 1.0.')),
    }),
  ),
})

export const RestErrorV1 = v.object({
  error: v.object({
    code: described(integer, 'The HTTP status.'),
    status: text('The name of the `google.rpc.Code`.'),
    message: v.string(),
    details: v.optional(v.array(anyObject('A detail of `google.rpc`, such as ErrorInfo.'))),
  }),
})

export const RestErrorV0 = v.object({ code: integer, message: v.string(), data: v.optional(json) })
