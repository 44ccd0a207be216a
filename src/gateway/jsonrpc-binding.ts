import { extensionsOf, versionsInQuery } from '../a2a/call-headers.ts'
import { cardAnswer, errorResponse } from '../a2a/call-responses.ts'
import { type JsonRpcRequest, parseJsonRpcRequest } from '../a2a/envelope.ts'
import { rpcErrorAnswer } from '../a2a/error-answer.ts'
import { resolveMethod } from '../a2a/method.ts'
import { extendedCardDialects } from '../a2a/operations.ts'
import { parseVersion, versionForError } from '../a2a/service-parameters.ts'
import type { Refusal } from '../a2a/verdict.ts'
import type { CallProfile } from '../card/call-profile.ts'
import { type AgentParameter, addressedTo } from './addressed-to.ts'
import type { InboundCall, ParsedCall } from './call-context.ts'
import type { Body } from './endpoint.ts'
import { preferVersionError, supportedVersions, targetOf } from './policy.ts'

const encoder = new TextEncoder()

/** A JSON-RPC call: how it is read and answered. `body` is what came, parsed or refused; `chosenBy` is what names its agent. */
export const parseJsonRpcCall = (request: Request, body: Body, chosenBy?: AgentParameter): InboundCall => {
  const envelope: JsonRpcRequest =
    'value' in body ? parseJsonRpcRequest(body.value) : { id: null, method: '', refusal: body }
  const named = parseVersion(request.headers.get('A2A-Version'), versionsInQuery(request.url))
  const { id, method } = envelope
  return {
    ...('refusal' in envelope ? { refusal: envelope.refusal, params: {} } : { params: envelope.params }),
    read: profile => readCall(envelope, named, extensionsOf(request.headers), profile, chosenBy),
    refuse: (problem, call) =>
      errorResponse(
        rpcErrorAnswer(problem, {
          id,
          version: call?.version ?? versionForError(named, method),
          operation: call?.operation,
        }),
      ),
    answerCard: ({ body }) => {
      const before = encoder.encode(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`)
      return cardAnswer(new Blob([before, body, encoder.encode('}')]))
    },
  }
}

const readCall = (
  envelope: JsonRpcRequest,
  named: ReturnType<typeof parseVersion>,
  extensions: string[],
  profile: CallProfile,
  chosenBy?: AgentParameter,
): ParsedCall | Refusal => {
  if ('refusal' in envelope) return envelope.refusal
  if ('refused' in named) return preferVersionError(named, 'JSONRPC', profile)
  const { id, method, params } = envelope
  const read = resolveMethod(method, named.version, supportedVersions(profile.targets, 'JSONRPC'))
  if ('refused' in read) return preferVersionError(read, 'JSONRPC', profile)
  const call = { binding: 'JSONRPC', ...read, id, params, extensions } as const
  const sent = addressedTo(params, targetOf(call, profile), chosenBy)
  return {
    call,
    dialect: extendedCardDialects.get(method) ?? read.version,
    method: 'POST',
    path: '',
    body: () => JSON.stringify({ jsonrpc: '2.0', id, method, params: sent }),
  }
}
