export * from './start.ts'
export * from './tool-call.ts'
export { routeToTools } from './tool-call.ts'
