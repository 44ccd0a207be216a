export * from './description.ts'
export * from './endpoint.ts'
export * from './parameters.ts'
export * from './start.ts'
