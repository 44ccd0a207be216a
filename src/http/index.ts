export * from './json-body.ts'
export * from './shared.ts'
export * from './start.ts'
