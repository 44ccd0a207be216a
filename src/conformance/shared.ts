export * from './proposals.ts'
