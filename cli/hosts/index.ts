export * from './resolve.ts'
export { claimFile, startedFile } from './started.ts'
