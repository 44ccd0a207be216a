export { ERRORS, specifiedError, specifiedErrors } from './error-catalogue.ts'
export * from './error-response.ts'
export {
  findMember,
  isObjectName,
  type ObjectName,
  type ResultName,
  resultKinds,
  type Shape,
  shapeOfResult,
  wrappers,
} from './objects/index.ts'
export * from './read-result.ts'
export * from './rest-paths.ts'
export * from './start.ts'
export * from './task-references.ts'
