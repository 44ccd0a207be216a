export * from './bridge-call.ts'
export * from './start.ts'
export * from './tool-call.ts'
