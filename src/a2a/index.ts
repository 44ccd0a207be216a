export { ERRORS, specifiedError, specifiedErrors } from './error-catalogue.ts'
export {
  type ErrorForm,
  errorResponse,
  errorText,
  eventText,
  isEventForm,
  jsonTypeOf,
  type RpcError,
  rpcErrorText,
  toJsonRpcError,
} from './error-response.ts'
export { type Form, formOfResult, type ResultName, resultKinds, resultNames, wrappers } from './forms.ts'
export * from './read-result.ts'
export * from './rest-paths.ts'
export * from './start.ts'
export * from './task-references.ts'
