export { type CallError, type InvalidParams, invalidParam, PASSTHROUGH_STATUSES } from './call-error.ts'
export { type JsonRpcRequest, parseJsonLossless, parseJsonRpcRequest } from './jsonrpc.ts'
export * from './message.ts'
export * from './operations.ts'
