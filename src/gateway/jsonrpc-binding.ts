import { cardAnswer, errorResponse, rpcErrorAnswer } from '../a2a/error-response.ts'
import type { Refusal } from '../a2a/errors.ts'
import { type JsonRpcRequest, parseJsonLossless, parseJsonRpcRequest } from '../a2a/jsonrpc.ts'
import { extendedCardDialects, resolveMethod } from '../a2a/operations.ts'
import { extensionsOf, parseVersion, versionForError, versionsInQuery } from '../a2a/service-parameters.ts'
import type { CallProfile } from '../card/call-profile.ts'
import { readText } from '../http/body.ts'
import { essence, isJsonType } from '../http/media-type.ts'
import type { Body, InboundCall, ParsedCall } from './call-context.ts'
import { preferVersionError, supportedVersions, targetOf } from './policy.ts'
import { type AgentParameter, addressedTo } from './upstream-request.ts'

/** The largest call that this host takes, in bytes (design §9). */
const most = 4 * 1024 * 1024

/** Whether the body of a call says that it is small: then it is read, were it but for the id of a call that goes no further. */
export const isSmall = ({ headers }: Request): boolean => Number(headers.get('Content-Length') ?? most) <= small

const small = 16 * 1024

/** The body of a call, parsed; or why it cannot be one. An empty one is null where the call needs none. */
export const readCallBody = async (request: Request, needed: boolean): Promise<Body> => {
  const { headers } = request
  // A POST without a body says so by its length, and has no type.
  if (!needed && (request.body === null || headers.get('Content-Length') === '0')) return { value: null }
  if (!isAccepted(headers)) return { refused: 'content-type', offered: headers.get('Content-Type') }
  const read = await readText(request, most)
  if ('failed' in read)
    return read.failed === 'too-large'
      ? { refused: 'too-large', most }
      : { refused: 'not-json', detail: 'The body is not UTF-8 text; JSON always is.' }
  return read.text === '' && !needed ? { value: null } : parseJsonLossless(read.text)
}

/**
 * JSON; and what `curl -d` says of its body, which GopherHole's examples leave at that. A page could send that one anywhere
 * without asking, but no Authorization with it.
 */
const isAccepted = (headers: Headers): boolean => {
  const type = headers.get('Content-Type')
  return isJsonType(type) || (essence(type) === 'application/x-www-form-urlencoded' && headers.has('Authorization'))
}

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
