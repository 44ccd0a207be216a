export { type CallError, type InvalidParams, invalidParam, PASSTHROUGH_STATUSES } from './errors.ts'
export { isPlainObject, type JsonRpcRequest, parseJsonLossless, parseJsonRpcRequest } from './jsonrpc.ts'
export {
  firstDefined,
  foldName,
  type MessageFacts,
  nameBlocking,
  readAcceptedOutputModes,
  readMessage,
} from './message.ts'
export { type A2ACall, type OperationName, operationNames, operations, resolveMethod } from './operations.ts'
export { isVersionParameter, readExtensions, readVersion, versionForError } from './service-parameters.ts'
