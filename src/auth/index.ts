export * from './require.ts'
export * from './start.ts'
