export * from './fetch-resource.ts'
export * from './hosts.ts'
export * from './json-body.ts'
export * from './start.ts'
