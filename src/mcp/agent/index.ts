export * from './start.ts'
export * from './tool-call.ts'
