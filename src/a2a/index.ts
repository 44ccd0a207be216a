export { ERRORS, specifiedError, specifiedErrors } from './error-catalogue.ts'
export * from './error-response.ts'
export {
  type Form,
  findMember,
  presentIn,
  type ResultName,
  resultKinds,
  type Shape,
  shapeOfResult,
  wrappers,
} from './forms.ts'
export { isObjectName, type ObjectName } from './objects.ts'
export * from './read-result.ts'
export * from './rest-paths.ts'
export * from './start.ts'
export * from './task-references.ts'
