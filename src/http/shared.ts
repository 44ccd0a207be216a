export * from './fetch-resource.ts'
export * from './headers.ts'
export * from './hosts.ts'
export * from './safe-fetch.ts'
